"""Directions, relations, and graphs without features."""

import types
import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from gfgcn import GradientFreeClassifier, GraphWarning


@pytest.fixture
def cited():
    """A digraph in which where arcs lead says the class, and whence they come says nothing."""
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 2
    adjacency = np.zeros((60, 60), dtype=np.float32)
    for node in range(60):
        adjacency[node, 2 * rng.permutation(30)[:4] + 1 - truth[node]] = 1
    np.fill_diagonal(adjacency, 0)
    X = np.column_stack([rng.normal(size=60) + 2 * truth, rng.normal(size=(60, 3))]).astype(np.float32)
    return X, np.where(np.arange(60) < 40, truth, -1), adjacency, truth


OUT, IN = "sgc:depth=1@row:out,loops=0", "sgc:depth=1@row:in,loops=0"


def test_arcs_go_from_row_to_column(cited):
    X, y, adjacency, _ = cited
    model = GradientFreeClassifier(design=OUT, lam=1.0).fit(X, y, adjacency, directed=True)
    degrees = np.maximum(adjacency.sum(axis=1, keepdims=True), 1)
    assert np.allclose(adjacency / degrees @ X @ model.coef_[0], model.decision_function(), atol=1e-5)


def test_a_transposed_digraph_exchanges_out_and_in(cited):
    X, y, adjacency, _ = cited
    for design, other in [(OUT, IN), (IN, OUT)]:
        model = GradientFreeClassifier(design=design).fit(X, y, adjacency, directed=True)
        turned = GradientFreeClassifier(design=other).fit(X, y, adjacency.T, directed=True)
        assert np.array_equal(model.decision_function(), turned.decision_function())
    model = GradientFreeClassifier().fit(X, y, adjacency, directed=True)
    turned = GradientFreeClassifier().fit(X, y, adjacency.T, directed=True)
    assert np.allclose(model.decision_function(), turned.decision_function(), atol=1e-6)


DIGRAPHS = {
    "csr": sp.csr_array,
    "coo": sp.coo_array,
    "edge_index": lambda a: np.array(np.nonzero(a)),
    "edge_index and weights": lambda a: (np.array(np.nonzero(a)), np.ones(int(a.sum()))),
    "networkx": lambda a: nx.from_numpy_array(a, create_using=nx.DiGraph),
    "networkx multi": lambda a: nx.from_numpy_array(a, create_using=nx.MultiDiGraph),
}


@pytest.mark.parametrize("kind", DIGRAPHS)
def test_digraphs_in_whatever_holds_them(cited, kind):
    X, y, adjacency, _ = cited
    expected = GradientFreeClassifier(design=OUT).fit(X, y, adjacency, directed=True)
    graph = DIGRAPHS[kind](adjacency)
    model = GradientFreeClassifier(design=OUT).fit(X, y, graph, directed=True)
    assert np.array_equal(model.decision_function(), expected.decision_function())
    assert np.array_equal(model.decision_function(X, graph), expected.decision_function()), "directed as in fit"
    if "networkx" in kind:
        by_itself = GradientFreeClassifier(design=OUT).fit(X, y, graph)
        assert np.array_equal(by_itself.decision_function(), expected.decision_function())


def test_an_undirected_graph_goes_both_ways(small):
    X, y, adjacency = small
    expected = GradientFreeClassifier(design=OUT).fit(X, y, adjacency)
    for graph in (adjacency, nx.from_numpy_array(adjacency)):
        model = GradientFreeClassifier(design=OUT).fit(X, y, graph, directed=True)
        assert np.array_equal(model.decision_function(), expected.decision_function())


def test_directions_that_are_not_used_are_said(cited):
    X, y, adjacency, _ = cited
    plain = GradientFreeClassifier("ssgc")
    with pytest.warns(GraphWarning, match="in one direction only; the other was added; directed=True keeps") as caught:
        plain.fit(X, y, adjacency)
    assert len(caught) == 1
    digraph = nx.from_numpy_array(adjacency, create_using=nx.DiGraph)
    data = types.SimpleNamespace(x=X, edge_index=np.array(np.nonzero(adjacency)), y=y)
    with pytest.warns(GraphWarning, match="in one direction only"):
        unnoticed = GradientFreeClassifier("ssgc").fit(data).decision_function()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked = GradientFreeClassifier("ssgc").fit(X, y, digraph, directed=False)
        GradientFreeClassifier("ssgc").fit(data, directed=True)
    assert np.array_equal(asked.decision_function(), unnoticed)
    with pytest.warns(GraphWarning, match="directions are not used"):
        asked.predict(X, digraph)


def test_flags_that_do_not_agree(cited):
    X, y, adjacency, _ = cited
    model = GradientFreeClassifier("ssgc").fit(X, y, adjacency, directed=True)
    with pytest.raises(ValueError, match="directed is False, but the model was fitted with directed=True"):
        model.predict(X, adjacency, directed=False)
    with pytest.raises(TypeError, match="directed is 'yes', but must be True or False"):
        model.fit(X, y, adjacency, directed="yes")
    mixed = {"a": nx.path_graph(60), "b": nx.path_graph(60, create_using=nx.DiGraph)}
    with pytest.raises(ValueError, match="the relation 'b' is directed and 'a' is not"):
        model.fit(X, y, mixed)
    assert GradientFreeClassifier("ssgc").fit(X, y, mixed, directed=False).predict().shape == (60,)


