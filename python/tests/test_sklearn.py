"""In the company of scikit-learn."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from gfgcn import GradientFreeClassifier, GradientFreeRegressor, GraphFilter

# Checks that cannot pass, each with its reason.
WEIGHTS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "a row of weight two is the row twice only where nothing is chosen by "
    "the rows: leaving one of two copies out leaves the other, so λ and probabilities, which left-out rows decide, are others, "
    "and so is the width of a kernel; test_weights.py has the case in which they are the same"
    for kind in ("dense", "sparse")
}
CHANGES = {
    **WEIGHTS,
    "check_fit_score_takes_y": "it calls partial_fit after a fit that was not asked to keep what partial_fit adds to, with "
    "keep_training=True",
}
EXPECTED = {
    **CHANGES,
    "check_classifiers_classes": "its labels are -1 and 1, and -1 stands for unlabelled, as in scikit-learn's own "
    "LabelPropagation, which the check leaves out by name",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator, expected",
    [
        (GradientFreeClassifier(), EXPECTED),
        (GradientFreeClassifier("sgc", 2, kernel="rbf", lam=1.0, fit_intercept=True), EXPECTED),
        (GradientFreeRegressor(), CHANGES),
        (GradientFreeRegressor("sgc", 2, kernel="rbf", lam=1.0), CHANGES),
        (GradientFreeRegressor("sgc", 2, keep_training=True), WEIGHTS),
        (GraphFilter(), {}),
    ],
    ids=[
        "classifier",
        "with another kernel",
        "regressor",
        "regressor with another kernel",
        "that keeps its training",
        "filter",
    ],
)
def test_check_estimator(estimator, expected):
    """Every check that scikit-learn has for an estimator, on data without a graph."""
    results = check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert not failed
    # Those that are expected to fail still do: otherwise the reason is none any more.
    xfailed = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert xfailed == set(expected)
    skipped = {result["check_name"] for result in results if result["status"] == "skipped"}
    # What needs another array library, and what is about probabilities, which are not promised.
    assert skipped <= {"check_array_api_input", "check_classifiers_multilabel_output_format_predict_proba"}


def test_clone_and_tags():
    model = GradientFreeClassifier("dgc", 16, time=3.0, kernel="cosine", n_jobs=2)
    twin = clone(model)
    assert twin is not model and twin.get_params() == model.get_params()
    assert is_classifier(model) and is_regressor(GradientFreeRegressor())


def test_pipeline(cora):
    """Logistic regression on filtered features: the paper's SGC."""
    train, test = cora.train_mask, cora.test_mask
    F = GraphFilter("sgc", 2).fit_transform(cora.X, adjacency=cora.adjacency)
    direct = LogisticRegression(max_iter=500).fit(F[train], cora.y[train])
    assert direct.score(F[test], cora.y[test]) > 0.78
    whole = make_pipeline(GraphFilter("sgc", 2, adjacency=cora.adjacency), LogisticRegression(max_iter=500))
    by_argument = make_pipeline(GraphFilter("sgc", 2), LogisticRegression(max_iter=500))
    whole.fit(cora.X, cora.y)
    by_argument.fit(cora.X, cora.y, graphfilter__adjacency=cora.adjacency)
    assert np.array_equal(whole.predict(cora.X), by_argument.predict(cora.X))


def test_graphs_go_through_pipelines(small):
    """With scikit-learn's metadata routing, to the steps that ask for them."""
    import sklearn
    from sklearn.preprocessing import StandardScaler

    X, y, adjacency = small
    with sklearn.config_context(enable_metadata_routing=True):
        asking = GradientFreeClassifier().set_fit_request(adjacency=True).set_predict_request(adjacency=True)
        pipeline = clone(make_pipeline(StandardScaler(), asking))
        pipeline.fit(X, y, adjacency=adjacency)
        ours = pipeline.predict(X, adjacency=adjacency)
        asking = GraphFilter().set_fit_request(adjacency=True).set_transform_request(adjacency=True)
        filtered = make_pipeline(StandardScaler(), asking).fit(X, adjacency=adjacency)
        by_filter = filtered.transform(X, adjacency=adjacency)
    scaled = StandardScaler().fit_transform(X)
    assert np.array_equal(ours, GradientFreeClassifier().fit(scaled, y, adjacency).predict())
    assert np.array_equal(by_filter, GraphFilter().fit_transform(scaled, adjacency=adjacency))


def test_data_frames_come_out_where_they_are_asked_for(small):
    import pandas as pd
    import sklearn

    X, _, adjacency = small
    frame = pd.DataFrame(X, columns=list("abcde"), index=range(100, 120))
    filter = GraphFilter(adjacency=adjacency)
    plain = filter.fit_transform(frame)
    assert isinstance(plain, np.ndarray)
    with sklearn.config_context(transform_output="pandas"):
        everywhere = filter.fit_transform(frame)
    here = make_pipeline(GraphFilter(adjacency=adjacency)).set_output(transform="pandas").fit_transform(frame)
    for result in (everywhere, here):
        assert list(result.columns) == list("abcde") and list(result.index) == list(range(100, 120))
        assert np.array_equal(result.to_numpy(), plain)
    with pytest.raises(ValueError, match="default, pandas or polars"):
        filter.set_output(transform="x")


def test_model_selection():
    """Without a graph it is an estimator like any other."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 3)) + 5 * np.eye(3)[y]
    scores = cross_val_score(GradientFreeClassifier(), X, y, cv=3)
    assert scores.mean() > 0.95
    search = GridSearchCV(GradientFreeClassifier(), {"kernel": ["linear", "rbf"]}, cv=3).fit(X, y)
    assert set(search.best_params_) == {"kernel"}


def test_feature_names(small):
    import pandas as pd

    X, y, adjacency = small
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = GradientFreeClassifier().fit(frame, y, adjacency=adjacency)
    assert list(model.feature_names_in_) == list("abcde")
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(frame[list("edcba")], adjacency=adjacency)
    with pytest.raises(ValueError, match="unseen at fit time:\n- z"):
        model.predict(frame.rename(columns={"a": "z"}), adjacency=adjacency)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X, adjacency=adjacency)
    with pytest.raises(ValueError, match="X has 4 features, but GradientFreeClassifier is expecting 5"):
        model.fit(X, y, adjacency=adjacency).predict(X[:, :4], adjacency=adjacency)
    assert not hasattr(model, "feature_names_in_"), "forgotten by a fit without names"
    transformer = GraphFilter(adjacency=adjacency).fit(frame)
    assert list(transformer.get_feature_names_out()) == list("abcde")
    with pytest.raises(TypeError, match="string names"):
        model.fit(frame.rename(columns={"a": 1}), y, adjacency=adjacency)
