"""Values, label sets, class weights and metrics, against scikit-learn and against really leaving nodes out."""

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import reference
import scipy.sparse as sp
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics import balanced_accuracy_score, f1_score, r2_score, roc_auc_score

from gfgcn import GradientFreeClassifier, GradientFreeRegressor, evaluate, tune


@pytest.fixture
def measured(small):
    """Values of half of the nodes, two of them each, that follow from features around a node."""
    X, _, adjacency = small
    rng = np.random.default_rng(1)
    y = reference.filtered(adjacency, X) @ rng.normal(size=(5, 2)) + 0.05 * rng.normal(size=(20, 2)) + [3, -100]
    known = np.arange(20) % 2 == 0
    return X, np.where(known[:, None], y, np.nan), adjacency, y


@pytest.fixture
def tagged(small):
    """Three labels, of which nodes have any number, in any combination."""
    X, _, adjacency = small
    y = (X[:, :3] > 0.5).astype(int)
    y[:, 2] = 1 - y[:, 0] * y[:, 1]
    return X, y, adjacency


def test_values_are_ridge_regression():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 7)), rng.normal(size=(60, 2)) + 10
    for target in (y, y[:, 0], y[:, :1]):
        theirs = Ridge(alpha=1 / 0.5).fit(X, target)
        ours = GradientFreeRegressor(lam=0.5).fit(X, target)
        assert ours.predict().shape == target.shape
        assert np.allclose(ours.predict(), theirs.predict(X).reshape(target.shape), atol=1e-4)
        assert np.allclose(ours.coef_, theirs.coef_, atol=1e-5)
        assert np.allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
        assert ours.score(X, target) == pytest.approx(r2_score(target, theirs.predict(X)), abs=1e-5)


@pytest.mark.parametrize("scoring, sign", [(None, 1), ("neg_mean_absolute_error", -1), ("mae", 1)])
def test_left_out_values(measured, scoring, sign):
    """Really leaves each node out, at the λ that was chosen."""
    X, y, adjacency, _ = measured
    model = GradientFreeRegressor("ssgc", scoring=scoring).fit(X, y, adjacency=adjacency)
    F, train = reference.filtered(adjacency, X), np.flatnonzero(~np.isnan(y[:, 0]))
    left_out = np.empty((len(train), 2))
    for k in range(len(train)):
        rest = np.delete(train, k)
        left_out[k] = Ridge(alpha=1 / model.lam_).fit(F[rest], y[rest]).predict(F[train[k : k + 1]])[0]
    expected = r2_score(y[train], left_out) if scoring is None else sign * np.abs(y[train] - left_out).mean()
    assert model.loo_score_ == pytest.approx(expected, abs=1e-3)


def test_values_in_whatever_holds_them(measured):
    X, y, adjacency, truth = measured
    expected = GradientFreeRegressor("ssgc").fit(X, y, adjacency=adjacency)
    assert expected.score(y=truth) > 0.8
    names = [f"n{k}" for k in range(20)]
    graph = nx.relabel_nodes(nx.from_numpy_array(adjacency), dict(enumerate(names)))
    known = np.flatnonzero(~np.isnan(y[:, 0]))
    for given in (
        y.tolist(),
        pd.DataFrame(y, columns=["height", "depth"]),
        np.ma.array(np.nan_to_num(y), mask=np.isnan(y)),
        y.astype(object),
        {int(k): y[k] for k in known},
    ):
        again = GradientFreeRegressor("ssgc").fit(X, given, adjacency=adjacency)
        assert np.array_equal(again.predict(), expected.predict())
    by_name = GradientFreeRegressor("ssgc").fit(X, {f"n{k}": y[k] for k in known}, adjacency=graph)
    assert np.array_equal(by_name.predict_dict()["n3"], expected.predict()[3])
    twin = pickle.loads(pickle.dumps(expected))
    assert np.array_equal(twin.predict(X, adjacency), expected.predict())


