"""Probabilities, prediction sets and intervals: against nodes that are really left out, scikit-learn's sigmoids, and NumPy."""

import numpy as np
import pytest
import reference
from scipy.optimize import minimize_scalar
from sklearn.calibration import _SigmoidCalibration
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss

from gfgcn import GradientFreeClassifier, GradientFreeRegressor, evaluate

# Times what scores of the usual size are divided by.
BENDS = [0, *(2.0**k for k in range(-2, 7))]


def left_out(F, train, targets, lam, intercept=False):
    """The scores of each training node by ridge regression without it."""
    scores = np.empty((len(train), targets.shape[1]))
    for k, node in enumerate(train):
        rest = np.delete(np.arange(len(train)), k)
        model = Ridge(alpha=1 / lam, fit_intercept=intercept).fit(F[train[rest]], targets[rest])
        scores[k] = model.predict(F[node : node + 1]).reshape(-1)
    return scores


def softmax(scores, sharpness, bend):
    logits = sharpness * (np.arcsinh(bend * scores) / bend if bend else scores)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def most_likely(scores, classes):
    """The link under which the classes are most likely, by another optimiser."""

    def fitted(bend):
        loss = lambda log_a: log_loss(classes, softmax(scores, np.exp(log_a), bend), labels=range(scores.shape[1]))
        found = minimize_scalar(loss, bounds=(-5, 12), method="bounded", options={"xatol": 1e-8})
        return found.fun, np.exp(found.x), bend

    size = np.sqrt(np.mean(scores**2))
    _, sharpness, bend = min(fitted(bend / size) for bend in BENDS)
    return sharpness, bend


@pytest.fixture(scope="module")
def papers(cora):
    """A part of Cora that is small enough to leave its nodes out one by one, and a model of it."""
    part = np.flatnonzero(np.arange(cora.X.shape[0]) % 2 == 0)
    X, y, A = cora.X[part], cora.y[part], cora.adjacency[part][:, part]
    train = np.flatnonzero(np.arange(len(part)) % 7 == 0)
    labels = np.full(len(part), -1)
    labels[train] = y[train]
    model = GradientFreeClassifier("ssgc", depth=4).fit(X, labels, adjacency=A)
    return X, y, A, train, model


def test_probabilities_are_those_of_really_leaving_nodes_out(papers):
    X, y, A, train, model = papers
    F = reference.filtered(A.toarray(), X.toarray(), depth=4)
    targets = np.eye(len(model.classes_))[y[train]]
    scores = left_out(F, train, targets, model.lam_)
    sharpness, bend = most_likely(scores, y[train])
    expected = softmax(model.decision_function(), sharpness, bend)
    assert np.allclose(model.predict_proba(), expected, atol=2e-3)
    assert np.allclose(model.predict_proba().sum(axis=1), 1)
    assert (model.classes_[model.predict_proba().argmax(axis=1)] == model.predict()).all()


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.99])
def test_sets_hold_what_is_no_stranger_than_left_out_nodes(papers, coverage):
    X, y, A, train, model = papers
    F = reference.filtered(A.toarray(), X.toarray(), depth=4)
    targets = np.eye(len(model.classes_))[y[train]]
    scores = left_out(F, train, targets, model.lam_)
    probabilities = softmax(scores, *most_likely(scores, y[train]))
    misfits = np.sort(1 - probabilities[np.arange(len(train)), y[train]])
    limit = misfits[int(np.ceil((len(train) + 1) * coverage)) - 1]
    p = model.predict_proba()
    expected = 1 - p <= limit
    expected[np.arange(len(p)), p.argmax(axis=1)] = True
    # Classes at the very limit may fall on either side.
    assert (model.predict_set(coverage=coverage) == expected).mean() > 0.999
    assert model.predict_set(coverage=coverage)[np.arange(len(p)), p.argmax(axis=1)].all()


def test_two_classes(small):
    X, y, adjacency = small
    model = GradientFreeClassifier("ssgc").fit(X, y, adjacency=adjacency)
    p = model.predict_proba()
    assert p.shape == (20, 2) and np.allclose(p.sum(axis=1), 1)
    assert ((p[:, 1] > 0.5) == (model.decision_function() > 0)).all()


def test_label_sets_have_scikit_learns_sigmoids():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 6))
    y = (X[:, :3] + 0.8 * rng.normal(size=(200, 3)) > [0, 0.5, -1]).astype(int)
    model = GradientFreeClassifier(design="identity", lam=0.3).fit(X, y)
    scores = left_out(X, np.arange(200), y.astype(float), 0.3)
    predicted = model.decision_function()
    for label in range(3):
        sigmoid = _SigmoidCalibration().fit(scores[:, label], y[:, label])
        assert np.allclose(model.predict_proba()[:, label], sigmoid.predict(predicted[:, label]), atol=2e-3)
    sets = model.predict_set(coverage=0.95)
    assert sets.shape == y.shape and sets[y == 1].mean() > 0.9


@pytest.mark.parametrize("columns", [1, 2])
def test_intervals_are_as_wide_as_left_out_errors(columns):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 5))
    y = X @ rng.normal(size=(5, columns)) + rng.normal(size=(80, columns)) * [1.0, 10.0][:columns]
    y = y[:, 0] if columns == 1 else y
    model = GradientFreeRegressor(design="identity", lam=0.5).fit(X, y)
    errors = np.abs(left_out(X, np.arange(80), y.reshape(80, columns), 0.5, intercept=True) - y.reshape(80, columns))
    width = np.sort(errors, axis=0)[int(np.ceil(81 * 0.9)) - 1]
    intervals = model.predict_interval(coverage=0.9)
    assert intervals.shape == (*y.shape, 2)
    values = model.predict().reshape(80, columns)
    expected = np.stack([values - width, values + width], axis=-1).reshape(intervals.shape)
    assert np.allclose(intervals, expected, atol=1e-4)


def test_evaluate_judges_what_the_model_says(cora):
    """On one split, by hand: the calibration error in fifteen bins, and what is inside."""
    rng = np.random.default_rng(5)
    order = rng.permutation(cora.X.shape[0])
    train, test = order[:400], order[400:]
    (row,) = evaluate(cora, models=["ssgc"], depths=[8], split=(train, [], test), calibration=True)
    labels = np.full(len(order), -1)
    labels[train] = cora.y[train]
    model = GradientFreeClassifier("ssgc", depth=8).fit(cora.X, labels, adjacency=cora.adjacency)
    p, truth = model.predict_proba()[test], cora.y[test]
    confidence, right = p.max(axis=1), model.predict()[test] == truth
    bins = np.minimum((confidence * 15).astype(int), 14)
    off = [abs(right[bins == b].mean() - confidence[bins == b].mean()) * (bins == b).mean() for b in set(bins)]
    assert row["calibration_error"] == pytest.approx(sum(off), abs=1e-6)
    for percent in (90, 95):
        sets = model.predict_set(coverage=percent / 100)[test]
        assert row[f"coverage_{percent}"] == pytest.approx(100 * sets[np.arange(len(test)), truth].mean(), abs=1e-6)
        assert row[f"size_{percent}"] == pytest.approx(sets.sum(axis=1).mean(), abs=1e-6)


@pytest.mark.parametrize("coverage, error", [(0, ValueError), (1.0, ValueError), (90, ValueError), ("0.9", TypeError)])
def test_a_coverage_that_is_none_is_refused(small, coverage, error):
    X, y, adjacency = small
    with pytest.raises(error, match="coverage"):
        GradientFreeClassifier("ssgc").fit(X, y, adjacency=adjacency).predict_set(coverage=coverage)
