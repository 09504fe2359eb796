"""Nodes that count more than others: against the dense formula, against scikit-learn's ridge, and with each node really left out."""

import networkx
import numpy as np
import pandas as pd
import pytest
from reference import filtered, targets
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from gfgcn import GradientFreeClassifier, GradientFreeRegressor, OnGraph


@pytest.fixture
def weights():
    return np.random.default_rng(1).uniform(0.2, 4, size=20)


def weighted_scores(F, train, y, weights, lam):
    """F W with W = (Fᵀ D F + I/λ)⁻¹ Fᵀ D Y."""
    f, d = F[train], np.diag(weights)
    return F @ np.linalg.solve(f.T @ d @ f + np.eye(F.shape[1]) / lam, f.T @ d @ y)


def test_scores_and_left_out_scores_are_those_of_the_formula(small, weights):
    X, y, adjacency = small
    train = np.flatnonzero(y >= 0)
    F, Y = filtered(adjacency, X, depth=4), targets(y[train], 2)
    model = GradientFreeClassifier(depth=4, lam="loo", scoring="accuracy")
    model.fit(X, y, adjacency=adjacency, sample_weight=weights)
    expected = weighted_scores(F, train, Y, weights[train], model.lam_)
    assert np.allclose(model.decision_function(), expected[:, 0], rtol=1e-4, atol=1e-5)
    right = 0
    for k, node in enumerate(train):
        rest = np.delete(train, k)
        score = weighted_scores(F, rest, np.delete(Y, k, axis=0), weights[rest], model.lam_)[node, 0]
        right += (score > 0) == (y[node] == 1)
    assert model.loo_score_ == right / len(train)
    unweighted = GradientFreeClassifier(depth=4, lam=model.lam_).fit(X, y, adjacency=adjacency)
    assert not np.allclose(unweighted.decision_function(), model.decision_function(), rtol=1e-2)


def test_values_are_those_of_weighted_ridge_regression(small, weights):
    X, _, adjacency = small
    values = np.random.default_rng(2).normal(size=20)
    F = filtered(adjacency, X, depth=2, filter="sgc")
    model = GradientFreeRegressor("sgc", 2, lam="loo", scoring="neg_mean_absolute_error")
    model.fit(X, values, adjacency=adjacency, sample_weight=weights)
    ridge = Ridge(alpha=1 / model.lam_).fit(F, values, sample_weight=weights)
    assert np.allclose(model.predict(), ridge.predict(F), rtol=1e-4, atol=1e-4)
    errors = []
    for node in range(20):
        rest = np.delete(np.arange(20), node)
        without = Ridge(alpha=1 / model.lam_).fit(F[rest], values[rest], sample_weight=weights[rest])
        errors.append(abs(without.predict(F[[node]])[0] - values[node]))
    assert np.isclose(model.loo_score_, -np.mean(errors), rtol=1e-4)
    assert np.isclose(
        model.score(y=values, sample_weight=weights), r2_score(values, model.predict(), sample_weight=weights)
    )


@pytest.mark.parametrize("model", [GradientFreeClassifier(), GradientFreeClassifier(depth=4)], ids=["searched", "described"])
def test_a_weight_of_nothing_is_no_label_and_equal_weights_are_none(small, weights, model):
    X, y, adjacency = small
    with_zeros, without = weights.copy(), y.copy()
    with_zeros[[3, 14]], without[[3, 14]] = 0, -1
    found = model.fit(X, y, adjacency=adjacency, sample_weight=with_zeros).decision_function()
    assert np.array_equal(found, model.fit(X, without, adjacency=adjacency, sample_weight=weights).decision_function())
    plain = model.fit(X, y, adjacency=adjacency).decision_function()
    for ones in (1, np.ones(20), [1.0] * 20):
        assert np.array_equal(model.fit(X, y, adjacency=adjacency, sample_weight=ones).decision_function(), plain)


