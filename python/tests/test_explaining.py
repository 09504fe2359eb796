"""Explanations add up, and labels that were made wrong are found."""

import numpy as np
import pytest

import gfgcn
from gfgcn import GradientFreeClassifier, GradientFreeRegressor


@pytest.fixture(scope="module")
def cora():
    return gfgcn.datasets.load("cora")


def total(results):
    return sum(row["term"] for row in results)


def test_every_view_adds_up(cora):
    y = np.where(cora.train_mask, cora.y, -1)
    model = GradientFreeClassifier("sgc", depth=2, keep_training=True).fit(cora.X, y, adjacency=cora.adjacency)
    scores = model.decision_function()
    for node in [0, 1500]:
        for label in [None, 2]:
            why = model.explain(node, label=label)
            own = model.predict()[node] if label is None else label
            assert why.label == own and np.isclose(why.score, scores[node, own], rtol=1e-9)
            assert np.isclose(why.probability, model.predict_proba()[node, own])
            for view in [why.channels, why.features, why.nodes, why.labelled]:
                assert abs(total(view) + why.constant - why.score) < 1e-9
    # By hand: each feature's term is its filtered value times its weight.
    filtered = gfgcn.GraphFilter("sgc", depth=2).fit_transform(cora.X, adjacency=cora.adjacency)
    why = model.explain(1500, label=4)
    for row in why.features[:5]:
        k = row["name"] if isinstance(row["name"], int) else list(cora.feature_names).index(row["name"])
        assert np.isclose(row["term"], filtered[1500, k] * model.coef_[4, k], atol=1e-6)
    mean = model.explain([3, 5, 8], label=1)
    assert np.isclose(mean.score, scores[[3, 5, 8], 1].mean())


def test_it_shows_itself():
    nodes = ["<b>ann</b>", "bea", "cy", "dan"]
    import networkx

    graph = networkx.path_graph(4)
    graph = networkx.relabel_nodes(graph, dict(enumerate(nodes)))
    model = GradientFreeClassifier("sgc", depth=1, keep_training=True)
    model.fit(np.eye(4), {nodes[0]: "x", "dan": "y"}, adjacency=graph)
    why = model.explain("bea")
    shown = why._repr_html_()
    assert "&lt;b&gt;ann" in shown and "<b>ann" not in shown
    assert "By labelled node" in repr(why) and "bea: score" in repr(why)
    with pytest.raises(ValueError, match="no node 'eve'"):
        model.explain("eve")
    with pytest.raises(ValueError, match="the model knows"):
        model.explain("bea", label="z")


def test_another_graph_and_values(cora):
    y = np.where(cora.train_mask, cora.y, -1)
    model = GradientFreeClassifier(depth=2).fit(cora.X, y, adjacency=cora.adjacency)
    with pytest.raises(ValueError, match="pass X and adjacency"):
        model.explain(0)
    why = model.explain(0, cora.X, cora.adjacency)
    assert why.labelled is None and abs(total(why.nodes) + why.constant - why.score) < 1e-9
    X = np.random.default_rng(0).normal(size=(20, 3))
    values = GradientFreeRegressor("sgc", depth=1, keep_training=True).fit(X, X @ [1.0, -2.0, 0.0])
    why = values.explain(4)
    assert why.probability is None and np.isclose(why.score, values.predict()[4])


def test_labels_that_were_made_wrong_come_first(cora):
    rng = np.random.default_rng(3)
    y = cora.y.copy()
    wrong = rng.choice(len(y), 135, replace=False)
    y[wrong] = (y[wrong] + rng.integers(1, 7, len(wrong))) % 7
    found = GradientFreeClassifier(depth=8).audit(cora.X, y, adjacency=cora.adjacency)
    first = {row["node"] for row in found[:135]}
    assert len(first & set(wrong.tolist())) > 0.7 * 135
    assert all(row["given"] == y[row["node"]] and row["given"] != row["expected"] for row in found)
    surprises = [row["surprise"] for row in found]
    assert surprises == sorted(surprises, reverse=True)
    np.testing.assert_allclose(np.exp(-np.array(surprises)), [row["probability"] for row in found], rtol=1e-6)


def test_sets_and_values_are_audited():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 4))
    sets = (X[:, :2] > 0).astype(int)
    sets[7, 1] = 1 - sets[7, 1]
    X[7, 1] = 3 * np.sign(0.5 - sets[7, 1])
    found = GradientFreeClassifier("sgc", depth=1).audit(X, sets)
    assert found[0]["node"] == 7 and found[0]["label"] == "1" and found[0]["given"] == bool(sets[7, 1])
    values = X @ [1.0, 2.0, 0.0, 0.0]
    values[11] += 9
    found = GradientFreeRegressor("sgc", depth=1).audit(X, values)
    assert found[0]["node"] == 11 and np.isclose(found[0]["given"], values[11])
