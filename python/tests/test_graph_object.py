"""A graph that is checked once: the same results as of what it was made from, and one conversion for any number of calls."""

import copy
import pickle
import types

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gfgcn
from gfgcn import GradientFreeClassifier, Graph, GraphFilter, GraphWarning, OnGraph, datasets, evaluate, tune
from gfgcn._inputs import graphs


@pytest.fixture
def conversions(monkeypatch):
    """Every conversion of a graph, which all go through one function of the engine."""
    seen = []

    def build(*arguments):
        seen.append(arguments)
        return gfgcn._gfgcn.Graph.build(*arguments)

    monkeypatch.setattr(graphs, "Graph", types.SimpleNamespace(build=build))
    return seen


def plain(**params):
    return GradientFreeClassifier("sgc", depth=2, **params)


def test_a_graph_is_converted_once(small, conversions):
    X, y, adjacency = small
    graph = Graph(adjacency)
    assert len(conversions) == 1
    model = plain().fit(X, y, adjacency=graph)
    plain(keep_training=True).fit(X, y, adjacency=graph)
    model.predict(X, adjacency=graph)
    model.predict(X, adjacency=graph, nodes=[3, 4])
    model.explain(3, X=X, adjacency=graph)
    GraphFilter("sgc", depth=2).fit_transform(X, adjacency=graph)
    tune(X, y, adjacency=graph)
    evaluate(X, y, adjacency=graph, models=["sgc"], depths=[2], splits=2, ratio="1:1:1")
    known = np.flatnonzero(y >= 0)
    OnGraph(plain(), X, graph).fit(known, y[known]).predict(known)
    assert len(conversions) == 1, "and nobody looked at it again"
    plain().fit(X, y, adjacency=adjacency)
    plain().fit(X, y, adjacency=adjacency)
    assert len(conversions) == 3, "plain arrays are converted in every call, and the spy sees it"