def test_weights_follow_the_names_of_nodes(small, weights):
    X, y, adjacency = small
    graph = networkx.relabel_nodes(networkx.from_numpy_array(adjacency), lambda k: f"n{k}")
    model = GradientFreeClassifier(depth=4)
    expected = model.fit(X, y, adjacency=graph, sample_weight=weights).decision_function()
    named = pd.Series(weights, index=list(graph.nodes))
    for given in (named, named[::-1], named.to_dict()):
        assert np.array_equal(model.fit(X, y, adjacency=graph, sample_weight=given).decision_function(), expected)


def test_weights_multiply_those_of_classes(small, weights):
    X, y, adjacency = small
    model = GradientFreeClassifier(depth=4, lam=2.0, class_weight={0: 3.0, 1: 0.5})
    both = model.fit(X, y, adjacency=adjacency, sample_weight=weights).decision_function()
    by_hand = weights * np.where(y == 0, 3.0, 0.5)
    alone = GradientFreeClassifier(depth=4, lam=2.0).fit(X, y, adjacency=adjacency, sample_weight=by_hand)
    assert np.allclose(both, alone.decision_function(), rtol=1e-6)


def test_kept_models_remember_weights(small, weights):
    X, y, adjacency = small
    model = GradientFreeClassifier(depth=4, keep_training=True).fit(X, y, adjacency=adjacency, sample_weight=weights)
    without = y.copy()
    without[3] = -1
    fresh = GradientFreeClassifier(depth=4, keep_training=True).fit(X, without, adjacency=adjacency, sample_weight=weights)
    assert np.array_equal(model.forget(labels_of=[3]).decision_function(), fresh.decision_function())
    assert model.receipt_["check"] == "identical"


def test_cross_validation_passes_weights_on(cora):
    nodes = np.flatnonzero(cora.train_mask)
    weights = np.random.default_rng(3).uniform(0.1, 3, size=len(nodes))
    model, folds = OnGraph(GradientFreeClassifier(depth=4), cora), KFold(3, shuffle=True, random_state=0)
    found = cross_val_score(model, nodes, cora.y[nodes], cv=folds, params={"sample_weight": weights})
    by_hand = []
    for train, test in folds.split(nodes):
        y, of_all = np.full(len(cora.y), -1), np.zeros(len(cora.y))
        y[nodes[train]], of_all[nodes[train]] = cora.y[nodes[train]], weights[train]
        fitted = GradientFreeClassifier(depth=4).fit(cora.X, y, adjacency=cora.adjacency, sample_weight=of_all)
        by_hand.append((fitted.predict()[nodes[test]] == cora.y[nodes[test]]).mean())
    assert found.tolist() == by_hand


@pytest.mark.parametrize(
    "given, message",
    [
        (np.ones(19), "expected"),
        (np.ones((20, 2)), "1D"),
        (np.full(20, np.nan), "nan at node 0"),
        (-1, "not negative"),
        (["a"] * 20, "numbers"),
        (np.zeros(20), "are zero"),
        (np.ones(20) * 1j, "Complex"),
        ({77: 1.0}, "no node"),
    ],
)
def test_weights_that_are_none_are_refused(small, given, message):
    X, y, adjacency = small
    with pytest.raises(ValueError, match=message):
        GradientFreeClassifier(depth=4).fit(X, y, adjacency=adjacency, sample_weight=given)


@pytest.mark.filterwarnings("ignore")
def test_a_node_of_weight_two_is_two_nodes_where_lambda_is_given(small):
    """Scikit-learn's own checks of weights, all of which pass where nothing is chosen by leaving nodes out; scores of classes
    are the same, too, but probabilities come from left-out nodes."""
    X, y, _ = small
    copies = np.arange(20) % 4
    model = GradientFreeClassifier("sgc", 2, lam=1.0, fit_intercept=True)
    weighted = model.fit(X, y, sample_weight=copies).decision_function(X)
    repeated = model.fit(np.repeat(X, copies, axis=0), np.repeat(y, copies)).decision_function(X)
    assert np.allclose(weighted, repeated, rtol=1e-6)
    results = check_estimator(GradientFreeRegressor("sgc", 2, lam=1.0), on_fail=None, on_skip=None)
    about = {r["check_name"]: r["status"] for r in results if "sample_weight" in r["check_name"]}
    assert len(about) >= 6 and set(about.values()) == {"passed"}, about