def test_values_are_searched_and_saved(measured, tmp_path):
    X, y, adjacency, _ = measured
    model = GradientFreeRegressor().fit(X, y[:, 0], adjacency=adjacency)
    assert sum(model.shares_.values()) == pytest.approx(1)
    tuned = tune(X, y[:, 0], adjacency, values=True)
    assert np.array_equal(tuned.model.predict(), model.predict()) and "expected R² " in repr(tuned)
    with pytest.raises(AttributeError, match="regressor"):
        tuned.classifier()
    model.save(tmp_path / "m.model")
    loaded = GradientFreeRegressor.load(tmp_path / "m.model")
    assert np.array_equal(loaded.predict(X, adjacency), model.predict())
    with pytest.raises(ValueError, match="load it with GradientFreeRegressor"):
        GradientFreeClassifier.load(tmp_path / "m.model")


def test_label_sets(tagged, tmp_path):
    X, y, adjacency = tagged
    hidden = np.where(np.arange(20)[:, None] % 3 == 0, -1, y)
    model = GradientFreeClassifier("sgc", 1, lam=10.0).fit(X, hidden, adjacency=adjacency)
    predicted, scores = model.predict(), model.decision_function()
    assert predicted.shape == scores.shape == y.shape and set(np.unique(predicted)) <= {0, 1}
    assert list(model.classes_) == [0, 1, 2]
    train = np.flatnonzero(hidden[:, 0] >= 0)
    F = reference.filtered(adjacency, X, "sgc", 1)
    theirs = Ridge(alpha=0.1, fit_intercept=False).fit(F[train], y[train]).predict(F)
    assert np.allclose(scores, theirs, atol=1e-4)
    threshold = scores[predicted == 1].min()
    assert (scores[predicted == 0] < threshold).all(), "one threshold for all"
    assert model.score(y=y) == pytest.approx(f1_score(y, predicted, average="micro"))
    assert model.score(y=hidden) == pytest.approx(f1_score(y[train], predicted[train], average="micro"))
    frame = pd.DataFrame(np.where(hidden < 0, np.nan, y), columns=["sea", "air", "land"])
    by_name = GradientFreeClassifier("sgc", 1, lam=10.0).fit(X, frame, adjacency=adjacency)
    assert np.array_equal(by_name.predict(), predicted) and list(by_name.classes_) == ["sea", "air", "land"]
    sparse = GradientFreeClassifier("sgc", 1, lam=10.0).fit(X, sp.csr_array(y), adjacency=adjacency)
    assert sparse.predict().shape == y.shape
    model.save(tmp_path / "m.model")
    assert np.array_equal(GradientFreeClassifier.load(tmp_path / "m.model").predict(X, adjacency), predicted)


def test_a_label_that_no_training_node_has_is_not_predicted(tagged):
    X, y, adjacency = tagged
    wider = np.column_stack([y[:, 0], np.zeros(20, dtype=int), y[:, 1:]])
    model, narrow = (GradientFreeClassifier("sgc", 1, lam=10.0).fit(X, labels, adjacency) for labels in (wider, y))
    assert not model.predict()[:, 1].any() and not model.decision_function()[:, 1].any()
    assert np.array_equal(model.predict()[:, [0, 2, 3]], narrow.predict())


def test_two_labels_of_one_name_are_refused(tagged):
    X, y, adjacency = tagged
    with pytest.raises(ValueError, match="two columns of y are called 'a'"):
        GradientFreeClassifier().fit(X, pd.DataFrame(y, columns=["a", "b", "a"]), adjacency=adjacency)


def test_label_sets_are_searched(tagged):
    X, y, adjacency = tagged
    model = GradientFreeClassifier().fit(X, np.where(np.arange(20)[:, None] % 3 == 0, -1, y), adjacency=adjacency)
    assert 0 < model.expected_score_ <= 1 and model.predict().shape == y.shape
    results = evaluate(X, y, adjacency, models=["features", "auto"], splits=2, ratio="1:0:1", scoring="f1_macro")
    assert [row["model"] for row in results] == ["features", "auto"] and "accuracy" not in results[0]
    assert {row["metric"] for row in results} == {"macro-f1"} and all(0 < row["score"] <= 100 for row in results)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weights", ["balanced", {0: 5.0, 1: 0.25}], ids=str)
