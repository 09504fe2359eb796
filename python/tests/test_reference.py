"""The engine against the mathematics, on random graphs."""

import numpy as np
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from gfgcn import GradientFreeClassifier, GraphFilter

KERNELS = [
    "linear",
    "polynomial:degree=2,coefficient=1,gamma=0.5",
    "rbf:gamma=0.3",
    "laplacian:gamma=0.2",
    "cosine",
    "arccosine:order=1",
]


@st.composite
def graphs(draw):
    """A graph with features, labels on some nodes, and a filter."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    nodes, columns = draw(st.integers(4, 24)), draw(st.integers(1, 8))
    upper = np.triu(rng.random((nodes, nodes)) < draw(st.sampled_from([0.0, 0.1, 0.4])), 1)
    if draw(st.booleans()):
        upper = upper * rng.uniform(0.5, 2, upper.shape)
    adjacency = (upper + upper.T).astype(np.float32).astype(np.float64)
    X = rng.normal(size=(nodes, columns)).astype(np.float32)
    classes = draw(st.integers(2, 4))
    labelled = draw(st.integers(classes, nodes))
    y = np.full(nodes, -1)
    y[rng.permutation(nodes)[:labelled]] = np.arange(labelled) % classes
    chosen = {
        "filter": draw(st.sampled_from(["sgc", "ssgc", "dgc"])),
        "depth": draw(st.integers(1, 12)),
        "tau": draw(st.sampled_from([0.0, 0.05, 0.5, 1.0])),
        "time": draw(st.sampled_from([0.5, 1.0])),
        "normalization": draw(st.sampled_from(["sym", "row"])),
    }
    return X, y, adjacency, classes, chosen


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_filters(graph):
    X, _, adjacency, _, chosen = graph
    ours = GraphFilter(**chosen).fit_transform(X, adjacency=adjacency)
    theirs = reference.filtered(adjacency, X, **chosen)
    assert np.abs(ours - theirs).max() < 1e-5 * np.abs(X).max()


@settings(max_examples=150, deadline=None)
@given(graphs(), st.sampled_from(KERNELS), st.sampled_from([0.1, 1.0, 10.0]), st.booleans())
def test_scores(graph, kernel, lam, intercept):
    X, y, adjacency, classes, chosen = graph
    model = GradientFreeClassifier(kernel=kernel, lam=lam, fit_intercept=intercept, **chosen)
    ours = model.fit(X, y, adjacency=adjacency).decision_function()
    train = np.flatnonzero(y >= 0)
    F = reference.filtered(adjacency, X, **chosen)
    theirs = reference.scores(F, train, y[train], classes, lam, kernel, intercept)
    ours = ours[:, None] if ours.ndim == 1 else ours
    # The arc cosine is steep where vectors are parallel: there single precision leaves its square root.
    tolerance = 3e-3 if kernel.startswith("arccosine") else 2e-4
    assert np.abs(ours - theirs).max() < tolerance * max(1, np.abs(theirs).max())


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_leave_one_out(graph):
    """The left-out accuracy at the chosen λ is what leaving out really gives, up to ties."""
    X, y, adjacency, classes, chosen = graph
    model = GradientFreeClassifier(**chosen).fit(X, y, adjacency=adjacency)
    train = np.flatnonzero(y >= 0)
    F = reference.filtered(adjacency, X, **chosen)
    if np.linalg.norm(F[train]) < 1e-3 or 1 / model.lam_ < 1e-5 * (F[train] ** 2).sum(axis=1).mean():
        return  # nearly unregularised: rounding decides
    expected = reference.left_out_accuracy(F, train, y[train], classes, model.lam_)
    assert abs(model.loo_score_ - expected) <= 1.5 / len(train)


def test_leave_one_out_on_a_fixed_graph(small):
    X, y, adjacency = small
    model = GradientFreeClassifier().fit(X, y, adjacency=adjacency)
    train = np.flatnonzero(y >= 0)
    F = reference.filtered(adjacency, X)
    assert model.loo_score_ == reference.left_out_accuracy(F, train, y[train], 2, model.lam_)


def test_no_graph_is_ridge_regression():
    """scikit-learn's closed form, with its penalty our 1/λ."""
    from sklearn.linear_model import RidgeClassifier

    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 7)), np.arange(60) % 2
    theirs = RidgeClassifier(alpha=1 / 0.5, fit_intercept=True).fit(X, y)
    ours = GradientFreeClassifier(lam=0.5, fit_intercept=True).fit(X, y)
    assert np.allclose(ours.decision_function(), theirs.decision_function(X), atol=1e-5)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert np.allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    three = np.arange(60) % 3
    ours, theirs = ours.fit(X, three), theirs.fit(X, three)
    # Targets 0 and 1 instead of -1 and 1: scores are (theirs + 1) / 2.
    assert np.allclose(2 * ours.decision_function() - 1, theirs.decision_function(X), atol=1e-5)