@pytest.fixture
def related(small):
    """The edges of a graph, each of one of two kinds."""
    X, y, adjacency = small
    kind = np.triu(np.random.default_rng(0).random((20, 20)) < 0.5, 1)
    kind = kind | kind.T
    return X, y, {"likes": adjacency * kind, "knows well": adjacency * ~kind}, adjacency


def test_relations(related):
    X, y, relations, adjacency = related
    along = GradientFreeClassifier(design="sgc:depth=1@row:loops=0,relation=knows%20well", lam=1.0).fit(X, y, relations)
    alone = GradientFreeClassifier(design="sgc:depth=1@row:loops=0", lam=1.0).fit(X, y, relations["knows well"])
    assert np.array_equal(along.decision_function(), alone.decision_function())
    whole = GradientFreeClassifier("ssgc").fit(X, y, relations)
    assert np.array_equal(whole.decision_function(), GradientFreeClassifier("ssgc").fit(X, y, adjacency).decision_function())
    turned = dict(reversed(relations.items()))
    ours, theirs = (GradientFreeClassifier().fit(X, y, graph) for graph in (relations, turned))
    assert np.array_equal(ours.decision_function(), theirs.decision_function()) and ours.board_ == theirs.board_
    assert {"neighbours by likes", "whom it is linked to by knows well"} <= {row["name"] for row in ours.board_}
    names = dict(enumerate("abcdefghijklmnopqrst"))
    graphs = {name: nx.relabel_nodes(nx.from_numpy_array(graph), names) for name, graph in relations.items()}
    by_name = GradientFreeClassifier("ssgc").fit(X, y, graphs)
    assert by_name.nodes_ == list("abcdefghijklmnopqrst")
    assert np.array_equal(by_name.decision_function(), whole.decision_function())


class Hetero(dict):
    """What PyTorch Geometric's HeteroData has."""

    node_types = property(lambda self: [kind for kind in self if isinstance(kind, str)])
    edge_types = property(lambda self: [kind for kind in self if isinstance(kind, tuple)])


def test_hetero_data(related):
    X, y, relations, _ = related
    data = Hetero({"person": types.SimpleNamespace(x=X, y=y, train_mask=y >= 0, num_nodes=20)})
    for name, graph in relations.items():
        data["person", name, "person"] = types.SimpleNamespace(edge_index=np.array(np.nonzero(graph)))
    expected = GradientFreeClassifier().fit(X, y, relations)
    model = GradientFreeClassifier().fit(data)
    assert np.array_equal(model.decision_function(), expected.decision_function())
    assert np.array_equal(model.predict(data), expected.predict())
    data["place"] = types.SimpleNamespace(x=X)
    with pytest.raises(ValueError, match="nodes of 2 types"):
        GradientFreeClassifier().fit(data)


@pytest.mark.parametrize(
    "relations, message",
    [
        ({}, "this one is empty"),
        ({"": np.eye(20)[::-1]}, "relations have names"),
        ({3: np.eye(20)[::-1]}, "relations have names"),
        ({"a": None}, "the relation 'a' is no graph"),
        ({"a": {"b": np.eye(20)}}, "the relation 'a' is no graph"),
        ({"a": nx.path_graph(20), "b": nx.path_graph(19)}, "the relation 'b' has other nodes"),
        ({"a": np.eye(20)[::-1], "b": np.eye(19)[::-1]}, "the graph has 19 nodes, but X has 20 rows"),
        ({"a": -np.eye(20)[::-1]}, "has weight -1"),
    ],
)
def test_relations_that_are_none(small, relations, message):
    X, y, _ = small
    with pytest.raises(ValueError, match=message):
        GradientFreeClassifier().fit(X, y, relations)
    with pytest.raises(ValueError, match="one of a"):
        GradientFreeClassifier(design="sgc:depth=1@sym:relation=b").fit(X, y, {"a": np.eye(20)[::-1]})


def test_no_features(small):
    """Who is linked to whom is enough for two rings."""
    _, y, adjacency = small
    truth = np.repeat([0, 1], 10)
    expected = GradientFreeClassifier().fit(None, y, adjacency)
    assert expected.score(y=truth) > 0.8 and expected.n_features_in_ == 0
    for graph in (np.array(np.nonzero(adjacency)), nx.from_numpy_array(adjacency)):
        model = GradientFreeClassifier().fit(None, y, graph)
        assert np.array_equal(model.decision_function(), expected.decision_function())
        assert np.array_equal(model.predict(None, graph), expected.predict())
    with pytest.raises(ValueError, match="expecting 0 features"):
        expected.predict(np.ones((20, 3)), adjacency)
    with pytest.raises(ValueError, match="expected 20, found 10"):
        expected.predict(None, adjacency[:10, :10])
    with pytest.raises(ValueError, match="does not say how many nodes"):
        GradientFreeClassifier().fit(None, {0: 0, 15: 1}, np.array(np.nonzero(adjacency)))


def test_directions_help_where_they_mean_something():
    """Four classes, each of which points to the next: 0 and 2 have the same neighbours, 1 and 3, but point to one of them."""
    rng = np.random.default_rng(0)
    truth = np.arange(400) % 4
    ends = [(node, 4 * k + (truth[node] + 1) % 4) for node in range(400) for k in rng.permutation(100)[:6]]
    arcs = np.array(ends).T
    X = (np.eye(4)[truth] + rng.normal(size=(400, 4))).astype(np.float32)
    y = np.where(np.arange(400) < 200, truth, -1)
    test = y < 0
    scores = [GradientFreeClassifier().fit(X, y, arcs, directed=way).score(y=truth, mask=test) for way in (True, False)]
    assert scores[0] > 0.9 > 0.8 > scores[1]
