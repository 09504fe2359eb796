"""Learning more and forgetting: what comes out is what fitting all of it anew gives."""

import pickle

import numpy as np
import pytest

import gfgcn
from gfgcn import GradientFreeClassifier, GradientFreeRegressor


@pytest.fixture(scope="module")
def cora():
    return gfgcn.datasets.load("cora")


def kept(**params):
    return GradientFreeClassifier("sgc", depth=2, keep_training=True, **params)


def same(one, other):
    assert one._model.to_bytes() == other._model.to_bytes()
    np.testing.assert_array_equal(one.decision_function(), other.decision_function())
    np.testing.assert_array_equal(one.classes_, other.classes_)


def test_labels_that_come_later_are_as_if_there_from_the_start(cora):
    y = np.where(cora.train_mask, cora.y, -1)
    early = y.copy()
    late = np.flatnonzero(cora.train_mask)[::7]
    early[late] = -1
    early[np.flatnonzero(early >= 0)[0]] = (y[np.flatnonzero(early >= 0)[0]] + 1) % 7
    new = np.where(np.isin(np.arange(len(y)), late) | (early != y), y, -1)
    model = kept().fit(cora.X, early, adjacency=cora.adjacency)
    model.partial_fit(y=new)
    assert model.changes_["labels_added"] == len(late) and model.changes_["labels_changed"] == 1
    assert model.changes_["rows_computed"] == 0
    same(model, kept().fit(cora.X, y, adjacency=cora.adjacency))
    # One by one, with the data passed again, after a pickle.
    model = pickle.loads(pickle.dumps(kept().fit(cora.X, early, adjacency=cora.adjacency)))
    with pytest.raises(ValueError, match="pass X and adjacency"):
        model.partial_fit(y=new)
    model.partial_fit(cora.X, {int(k): int(y[k]) for k in np.flatnonzero(new >= 0)}, cora.adjacency)
    same(model, kept().fit(cora.X, y, adjacency=cora.adjacency))


def test_what_is_forgotten_was_never_there(cora):
    y = np.where(cora.train_mask, cora.y, -1)
    model = kept().fit(cora.X, y, adjacency=cora.adjacency)
    gone = np.flatnonzero(y == 3)
    model.forget(labels_of=gone)
    rest = np.where(y == 3, -1, y)
    anew = kept().fit(cora.X, rest, adjacency=cora.adjacency)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2, 4, 5, 6])
    np.testing.assert_array_equal(model.decision_function(), anew.decision_function())
    assert model.receipt_["check"] == "identical"
    assert model.receipt_["removed"]["labels_of"] == [str(node) for node in gone]

    model = kept().fit(cora.X, y, adjacency=cora.adjacency)
    model.forget(nodes=[5, 99, 2000])
    stays = np.setdiff1d(np.arange(len(y)), [5, 99, 2000])
    anew = kept().fit(cora.X[stays], y[stays], adjacency=cora.adjacency[stays][:, stays])
    same(model, anew)
    assert len(model.predict()) == len(stays)

    first = cora.adjacency.tocoo()
    edge = [(int(first.row[0]), int(first.col[0]))]
    cut = cora.adjacency.tolil()
    cut[edge[0]] = cut[edge[0][::-1]] = 0
    model = kept().fit(cora.X, y, adjacency=cora.adjacency).forget(edges=edge)
    same(model, kept().fit(cora.X, y, adjacency=cut.tocsr()))


def test_a_graph_that_grows(cora):
    y = np.where(cora.train_mask, cora.y, -1)
    first = np.arange(2500)
    model = kept().fit(cora.X[first], y[first], adjacency=cora.adjacency[first][:, first])
    model.partial_fit(cora.X, y, adjacency=cora.adjacency)
    same(model, kept().fit(cora.X, y, adjacency=cora.adjacency))


def test_names_of_a_networkx_graph():
    import networkx

    graph = networkx.path_graph(8)
    graph = networkx.relabel_nodes(graph, {k: "abcdefgh"[k] for k in range(8)})
    model = kept().fit(np.eye(8), {"a": "left", "b": "left", "h": "right"}, adjacency=graph)
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(y={"d": "middle"}, classes=["left", "right"])
    model.partial_fit(y={"d": "middle"})
    assert set(model.classes_) == {"left", "middle", "right"}
    assert list(model.predict(nodes=["d", "a"])) == ["middle", "left"]
    model.forget(nodes=["c"])
    assert model.nodes_ == list("abdefgh") and set(model.predict_dict()) == set("abdefgh")
    model.forget(edges=[("d", "e")])
    with pytest.raises(ValueError, match="no node 'c'"):
        model.forget(labels_of=["c"])