def test_class_weights(classes, weights):
    """Weighted least squares, as scikit-learn has it, and exactly left out."""
    rng = np.random.default_rng(2)
    y = np.array([0] * 30 + [1] * 8 + [classes - 1] * 10)
    X = rng.normal(size=(48, 6)) + y[:, None]
    for intercept in (False, True):
        theirs = RidgeClassifier(alpha=2.0, fit_intercept=intercept, class_weight=weights).fit(X, y)
        ours = GradientFreeClassifier(lam=0.5, fit_intercept=intercept, class_weight=weights).fit(X, y)
        expected = theirs.decision_function(X)
        if classes == 3 and intercept:
            expected = (expected + 1) / 2  # targets 0 and 1 instead of -1 and 1
        if classes == 2 or intercept:
            assert np.allclose(ours.decision_function(), expected, atol=1e-4)
    model = GradientFreeClassifier("ssgc", fit_intercept=True, class_weight=weights).fit(X, y)
    right = 0
    for node in range(48):
        rest = np.delete(np.arange(48), node)
        # The weights are those of all training nodes: leaving one out does not change how much the others count.
        of_class = weights if isinstance(weights, dict) else {c: 48 / (classes * np.sum(y == c)) for c in range(classes)}
        left = RidgeClassifier(alpha=1 / model.lam_, class_weight=of_class).fit(X[rest], y[rest])
        right += left.predict(X[node : node + 1])[0] == y[node]
    assert model.loo_score_ == pytest.approx(right / 48, abs=1.5 / 48)


def test_weights_of_named_classes(small, tmp_path):
    X, y, adjacency = small
    named = np.where(y < 0, None, np.array(["north", "south"])[y])
    weights = {"south": 4.0}
    model = GradientFreeClassifier(lam=1.0, class_weight=weights).fit(X, named, adjacency=adjacency)
    by_number = GradientFreeClassifier("ssgc", lam=1.0, class_weight={1: 4}).fit(X, y, adjacency=adjacency)
    assert np.array_equal(model.decision_function(), by_number.decision_function())
    by_number.save(tmp_path / "m.model")
    loaded = GradientFreeClassifier.load(tmp_path / "m.model")
    assert loaded.class_weight == {1: 4.0} and loaded.get_params() == by_number.get_params()


@pytest.mark.parametrize(
    "scoring, metric",
    [
        ("balanced_accuracy", lambda y, codes, scores: balanced_accuracy_score(y, codes)),
        ("f1_macro", lambda y, codes, scores: f1_score(y, codes, average="macro")),
        ("macro-f1", lambda y, codes, scores: f1_score(y, codes, average="macro")),
        ("roc_auc", lambda y, codes, scores: roc_auc_score(y, scores)),
        ("auc", lambda y, codes, scores: roc_auc_score(y, scores)),
    ],
)
def test_metrics_on_left_out_nodes(scoring, metric):
    rng = np.random.default_rng(3)
    y = (np.arange(40) % 4 == 0).astype(int)
    X = (rng.normal(size=(40, 4)) + y[:, None]).astype(np.float32)
    model = GradientFreeClassifier("ssgc", scoring=scoring).fit(X, y)
    scores = np.empty(40)
    for node in range(40):
        rest = np.delete(np.arange(40), node)
        left = RidgeClassifier(alpha=1 / model.lam_, fit_intercept=False).fit(X[rest], y[rest])
        scores[node] = left.decision_function(X[node : node + 1])[0]
    assert model.loo_score_ == pytest.approx(metric(y, scores > 0, scores), abs=0.03)


