"""Everything that users hold is understood, and gives the same."""

import subprocess
import sys
import types
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gfgcn import GradientFreeClassifier, GraphFilter, GraphWarning, evaluate, tune


def fit(X, y, adjacency):
    return GradientFreeClassifier(lam=1.0).fit(X, y, adjacency=adjacency).decision_function()


@pytest.fixture
def edge_index(small):
    return np.array(np.nonzero(np.triu(small[2])))


def as_networkx(adjacency):
    return nx.from_numpy_array(adjacency)


GRAPHS = {
    "list of lists": lambda a: a.tolist(),
    "bool": lambda a: a.astype(bool),
    "int": lambda a: a.astype(np.int8),
    "fortran": lambda a: np.asfortranarray(a),
    **{
        f"{format}_{container}": getattr(sp, f"{format}_{container}")
        for format in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
        for container in ("matrix", "array")
    },
    "edge_index in one direction": lambda a: np.array(np.nonzero(np.triu(a))),
    "edge_index in both": lambda a: np.array(np.nonzero(a)),
    "edge_index int32": lambda a: np.array(np.nonzero(a), dtype=np.int32),
    "edge_index uint8": lambda a: np.array(np.nonzero(a), dtype=np.uint8),
    "edge_index and weights": lambda a: (np.array(np.nonzero(a)), np.ones(int(a.sum()))),
    "edge_index without weights": lambda a: (np.array(np.nonzero(a)), None),
    "networkx": as_networkx,
    "networkx directed": lambda a: nx.from_numpy_array(np.triu(a), create_using=nx.DiGraph),
    "networkx multi": lambda a: nx.from_numpy_array(a, create_using=nx.MultiGraph),
}


@pytest.mark.parametrize("kind", GRAPHS)
def test_graphs(small, kind):
    X, y, adjacency = small
    expected = fit(X, y, adjacency)
    assert np.array_equal(fit(X, y, GRAPHS[kind](adjacency)), expected)


FEATURES = {
    "float64": lambda X: X.astype(np.float64),
    "fortran": lambda X: np.asfortranarray(X),
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "reversed": lambda X: X[::-1][::-1],
    "big endian": lambda X: X.astype(">f4"),
    "unaligned": lambda X: unaligned(X),
    "read-only": lambda X: readonly(X),
    "list of lists": lambda X: X.tolist(),
    "object": lambda X: X.astype(object),
    "csr_matrix": sp.csr_matrix,
    "csc_array": sp.csc_array,
    "coo_array": sp.coo_array,
    "dok_array": lambda X: sp.csr_array(X).todok(),
    "csr of int64 indices": lambda X: long_indices(X),
    "data frame": lambda X: pd.DataFrame(X),
}


def unaligned(X):
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)
    out = np.frombuffer(raw[1:].data, dtype=np.float32).reshape(X.shape)
    out[:] = X
    return out


