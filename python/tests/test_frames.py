"""Data frames of pandas and Polars and tables of pyarrow: features of words and numbers, tables of edges, labels with gaps."""

import csv
import warnings

import networkx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gfgcn import GradientFreeClassifier, GradientFreeRegressor

ROWS = 24


@pytest.fixture
def people():
    """Words and numbers with gaps about people who know each other, with emails for ids."""
    rng = np.random.default_rng(5)
    truth = np.repeat(["cat", "dog"], ROWS // 2)
    city = np.where(truth == "cat", rng.choice(["Bern", "Rome"], ROWS), rng.choice(["Rome", "Oslo"], ROWS)).astype(object)
    city[4] = None
    age = np.round(rng.uniform(20, 60, ROWS) + (truth == "dog") * 15)
    age[[2, 13]] = np.nan
    frame = pd.DataFrame({"city": city, "age": age, "member": (rng.random(ROWS) < 0.5).astype(int)})
    ids = [f"p{k}@example.org" for k in range(ROWS)]
    near = [(a, a + 1) for a in range(ROWS - 1) if a != ROWS // 2 - 1] + [(0, 5), (12, 17)]
    edges = pd.DataFrame({"source": [ids[a] for a, _ in near], "target": [ids[b] for _, b in near]})
    y = np.array(truth, dtype=object)
    y[rng.permutation(ROWS)[:10]] = None
    return frame, y, edges, ids


def by_hand(frame):
    """The features that are to be made, by pandas: words one by one, means for gaps, and where there were some."""
    age = frame["age"].fillna(frame["age"].mean()).astype(np.float32)
    words = pd.get_dummies(frame["city"]).astype(np.float32)[sorted(frame["city"].dropna().unique())]
    parts = [words, frame["city"].isna(), age, frame["age"].isna(), frame["member"]]
    return np.column_stack([np.asarray(part, dtype=np.float32) for part in parts])


def frames(frame):
    """The same columns in every library."""
    nullable = frame.convert_dtypes()
    return {
        "pandas": frame,
        "nullable": nullable,
        "category": frame.assign(city=frame["city"].astype("category")),
        "polars": pl.from_pandas(frame),
        "polars categories": pl.from_pandas(frame).with_columns(pl.col("city").cast(pl.Categorical)),
        "pyarrow": pa.Table.from_pandas(frame, preserve_index=False),
        "dictionary": pa.table(
            {**{n: pa.array(frame[n], from_pandas=True) for n in frame}, "city": pa.array(frame["city"]).dictionary_encode()}
        ),
    }


@pytest.mark.parametrize("kind", ["pandas", "nullable", "category", "polars", "polars categories", "pyarrow", "dictionary"])
def test_words_and_gaps_become_the_features_that_pandas_makes(people, kind):
    frame, y, edges, ids = people
    place = {name: k for k, name in enumerate(ids)}
    graph = np.array([[place[a] for a in edges["source"]], [place[b] for b in edges["target"]]])
    expected = GradientFreeClassifier(depth=2).fit(by_hand(frame), y, adjacency=graph)
    model = GradientFreeClassifier(depth=2).fit(frames(frame)[kind], y, adjacency=graph)
    assert np.allclose(model.decision_function(), expected.decision_function(), rtol=1e-5)
    assert model.n_features_in_ == 3 and list(model.feature_names_in_) == ["city", "age", "member"]
    again = model.predict(frames(frame)[kind], adjacency=graph)
    assert np.array_equal(again, model.predict())


def test_other_rows_become_the_same_features(people):
    frame, y, _, _ = people
    model = GradientFreeClassifier(depth=2).fit(frame, y)
    other = pd.DataFrame({"city": ["Oslo", "Paris", None], "age": [30, np.nan, 40], "member": [1, 0, 1]})
    with pytest.warns(UserWarning, match="1 values of 'city'|1 values of \"city\""):
        found = model.decision_function(other)
    mean = np.float32(frame["age"].mean())
    rows = np.array([[0, 1, 0, 0, 30, 0, 1], [0, 0, 0, 0, mean, 1, 0], [0, 0, 0, 1, 40, 0, 1]], dtype=np.float32)
    expected = GradientFreeClassifier(depth=2).fit(by_hand(frame), y).decision_function(rows)
    assert np.allclose(found, expected, rtol=1e-5)
    with pytest.raises(ValueError, match="now missing"):
        model.predict(other[["city", "age"]])
    with pytest.raises(ValueError, match="data frame"):
        model.predict(by_hand(frame))


def test_models_of_frames_predict_files_and_the_other_way_round(people, tmp_path, gfgcn):
    """The command line has the same features of the same columns, and models remember how."""
    frame, y, edges, ids = people
    frame.assign(id=ids)[["id", "city", "age", "member"]].to_csv(tmp_path / "features.csv", index=False)
    edges.to_csv(tmp_path / "edges.csv", index=False)
    known = [(name, label) for name, label in zip(ids, y) if label is not None]
    pd.DataFrame(known, columns=["id", "label"]).to_csv(tmp_path / "labels.csv", index=False)
    indexed = frame.set_axis(ids)
    model = GradientFreeClassifier(depth=2).fit(indexed, pd.Series(y, index=ids), adjacency=edges)
    model.save(tmp_path / "python.model")
    gfgcn("predict", tmp_path / "python.model", tmp_path, "-o", tmp_path / "labels_of_python.csv")
    gfgcn("fit", tmp_path, "--depth", 2, "-o", tmp_path / "line.model")
    gfgcn("predict", tmp_path / "line.model", tmp_path, "-o", tmp_path / "labels_of_line.csv")
    for name in ("labels_of_python.csv", "labels_of_line.csv"):
        with open(tmp_path / name, newline="") as file:
            rows = {row["id"]: float(row["score_dog"]) for row in csv.DictReader(file)}
        own = dict(zip(ids, model.decision_function()))
        assert all(np.isclose(rows[node], own[node], rtol=1e-4, atol=1e-5) for node in ids), name
    loaded = GradientFreeClassifier.load(tmp_path / "line.model")
    assert np.array_equal(loaded.predict(indexed, adjacency=edges), model.predict())


def test_what_no_features_are_made_of_is_refused_by_name(people):
    frame, y, _, _ = people
    for wrong, message in [
        (frame.assign(when=pd.Timestamp("2024-01-01")), "'when' of X holds dates"),
        (frame.assign(when="2024-01-01"), '"when" holds dates'),
        (frame.assign(note=[f"free text {k}" for k in range(ROWS)]), '"note" holds free text.*out of X'),
        (frame.assign(mixed=["a"] + [1] * (ROWS - 1)), '"mixed" is "a"'),
        (frame.assign(far=[np.inf] + [1.0] * (ROWS - 1)), "inf"),
    ]:
        with pytest.raises(ValueError, match=message):
            GradientFreeClassifier(depth=2).fit(wrong, y)


def test_categories_that_are_called_by_numbers_are_categories(people):
    frame, y, _, _ = people
    codes = frame["city"].fillna("Bern").map({"Bern": 1, "Rome": 2, "Oslo": 3})
    as_words = GradientFreeClassifier(depth=2).fit(pd.DataFrame({"city": frame["city"].fillna("Bern")}), y)
    as_codes = GradientFreeClassifier(depth=2).fit(pd.DataFrame({"city": codes.astype("category")}), y)
    assert np.allclose(as_words.decision_function(), as_codes.decision_function(), rtol=1e-5)


def test_frames_of_numbers_are_as_before(small):
    X, y, adjacency = small
    expected = GradientFreeClassifier(depth=4).fit(X, y, adjacency=adjacency).decision_function()
    names = [f"x{k}" for k in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    for given in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), frame.convert_dtypes()):
        model = GradientFreeClassifier(depth=4).fit(given, y, adjacency=adjacency)
        assert np.array_equal(model.decision_function(), expected) and list(model.feature_names_in_) == names


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_table_of_edges_is_the_graph_that_networkx_makes_of_it(people, library):
    frame, y, edges, ids = people
    edges = edges.assign(weight=np.linspace(0.5, 2, len(edges)))
    graph = networkx.Graph()
    graph.add_nodes_from(ids)
    graph.add_weighted_edges_from(edges.itertuples(index=False, name=None))
    X = by_hand(frame)
    named = pd.Series(y, index=ids)
    expected = GradientFreeClassifier(depth=2).fit(dict(zip(ids, X)), named, adjacency=graph).predict_dict()
    columns = pd.DataFrame(X, index=ids).add_prefix("x")
    with_ids = columns.rename_axis("id").reset_index()
    given = {
        "pandas": (columns, edges),
        "polars": (pl.from_pandas(with_ids), pl.from_pandas(edges)),
        "pyarrow": (pa.Table.from_pandas(with_ids), pa.Table.from_pandas(edges)),
    }[library]
    model = GradientFreeClassifier(depth=2).fit(given[0], y, adjacency=given[1])
    assert model.predict_dict() == expected and model.nodes_ == ids
    with pytest.raises(ValueError, match="'stranger'"):
        bad = pd.concat([edges, pd.DataFrame({"source": ["stranger"], "target": [ids[0]], "weight": [1.0]})])
        model.fit(columns, y, adjacency=bad)


def test_types_directions_and_row_numbers_in_a_table_of_edges(small):
    X, y, adjacency = small
    source, target = np.nonzero(np.triu(adjacency))
    edges = pd.DataFrame({"src": source, "dst": target, "type": np.where(source % 2, "a", "b")})
    plain = GradientFreeClassifier(depth=2).fit(X, y, adjacency=edges[["src", "dst"]])
    assert np.array_equal(
        plain.decision_function(), GradientFreeClassifier(depth=2).fit(X, y, adjacency=adjacency).decision_function()
    )
    part = lambda kind: edges[edges["type"] == kind][["src", "dst"]].to_numpy().T  # noqa: E731
    for directed in (False, True):
        typed = GradientFreeClassifier().fit(X, y, adjacency=edges, directed=directed)
        by_name = GradientFreeClassifier().fit(X, y, adjacency={"a": part("a"), "b": part("b")}, directed=directed)
        assert np.array_equal(typed.decision_function(), by_name.decision_function())


def test_edges_alone_say_which_nodes_there_are():
    edges = pd.DataFrame({"from": ["a", "b", "x", "y", "c", "z"], "to": ["b", "c", "y", "z", "a", "x"]})
    model = GradientFreeClassifier().fit(None, {"a": 0, "b": 0, "x": 1, "y": 1}, adjacency=edges)
    assert model.nodes_ == ["a", "b", "x", "y", "c", "z"]
    assert model.predict_dict()["c"] == 0 and model.predict_dict()["z"] == 1


@pytest.mark.parametrize(
    "y, dtype",
    [
        (pd.Series([3, 3, None, 7, 7, 7], dtype="Int64"), np.int64),
        (pd.Series([3, 3, None, 7, 7, 7], dtype="UInt8"), np.uint8),
        (pd.Series([False, False, None, True, True, True], dtype="boolean"), np.bool_),
        (pd.Series([3, 3, None, 7, 7, 7], dtype="Int32").astype("category"), np.int32),
        (pl.Series([3, 3, None, 7, 7, 7]), np.int64),
        (pa.array([3, 3, None, 7, 7, 7], pa.int16()), np.int16),
        (pa.chunked_array([[3, 3, None], [7, 7, 7]]), np.int64),
        (pd.Series(["u", "u", None, "v", "v", "v"], dtype="string"), None),
        (pl.Series(["u", "u", None, "v", "v", "v"]), None),
        (pa.array(["u", "u", None, "v", "v", "v"]).dictionary_encode(), None),
    ],
    ids=lambda value: str(getattr(value, "dtype", getattr(value, "type", value))),
)
def test_labels_with_gaps_come_back_as_they_were(y, dtype):
    X = np.array([[1.0, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GradientFreeClassifier(depth=1).fit(X, y)
    found = model.predict()
    known = [value.as_py() if hasattr(value, "as_py") else value for value in y]
    assert all(found[k] == known[k] for k in (0, 1, 3, 4, 5)) and found[2] == known[0]
    assert dtype is None or (found.dtype == dtype and model.classes_.dtype == dtype)


@pytest.mark.parametrize(
    "y",
    [
        pd.Series([1.5, 2.5, None, 4.5, 5.5, 6.5], dtype="Float64"),
        pl.Series([1.5, 2.5, None, 4.5, 5.5, 6.5]),
        pa.array([1.5, 2.5, None, 4.5, 5.5, 6.5]),
    ],
)
def test_values_may_have_gaps(y):
    X = np.arange(12.0).reshape(6, 2)
    expected = GradientFreeRegressor(depth=1).fit(X, [1.5, 2.5, np.nan, 4.5, 5.5, 6.5]).predict()
    assert np.array_equal(GradientFreeRegressor(depth=1).fit(X, y).predict(), expected)