@pytest.mark.parametrize(
    "estimator, y, message",
    [
        (GradientFreeClassifier(scoring="r2"), None, "r2 does not fit classes"),
        (GradientFreeClassifier(scoring="neg_log_loss"), None, "scoring is neg_log_loss, but must be accuracy"),
        (GradientFreeClassifier(scoring="f1_micro"), None, "micro-f1 does not fit classes"),
        (GradientFreeRegressor(scoring="accuracy"), None, "accuracy does not fit values"),
        (GradientFreeClassifier(class_weight={7: 1.0}), None, "a weight for 7, which no node has; the classes are 0, 1"),
        (GradientFreeClassifier(class_weight={0: -1.0}), None, "class weight is 0=-1, but must be a positive finite number"),
        (GradientFreeClassifier(class_weight="fair"), None, "class_weight is 'fair', but must be None, 'balanced' or a dict"),
        (GradientFreeClassifier(class_weight="balanced"), np.eye(20, 3), "it is for classes, and y has none"),
        (GradientFreeClassifier(), np.full((20, 3), 2), "y has 2 in row 0, column 0: a matrix of labels holds 0 and 1"),
        (GradientFreeClassifier(), np.zeros((20, 3)), "no node has a label"),
        (GradientFreeClassifier(), np.zeros((19, 3)), "inconsistent numbers of samples: [20, 19]"),
        (GradientFreeClassifier(), np.where(np.eye(20, 3) > 0, -1, 0), "row 0 of y has labels that are not known"),
        (GradientFreeClassifier(), np.full((20, 3), "x"), "a matrix of 0 and 1"),
        (GradientFreeRegressor(), np.full(20, np.nan), "no node has"),
        (GradientFreeRegressor(), np.full(20, np.inf), "Input y contains infinity"),
        (GradientFreeRegressor(), np.zeros(19), "inconsistent numbers of samples: [20, 19]"),
        (GradientFreeRegressor(), np.zeros((20, 1, 1)), "(nodes,) or (nodes, columns)"),
        (GradientFreeRegressor(), np.where(np.eye(20, 2) > 0, np.nan, 1.0), "give all or none"),
        (GradientFreeRegressor(), ["a"] * 20, "for classes use a classifier"),
        (GradientFreeRegressor(), np.ones(20) * 1j, "Complex data not supported"),
        (GradientFreeRegressor(), {99: 1.0}, "which is no node"),
        (GradientFreeClassifier(design="ssgc:depth=x"), None, "depth"),
        (GradientFreeClassifier("sgc", design="identity"), None, "filter is given, but design='identity' says that as well"),
        (GradientFreeClassifier(normalization="row", design="identity"), None, "normalization is given"),
    ],
)
def test_refusals(small, estimator, y, message):
    X, labels, adjacency = small
    y = np.arange(20.0) if y is None and isinstance(estimator, GradientFreeRegressor) else labels if y is None else y
    with pytest.raises(ValueError) as caught:
        estimator.fit(X, y, adjacency=adjacency)
    assert message in str(caught.value)


def test_scores_of_another_kind_are_refused(tagged, measured):
    X, y, adjacency = tagged
    sets = GradientFreeClassifier("sgc").fit(X, y, adjacency=adjacency)
    with pytest.raises(ValueError, match="y has classes, but the model predicts sets of labels"):
        sets.score(y=y[:, 0])
    with pytest.raises(ValueError, match="y has 2 labels, but the model predicts 3"):
        sets.score(y=y[:, :2])
    classes = GradientFreeClassifier("sgc").fit(X, y[:, 0], adjacency=adjacency)
    with pytest.raises(ValueError, match="y has sets of labels, but the model predicts classes"):
        classes.score(y=y)
    values = GradientFreeRegressor("sgc").fit(X, y[:, 0], adjacency=adjacency)
    with pytest.raises(ValueError, match="y has 3 columns, but the model predicts 1"):
        values.score(y=y)


def test_a_design_as_text(small):
    """Channels side by side add up their kernels."""
    X, y, adjacency = small
    model = GradientFreeClassifier(design="0.5*ssgc:depth=8 + identity/unit", lam=1.0).fit(X, y, adjacency=adjacency)
    F = reference.filtered(adjacency, X)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    train = np.flatnonzero(y >= 0)
    both = np.column_stack([np.sqrt(0.5) * F, unit])
    assert np.allclose(model.decision_function(), reference.scores(both, train, y[train], 2, 1.0)[:, 0], atol=1e-4)
    plain = GradientFreeClassifier(design="sgc:depth=2").fit(X, y, adjacency=adjacency)
    assert np.array_equal(plain.predict(), GradientFreeClassifier("sgc", 2).fit(X, y, adjacency=adjacency).predict())
    with pytest.raises(AttributeError, match="known after a search"):
        plain.board_