def readonly(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def long_indices(X):
    X = sp.csr_array(X)
    X.indptr, X.indices = X.indptr.astype(np.int64), X.indices.astype(np.int64)
    return X


@pytest.mark.parametrize("kind", FEATURES)
def test_features(small, kind):
    X, y, adjacency = small
    given = FEATURES[kind](X)
    assert np.array_equal(fit(given, y, adjacency), fit(X, y, adjacency))


def test_memmap(small, tmp_path):
    X, y, adjacency = small
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.array_equal(fit(mapped, y, adjacency), fit(X, y, adjacency))


def test_sparse_and_dense_features_agree(cora):
    sparse, dense = (fit(X, cora.y_train, cora.adjacency) for X in (cora.X, cora.X.toarray()))
    assert np.allclose(sparse, dense, atol=1e-6)


LABELS = {
    "int8": lambda y: y.astype(np.int8),
    "float with NaN": lambda y: np.where(y < 0, np.nan, y),
    "float with -1": lambda y: y.astype(float),
    "list": lambda y: y.tolist(),
    "objects with None": lambda y: np.array([None if v < 0 else int(v) for v in y], dtype=object),
    "series with NA": lambda y: pd.Series([pd.NA if v < 0 else int(v) for v in y], dtype="Int64"),
    "dict": lambda y: {k: int(v) for k, v in enumerate(y) if v >= 0},
    "masked": lambda y: np.ma.array(np.where(y < 0, 1, y), mask=y < 0),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels(small, kind):
    X, y, adjacency = small
    model = GradientFreeClassifier().fit(X, LABELS[kind](y), adjacency=adjacency)
    expected = GradientFreeClassifier().fit(X, y, adjacency=adjacency)
    assert np.array_equal(model.predict().astype(int), expected.predict())
    assert list(model.classes_) == [0, 1]


@pytest.mark.parametrize(
    "classes", [["no", "yes"], [False, True], [7, 1000], [-7, 3], [2.0, 3.0], [b"a", b"b"]], ids=str
)
def test_classes_of_any_type(small, classes):
    X, y, adjacency = small
    named = np.array([None if v < 0 else classes[v] for v in y], dtype=object)
    model = GradientFreeClassifier().fit(X, named, adjacency=adjacency)
    expected = GradientFreeClassifier().fit(X, y, adjacency=adjacency).predict()
    assert list(model.classes_) == classes
    assert list(model.predict()) == [classes[k] for k in expected]
    whole = np.array(classes)[expected]
    again = GradientFreeClassifier().fit(X, whole, adjacency=adjacency)
    assert again.classes_.dtype == whole.dtype


@pytest.mark.parametrize("nothing", [float("nan"), -1, None], ids=str)
def test_names_in_a_list(small, nothing):
    """Where NumPy would make strings of everything."""
    X, y, adjacency = small
    model = GradientFreeClassifier().fit(X, [nothing if v < 0 else "ab"[v] for v in y], adjacency=adjacency)
    assert list(model.classes_) == ["a", "b"]


def test_minus_one_as_a_class_is_warned_of(small):
    X, y, adjacency = small
    with pytest.warns(UserWarning, match="-1 stands for unlabelled"):
        GradientFreeClassifier().fit(X, np.where(y == 0, -1, 1), adjacency=adjacency)


def test_frames_are_matched_by_their_index(small):
    X, y, adjacency = small
    names = [f"n{k}" for k in range(20)]
    graph = nx.relabel_nodes(as_networkx(adjacency), dict(enumerate(names)))
    frame = pd.DataFrame(X, index=names, columns=list("abcde"))
    series = pd.Series(y, index=names)
    expected = GradientFreeClassifier().fit(X, y, adjacency=adjacency).predict()
    shuffled = np.random.default_rng(0).permutation(names)
    model = GradientFreeClassifier().fit(frame.loc[shuffled], series.loc[shuffled[::-1]], adjacency=graph)
    assert np.array_equal(model.predict(), expected)


def test_parts_of_splits(cora):
    model = GradientFreeClassifier().fit(cora)
    everyone = np.flatnonzero(cora.test_mask)
    assert model.score(cora, mask=everyone) == model.score(cora, mask=cora.test_mask)
    for mask, message in [
        (cora.test_mask.astype(np.uint8), "looks like a mask"),
        ([-1], "names node -1, but the nodes are 0 to 2707"),
        ([2708], "names node 2708"),
        ([3, 3], "names node 3 twice"),
        ([0.5], "holds float64"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.score(cora, mask=mask)
    old = like_pyg(cora)
    old.train_mask = old.train_mask.astype(np.uint8)
    with pytest.raises(ValueError, match="training part looks like a mask"):
        GradientFreeClassifier().fit(old)


def test_repeated_edges_count_once(small):
    """The largest weight of an edge counts, in whatever it comes."""
    X, y, _ = small
    plain = np.zeros((20, 20))
    plain[0, 1] = plain[1, 0] = 2
    ends, weights = np.array([[0, 0, 1, 1], [1, 1, 0, 0]]), [1.0, 2.0, 1.0, 2.0]
    multi = nx.MultiGraph()
    multi.add_nodes_from(range(20))
    multi.add_edge(0, 1, weight=1.0)
    multi.add_edge(0, 1, weight=2.0)
    for graph in (sp.coo_array((weights, ends), shape=(20, 20)), (ends, weights), multi):
        with pytest.warns(GraphWarning, match="merged"):
            assert np.array_equal(fit(X, y, graph), fit(X, y, plain))
    plain[0, 1] = 1
    with pytest.warns(GraphWarning, match="1 edges with another weight in each direction; the larger was kept"):
        fit(X, y, plain)


def test_two_edges_on_two_nodes():
    loops = np.array([[0, 1], [0, 1]])
    with pytest.warns(GraphWarning, match="2 self-loops"):
        F = GraphFilter("sgc", 1).fit_transform(np.eye(2), adjacency=(loops, None))
    assert np.array_equal(F, np.eye(2)), "a pair says that it is a list"
    F = GraphFilter("sgc", 1).fit_transform(np.eye(2), adjacency=np.array([[0, 1], [1, 0]]))
    assert np.allclose(F, 0.5), "an array of the graph's size is a matrix"


def test_a_frame_is_a_frame(small):
    _, y, adjacency = small
    frame = pd.DataFrame({"x": np.arange(20.0), "edge_index": np.ones(20)})
    assert list(GradientFreeClassifier().fit(frame, y, adjacency=adjacency).feature_names_in_) == ["x", "edge_index"]


def test_networkx_keeps_order_and_names(small):
    X, y, adjacency = small
    names = [f"node {k}" for k in range(20)][::-1]
    graph = nx.relabel_nodes(as_networkx(adjacency), dict(enumerate(names)))
    features = dict(zip(names, X))
    labels = {name: label for name, label in zip(names, y) if label >= 0}
    model = GradientFreeClassifier().fit(features, labels, adjacency=graph)
    expected = GradientFreeClassifier().fit(X, y, adjacency=adjacency).predict()
    assert model.nodes_ == list(graph.nodes)
    assert model.predict_dict() == dict(zip(names, expected))
    heavy = nx.Graph()
    heavy.add_weighted_edges_from([("a", "b", 2.0), ("b", "c", 0.5)])
    weighted = GraphFilter("sgc", 1).fit_transform(np.eye(3), adjacency=heavy)
    plain = GraphFilter("sgc", 1).fit_transform(np.eye(3), adjacency=[[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]])
    assert np.array_equal(weighted, plain)


def like_pyg(cora):
    coo = cora.adjacency.tocoo()
    return types.SimpleNamespace(
        x=cora.X.toarray(),
        edge_index=np.array([coo.row, coo.col]),
        y=cora.y,
        train_mask=cora.train_mask,
        val_mask=cora.val_mask,
        test_mask=cora.test_mask,
    )


def test_objects_that_hold_everything(cora):
    expected = GradientFreeClassifier().fit(cora.X.toarray(), cora.y_train, cora.adjacency)
    for data in (like_pyg(cora), cora):
        model = GradientFreeClassifier().fit(data)
        assert np.array_equal(model.predict(), expected.predict())
        assert np.array_equal(model.predict(data), expected.predict())
        assert model.score(data, mask=data.test_mask) == expected.score(y=cora.y, mask=cora.test_mask)
        by_validation = GradientFreeClassifier(lam="validation").fit(data)
        again = GradientFreeClassifier(lam="validation").fit(
            cora.X, np.where(cora.train_mask | cora.val_mask, cora.y, -1), cora.adjacency, validation=cora.val_mask
        )
        assert by_validation.lam_ == again.lam_
    whole, parts = tune(like_pyg(cora)), tune(cora.X.toarray(), cora.y_train, cora.adjacency)
    assert [row["name"] for row in whole.board] == [row["name"] for row in parts.board]
    assert [row["lam"] for row in whole.board] == pytest.approx([row["lam"] for row in parts.board])


@pytest.mark.peer
def test_pytorch_geometric(cora):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed", exc_type=ImportError)
    pytest.importorskip("torch_geometric", reason="PyTorch Geometric is not installed", exc_type=ImportError)
    from torch_geometric.data import Data

    plain = like_pyg(cora)
    data = Data(**{name: torch.as_tensor(value) for name, value in vars(plain).items()})
    expected = GradientFreeClassifier().fit(plain).predict()
    assert np.array_equal(GradientFreeClassifier().fit(data).predict(), expected)
    data.x.requires_grad_(True)
    assert np.array_equal(GradientFreeClassifier().fit(data).predict(data), expected)


def test_repairs_are_said(small):
    X, y, adjacency = small
    with pytest.warns(GraphWarning, match="21 edges stored in one direction only; the other was added"):
        GradientFreeClassifier().fit(X, y, adjacency=sp.csr_array(np.triu(adjacency)))
    with pytest.warns(GraphWarning, match="20 self-loops dropped") as caught:
        GradientFreeClassifier().fit(X, y, adjacency=adjacency + np.eye(20))
    assert caught[0].filename == __file__
    doubled = sp.csr_array((np.full(10, 0.5), [0, 0] * 5, np.arange(0, 11, 2).repeat([1] * 5 + [16])), shape=(20, 5))
    with pytest.warns(GraphWarning, match="5 repeated feature entries added up"):
        scores = GradientFreeClassifier().fit(doubled, y, adjacency=adjacency).decision_function()
    doubled.sum_duplicates()
    assert np.array_equal(scores, GradientFreeClassifier().fit(doubled, y, adjacency=adjacency).decision_function())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GradientFreeClassifier().fit(X, y, adjacency=np.array(np.nonzero(np.triu(adjacency))))


def refused(message, error=ValueError, **changes):
    """A call of fit with something wrong, and what is said."""
    return pytest.param(changes, error, message, id=message)


def complex_networkx():
    graph = nx.path_graph(20)
    graph.add_edge(0, 1, weight=1j)
    return graph


NAN = np.full((20, 5), np.nan)
HUGE = np.full((20, 5), 1e300)


@pytest.mark.parametrize(
    "changes, error, message",
    [
        refused("Expected 2D array, got 1D array", X=np.ones(20)),
        refused("Found array with 0 sample", X=np.ones((0, 5)), adjacency=None),
        refused("Found array with 0 feature", X=np.ones((20, 0))),
        refused("Complex data not supported", X=np.ones((20, 5)) * 1j),
        refused("Complex data not supported", X=np.array([[1j]] * 20, dtype=object)),
        refused("Complex data not supported", X=sp.csr_array(np.ones((20, 5)) * 1j)),
        refused("holds complex128", adjacency=np.eye(20)[::-1] * 1j),
        refused("holds complex128", adjacency=sp.csr_array(np.eye(20)[::-1] * 1j)),
        refused("holds complex64", adjacency=sp.coo_matrix((np.eye(20)[::-1] * 1j).astype(np.complex64))),
        refused("real numbers, but these are complex128", adjacency=(np.array([[0, 1], [1, 2]]), [1 + 0j, 1j])),
        refused("edge weights are real numbers", adjacency=(np.array([[0], [1]]), np.array([1j], dtype=object))),
        refused("real numbers, but these are <U1", adjacency=(np.array([[0], [1]]), ["1"])),
        refused("real numbers, but these are complex128", adjacency=complex_networkx()),
        refused("row 0, column 0 is NaN", X=NAN),
        refused("row 0, column 0 is inf", X=HUGE),
        refused("row 0, column 0 is inf", X=sp.csr_array(HUGE)),
        refused("could not convert string to float", X=np.full((20, 5), "a")),
        refused("the graph has 20 nodes, but X has 19 rows", X=np.ones((19, 5))),
        refused("inconsistent numbers of samples", y=np.zeros(19)),
        refused("1d array", y=np.zeros((20, 2, 2))),
        refused("Unknown label type: continuous", y=np.linspace(0, 1, 20)),
        refused("contains infinity", y=np.full(20, np.inf)),
        refused("cannot be put in order", y=np.array(["a", 1] * 10, dtype=object)),
        refused("no node has a label", y=np.full(20, -1)),
        refused("which is no node", y={99: 1}),
        refused("is square", adjacency=np.ones((20, 19))),
        refused("a graph is a matrix", adjacency=np.ones(20)),
        refused("a graph is a matrix", adjacency="cora"),
        refused("transpose it", adjacency=np.array([[0, 1], [1, 2], [2, 3]])),
        refused("edge_index has two rows", adjacency=(np.ones((3, 4), dtype=int), None)),
        refused("1D array", X=sp.coo_array(np.ones(20)), adjacency=None),
        refused("X is None, and there is no graph", X=None, adjacency=None),
        refused("the nodes have no features", X=None, params={"filter": "sgc"}),
        refused("masked entries", X=np.ma.array(np.ones((20, 5)), mask=np.eye(20, 5))),
        refused("X holds datetime64", X=np.zeros((20, 5), "M8[D]")),
        refused("names node 20, but the nodes are 0 to 19", adjacency=np.array([[0, 1, 2], [20, 2, 3]])),
        refused("negative", adjacency=np.array([[0, -1, 2], [1, 2, 3]])),
        refused("edge_index holds node numbers", adjacency=np.array([[0.5, 1, 2], [1, 2, 3]])),
        refused("has weight -1", adjacency=-np.eye(20)[::-1]),
        refused("has weight NaN", adjacency=np.where(np.eye(20)[::-1] > 0, np.nan, 0)),
        refused("holds numbers", adjacency=np.full((20, 20), "x")),
        refused("edge weights: expected 3, found 2", adjacency=(np.array([[0, 1, 2], [1, 2, 3]]), [1.0, 2.0])),
        refused("the graph has 3 nodes", adjacency=nx.path_graph(3)),
        refused("validation nodes choose λ only", validation=[1]),
        refused("depth is -1, but must be a whole number from 1 to 10000", params={"depth": -1}),
        refused("far too large", params={"depth": 2**70}),
        refused("n_jobs is '2', but must be a whole number", TypeError, params={"n_jobs": "2"}),
        refused("row_normalize is 'no', but must be True or False", TypeError, params={"row_normalize": "no"}),
        refused("lam is array([1., 2.])", TypeError, params={"lam": np.array([1.0, 2.0])}),
        refused("depth is 0, but must be a whole number from 1 to 10000", params={"depth": 0}),
        refused("depth is 'x', but must be a whole number", TypeError, params={"depth": "x"}),
        refused("depth is 2.5, but must be a whole number", TypeError, params={"depth": 2.5}),
        refused("depth is True, but must be a whole number", TypeError, params={"depth": True}),
        refused("n_jobs is True, but must be a whole number", TypeError, params={"n_jobs": True}),
        refused("tau is False, but must be a number", TypeError, params={"filter": "sgc", "tau": False}),
        refused("lam is True, but must be", TypeError, params={"lam": True}),
        refused("time is NaN, but must be a positive number", params={"filter": "ssgc", "time": np.nan}),
        refused("time is inf, but must be a positive number", params={"filter": "sgc", "time": np.inf}),
        refused("tau is 7, but must be a number from 0 to 1", params={"filter": "dgc", "tau": 7}),
        refused("filter is gcn, but must be sgc, ssgc, dgc", params={"filter": "gcn"}),
        refused("filter is 3, but must be a string", TypeError, params={"filter": 3}),
        refused("tau is 2, but must be a number from 0 to 1", params={"tau": 2}),
        refused("time is -1, but must be a positive number", params={"filter": "dgc", "time": -1}),
        refused("kernel is sigmoid, but must be linear", params={"kernel": "sigmoid"}),
        refused("lam is 0.0, but must be loo, validation or a positive finite number", params={"lam": 0}),
        refused("lam is best, but must be loo, validation or a positive finite number", params={"lam": "best"}),
        refused("lam is [], but must be 'loo', 'validation' or a number", TypeError, params={"lam": []}),
        refused("normalization is none, but must be", params={"normalization": "none"}),
        refused("n_jobs is 0", params={"n_jobs": 0}),
        refused("needs the validation nodes", params={"lam": "validation"}),
        refused("node 99", params={"lam": "validation"}, validation=[99]),
        refused("mask has shape", params={"lam": "validation"}, validation=np.ones(3, dtype=bool)),
        refused("has no label", params={"lam": "validation"}, validation=[1]),
    ],
)
def test_refusals(small, changes, error, message):
    X, y, adjacency = small
    arguments = {"X": X, "y": y, "adjacency": adjacency, **changes}
    model = GradientFreeClassifier(**arguments.pop("params", {}))
    with np.errstate(invalid="ignore"), pytest.raises(error) as caught:
        model.fit(**arguments)
    assert message in str(caught.value)
    assert not hasattr(model, "classes_"), "a fit that failed leaves nothing behind"


def test_evaluate_and_tune_refuse(small):
    X, y, adjacency = small
    with pytest.raises(ValueError, match="y is None"):
        evaluate(X, None, adjacency)
    with pytest.raises(ValueError, match="splits is 0"):
        evaluate(X, y, adjacency, splits=0)
    for error, message, wrong in [
        (ValueError, "ratio is 1:1", {"ratio": "1:1"}),
        (TypeError, "ratio is", {"ratio": (1, 1, 8)}),
        (TypeError, "splits is 2.5", {"splits": 2.5}),
        (ValueError, "seed is -1", {"seed": -1}),
        (ValueError, "seed is 18446744073709551616", {"seed": 2**64}),
        (ValueError, "split has 2 parts", {"split": ([0], [3])}),
        # What a given split leaves without a use is not left without a check.
        (ValueError, "splits is 0", {"split": ([0], [], [3]), "splits": 0}),
        (ValueError, "seed is -1", {"split": ([0], [], [3]), "seed": -1}),
        (ValueError, "ratio is 1:1", {"split": ([0], [], [3]), "ratio": "1:1"}),
        (TypeError, "depth is True", {"depths": [True]}),
        (ValueError, "time is NaN", {"filters": "sgc", "time": float("nan")}),
    ]:
        with pytest.raises(error, match=message):
            evaluate(X, y, adjacency, **wrong)
    assert len(evaluate(X, y, adjacency, filters="ssgc", depths=8, splits=1, ratio="1:0:1")) == 1
    with pytest.warns(UserWarning, match="single training node"):
        tune(X, np.where(np.arange(20) == 0, 0, np.where(y == 1, 1, -1)), adjacency)
    with pytest.raises(ValueError, match="largest_component=False"):
        evaluate(X, y, adjacency, split=([0], [], [3]), largest_component=True)
    with pytest.raises(ValueError, match="no node has a label"):
        tune(X, np.full(20, -1), adjacency)


MEASURE = """
import re, sys
import numpy as np
from gfgcn import GradientFreeClassifier

nodes, columns = 50_000, 2000
X = np.zeros((nodes, columns), dtype=np.float32, order=sys.argv[1])
X[:, :] = np.random.default_rng(0).normal(size=columns)
X[0, :] += 1
y = np.full(nodes, -1)
y[:4] = [0, 1, 0, 1]
ring = np.array([np.arange(nodes), np.roll(np.arange(nodes), 1)])
GradientFreeClassifier(depth=1, lam=1.0).fit(X[:5].copy(), y[:5])  # what is loaded on the way
open("/proc/self/clear_refs", "w").write("5")  # the peak is counted from here
before, model = open("/proc/self/status").read(), GradientFreeClassifier("sgc", depth=1, lam=1.0)
model.fit(X, y, adjacency=ring)
after = open("/proc/self/status").read()
kilobytes = lambda name, status: int(re.search(name + r":\\s+(\\d+) kB", status)[1])
print((kilobytes("VmHWM", after) - kilobytes("VmRSS", before)) * 1024 / X.nbytes)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is asked of Linux")
def test_features_in_place_are_not_copied():
    """Peak memory of a fit, in multiples of X: no copy of it, unless its order asks for one."""

    def peak(order):
        done = subprocess.run([sys.executable, "-c", MEASURE, order], capture_output=True, text=True, check=True)
        return float(done.stdout)

    assert peak("C") < 0.3
    assert peak("F") > 0.9