def test_nodes_are_known_by_their_names_in_any_order(tmp_path):
    import networkx

    rng = np.random.default_rng(3)
    graph = networkx.relabel_nodes(networkx.cycle_graph(12), {k: f"n{k}" for k in range(12)})
    names = list(graph.nodes)
    X = {name: rng.normal(size=4) for name in names}
    labels = {name: "ab"[k // 6] for k, name in enumerate(names) if k % 2 == 0}
    other = networkx.Graph()
    other.add_nodes_from(reversed(names))
    other.add_edges_from(graph.edges)
    model = kept().fit(X, labels, adjacency=graph)
    model.save(tmp_path / "m")
    less = {name: label for name, label in labels.items() if name != "n4"}
    expected = kept().fit(X, less, adjacency=graph).predict_dict()
    for changed in (model, GradientFreeClassifier.load(tmp_path / "m")):
        changed.forget(X, other, labels_of=["n4"])
        assert changed.nodes_ == list(other.nodes)
        assert changed.predict_dict() == expected
        same(changed, kept().fit(X, less, adjacency=other))
    model = kept().fit(X, labels, adjacency=graph)
    # A node in between, and one that is labelled by its name.
    grown = networkx.Graph()
    grown.add_nodes_from(["new", *reversed(names)])
    grown.add_edges_from([*graph.edges, ("new", "n1")])
    more = {**X, "new": rng.normal(size=4)}
    model.partial_fit(more, {"new": "b", "n1": "a"}, grown)
    assert model.changes_["nodes_added"] == 1 and model.changes_["labels_added"] == 2
    same(model, kept().fit(more, {**labels, "new": "b", "n1": "a"}, adjacency=grown))
    assert {row["name"] for row in model.explain("n3").labelled} == {*labels, "new", "n1"}
    with pytest.raises(ValueError, match="cannot be matched"):
        model.partial_fit(np.eye(13, 4), adjacency=networkx.to_numpy_array(grown))


def test_what_is_kept_is_not_the_callers(cora):
    rng = np.random.default_rng(1)
    X, path = rng.normal(size=(30, 4)).astype(np.float32), np.array([range(29), range(1, 30)])
    y = np.where(np.arange(30) % 3 == 0, np.arange(30) // 15, -1)
    own = X.copy()
    model = kept().fit(own, y, adjacency=path)
    own[:] = 7
    same(model.partial_fit(y={1: 1}), kept().fit(X, np.where(np.arange(30) == 1, 1, y), adjacency=path))
    own = X.copy()
    model.partial_fit(own, y, path)
    own[:] = 7
    model.forget(nodes=[4])
    assert model.receipt_["check"] == "identical"
    stays = np.arange(30) != 4
    edges = np.array([[k, k + 1] for k in range(3)] + [[k, k + 1] for k in range(4, 28)]).T
    rest = np.where(np.arange(30) == 1, 1, y)[stays]
    same(model, kept().fit(X[stays], rest, adjacency=edges))


def test_label_sets_with_other_columns():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    X, path = rng.normal(size=(30, 4)).astype(np.float32), np.array([range(29), range(1, 30)])
    sets = np.where(np.arange(30)[:, None] % 3 == 0, (X[:, :3] > 0).astype(float), np.nan)
    first = pandas.DataFrame(sets, columns=["sea", "air", "land"])
    model = kept().fit(X, first, adjacency=path)
    # One that is new, none of those that are left out.
    more = pandas.DataFrame(np.full((30, 2), np.nan), columns=["fire", "air"])
    more.loc[7] = [1, 1]
    model.partial_fit(y=more)
    assert list(model.classes_) == ["sea", "air", "land", "fire"]
    every = first.assign(fire=np.where(first["sea"].isna(), np.nan, 0.0))
    every.loc[7] = [0, 1, 0, 1]
    anew = kept().fit(X, every, adjacency=path)
    np.testing.assert_array_equal(model.predict(), anew.predict())
    np.testing.assert_array_equal(model.decision_function(), anew.decision_function())
    # Columns without names are those that the model knows, if they are as many.
    plain = np.full((30, 4), -1)
    plain[8] = [1, 0, 0, 0]
    model.partial_fit(y=plain)
    every.loc[8] = [1, 0, 0, 0]
    np.testing.assert_array_equal(model.predict(), kept().fit(X, every, adjacency=path).predict())
    with pytest.raises(ValueError, match="3 columns without names"):
        model.partial_fit(y=plain[:, :3])


def test_a_changed_model_predicts_when_it_is_asked(cora):
    y = np.where(cora.train_mask, cora.y, -1)
    model = kept().fit(cora.X, y, adjacency=cora.adjacency)
    model.forget(labels_of=np.flatnonzero(y >= 0)[:2])
    assert model._training_graph is None
    few = model.predict(nodes=[5, 2000])
    assert model._training_graph is None
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(), model.predict())
    np.testing.assert_array_equal(few, model.predict()[[5, 2000]])
    # The result of a search has its labelled nodes, too.
    found = GradientFreeClassifier(keep_training=True).fit(cora.X, y, adjacency=cora.adjacency)
    why = found.explain(5)
    total = sum(row["term"] for row in why.labelled) + why.constant
    assert total == pytest.approx(why.score, rel=1e-9)
    influence = found.influence()
    assert len(influence) == cora.train_mask.sum()
    assert influence[0]["influence"] >= influence[-1]["influence"] > 0


def test_values_and_label_sets_change_too(cora):
    rng = np.random.default_rng(1)
    X, path = rng.normal(size=(30, 4)).astype(np.float32), np.array([range(29), range(1, 30)])
    y = np.where(np.arange(30) % 3 == 0, X @ [1.0, 2.0, 0.0, 0.0], np.nan)
    model = GradientFreeRegressor("sgc", depth=1, keep_training=True).fit(X, y, adjacency=path)
    model.partial_fit(y={1: 2.5}).forget(labels_of=[0])
    y[1], y[0] = 2.5, np.nan
    anew = GradientFreeRegressor("sgc", depth=1, keep_training=True).fit(X, y, adjacency=path)
    np.testing.assert_array_equal(model.predict(), anew.predict())

    sets = np.where(np.arange(30)[:, None] % 3 == 0, (X[:, :3] > 0).astype(int), -1)
    model = kept().fit(X, sets, adjacency=path)
    more = np.full((30, 3), -1)
    more[7] = [1, 0, 1]
    model.partial_fit(y=more)
    sets[7] = [1, 0, 1]
    np.testing.assert_array_equal(model.predict(), kept().fit(X, sets, adjacency=path).predict())


def test_files_keep_what_was_kept(cora, tmp_path):
    y = np.where(cora.train_mask, cora.y, -1)
    kept().fit(cora.X, y, adjacency=cora.adjacency).save(tmp_path / "m")
    model = GradientFreeClassifier.load(tmp_path / "m")
    assert model.keep_training
    model.forget(cora.X, cora.adjacency, labels_of=np.flatnonzero(y >= 0)[:3])
    assert model.receipt_["changes"]["labels_removed"] == 3


def test_a_few_nodes(cora):
    y = np.where(cora.train_mask, cora.y, -1)
    model = GradientFreeClassifier("sgc", depth=2).fit(cora.X, y, adjacency=cora.adjacency)
    some = [2000, 3, 77]
    np.testing.assert_array_equal(model.predict(nodes=some), model.predict()[some])
    there = model.predict(cora.X, cora.adjacency, nodes=some)
    np.testing.assert_array_equal(there, model.predict()[some])
    mask = np.isin(np.arange(len(y)), some)
    np.testing.assert_array_equal(model.predict(cora.X, cora.adjacency, nodes=mask), model.predict()[mask])
    with pytest.raises(ValueError, match="twice"):
        model.predict(nodes=[3, 3])


def test_what_cannot_be_changed(cora):
    y = np.where(cora.train_mask, cora.y, -1)
    plain = GradientFreeClassifier("sgc", depth=2).fit(cora.X, y, adjacency=cora.adjacency)
    with pytest.raises(ValueError, match="keep_training=True"):
        plain.forget(labels_of=[0])
    with pytest.raises(ValueError, match="keep_training=True"):
        plain.forget(cora.X, cora.adjacency, labels_of=[0])
    model = kept().fit(cora.X, y, adjacency=cora.adjacency)
    before = model._model.to_bytes()
    for wrong, match in [
        (dict(), "needs one of"),
        (dict(labels_of=[0], nodes=[1]), "labels_of and nodes"),
        (dict(labels_of=np.flatnonzero(y >= 0)), "no label would be left"),
        (dict(labels_of=[int(np.flatnonzero(y < 0)[0])]), "was not trained on a label"),
        (dict(nodes=[99999]), "the nodes are 0 to 2707"),
        (dict(edges=[(0, 1)]), "no edge from"),
        (dict(edges=[(0, 99999)]), "the nodes are 0 to 2707"),
        (dict(edges=[1, 2, 3]), "list of pairs"),
    ]:
        with pytest.raises(ValueError, match=match):
            model.forget(**wrong)
        assert model._model.to_bytes() == before
    assert GradientFreeClassifier("sgc", depth=2).partial_fit(cora).score(cora) > 0.7


def test_sets_listen_to_neighbours(cora):
    y = np.where(cora.train_mask | cora.val_mask, cora.y, -1)
    model = kept().fit(cora.X, y, adjacency=cora.adjacency)
    plain, smooth = model.predict_set(), model.predict_set(smooth=0.2)
    test = np.flatnonzero(cora.test_mask)
    inside = smooth[test, cora.y[test]].mean()
    assert 0.85 < inside < 0.95 and smooth[test].sum() < plain[test].sum()
    np.testing.assert_array_equal(smooth, model.predict_set(cora.X, cora.adjacency, smooth=0.2))
    with pytest.raises(ValueError, match="from 0 to 1"):
        model.predict_set(smooth=2)