KINDS = {
    "array": lambda a: (a, {}),
    "csr": lambda a: (sp.csr_array(a), {}),
    "coo": lambda a: (sp.coo_array(a), {}),
    "edge_index": lambda a: (np.array(np.nonzero(np.triu(a))), {"nodes": len(a)}),
    "edge_index and weights": lambda a: ((np.array(np.nonzero(np.triu(a))), np.ones(int(np.triu(a).sum()))), {"nodes": len(a)}),
    "networkx": lambda a: (nx.from_numpy_array(a), {}),
    "table": lambda a: (pd.DataFrame(np.array(np.nonzero(np.triu(a))).T, columns=["source", "target"]), {"nodes": len(a)}),
    "relations": lambda a: ({"up": sp.csr_array(a), "more": sp.csr_array(a)}, {}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_the_same_as_what_it_was_made_from(small, kind):
    X, y, adjacency = small
    given, more = KINDS[kind](adjacency)
    expected = plain().fit(X, y, adjacency=given).decision_function()
    graph = Graph(given, **more)
    assert np.array_equal(plain().fit(X, y, adjacency=graph).decision_function(), expected)
    assert (graph.n_nodes, graph.n_edges, graph.directed, len(graph), graph.shape) == (20, 21, False, 20, (20, 20))
    assert graph.relations == (["more", "up"] if kind == "relations" else [])
    again = pickle.loads(pickle.dumps(graph))
    assert repr(again) == repr(graph) and again.nodes == graph.nodes
    assert np.array_equal(plain().fit(X, y, adjacency=again).decision_function(), expected)


def test_directions_and_weights_are_kept(small):
    X, y, _ = small
    rng = np.random.default_rng(3)
    arcs = sp.random_array((20, 20), density=0.2, rng=rng, format="csr", dtype=np.float32)
    arcs.setdiag(0)
    arcs.eliminate_zeros()
    out = GradientFreeClassifier(design="sgc:depth=1@row:out", lam=1.0)
    expected = out.fit(X, y, adjacency=arcs, directed=True).decision_function()
    graph = Graph(arcs, directed=True)
    for one in (graph, pickle.loads(pickle.dumps(graph))):
        assert np.array_equal(out.fit(X, y, adjacency=one).decision_function(), expected)
        assert np.array_equal(out.fit(X, y, adjacency=one, directed=True).predict(X, adjacency=one), out.predict())
        assert one.directed and "directed" in repr(one)
    with pytest.raises(ValueError, match="made with directed=True"):
        out.fit(X, y, adjacency=graph, directed=False)
    digraph = nx.from_scipy_sparse_array(arcs, create_using=nx.DiGraph)
    assert Graph(digraph).directed and Graph(digraph).n_edges == graph.n_edges
    linked = (arcs + arcs.T).toarray() > 0
    assert graph.n_edges == linked.sum() // 2


def test_names_of_nodes(small):
    X, y, adjacency = small
    names = [f"n{k}" for k in range(20)]
    club = nx.relabel_nodes(nx.from_numpy_array(adjacency), dict(enumerate(names)))
    model = plain().fit(X, y, adjacency=Graph(adjacency, nodes=names))
    assert model.nodes_ == names and np.array_equal(model.predict(nodes=["n3", "n12"]), model.predict()[[3, 12]])
    # networkx has an order of its own, unless another one is asked for.
    turned = names[::-1]
    other = plain().fit(X[::-1], y[::-1], adjacency=Graph(club, nodes=turned))
    assert other.nodes_ == turned
    assert np.allclose(other.decision_function()[::-1], model.decision_function(), atol=1e-6)
    with pytest.raises(ValueError, match="each of them must be named"):
        Graph(club, nodes=names[:-1])


def test_of_what_has_a_graph(tmp_path, cora):
    assert repr(Graph(cora)) == repr(Graph(cora.adjacency)) == "<Graph: 2708 nodes, 5278 edges>"
    cora.save(tmp_path / "cora.store", format="store")
    stored = Graph(datasets.open(tmp_path / "cora.store"))
    expected = plain().fit(cora.X, cora.y_train, adjacency=cora.adjacency).decision_function()
    assert np.array_equal(plain().fit(cora.X, cora.y_train, adjacency=stored).decision_function(), expected)
    data = types.SimpleNamespace(edge_index=np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), x=np.ones((4, 1)))
    assert repr(Graph(data)) == "<Graph: 4 nodes, 2 edges>"


def test_it_cannot_be_changed(small):
    X, y, adjacency = small
    graph = Graph(adjacency)
    expected = plain().fit(X, y, adjacency=graph).decision_function()
    with pytest.raises(AttributeError, match="cannot be changed"):
        graph.directed = True
    with pytest.raises(AttributeError):
        del graph._engine
    adjacency[:] = 0  # what it was made from is not what it is
    assert np.array_equal(plain().fit(X, y, adjacency=graph).decision_function(), expected)
    names = list(range(20))
    named = Graph(np.zeros((20, 20)), nodes=names)
    named.nodes.clear()
    names.clear()
    assert len(named.nodes) == 20
    assert copy.copy(graph) is graph and copy.deepcopy([graph])[0] is graph


def test_repairs_are_said_once(small, recwarn):
    X, y, adjacency = small
    one_way = np.triu(adjacency)
    with pytest.warns(GraphWarning, match="directed=True keeps the directions"):
        graph = Graph(one_way)
    recwarn.clear()
    plain().fit(X, y, adjacency=graph)
    assert not recwarn.list


def test_refusals(small):
    X, y, adjacency = small
    for make, error, said in [
        (lambda: Graph(None), ValueError, "adjacency is None"),
        (lambda: Graph(Graph(adjacency)), TypeError, "a Graph already"),
        (lambda: Graph(np.array([[0, 1], [1, 5]]).repeat(2, axis=1)), ValueError, "pass nodes"),
        (lambda: Graph(adjacency, nodes=19), ValueError, "20 nodes"),
        (lambda: Graph(np.array([[0, 1, 2], [1, 5, 0]]), nodes=5), ValueError, "node 5"),
        (lambda: Graph(adjacency, nodes=1.5), TypeError, "whole number"),
        (lambda: Graph(adjacency, directed="yes"), TypeError, "directed"),
        (lambda: Graph(adjacency - 2), ValueError, "negative|must be"),
        (lambda: plain().fit(X[:7], y[:7], adjacency=Graph(adjacency)), ValueError, "the graph has 20 nodes, but X has 7"),
    ]:
        with pytest.raises(error, match=said):
            make()
