"""What users expect of an estimator and of a package."""

import copy
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import gfgcn
from gfgcn import GradientFreeClassifier, GraphFilter, Results, evaluate, tune


def test_parameters():
    model = GradientFreeClassifier("sgc", tau=0.2)
    assert repr(model) == "GradientFreeClassifier(filter='sgc', tau=0.2)"
    assert model.set_params(depth=3, lam=2.0) is model
    assert (model.depth, model.lam) == (3, 2.0)
    with pytest.raises(ValueError, match="Invalid parameter 'dept'"):
        model.set_params(dept=3)
    assert repr(GraphFilter(adjacency=np.eye(2))).startswith("GraphFilter(adjacency=array")


def test_nothing_before_fit(small):
    model = GradientFreeClassifier()
    for ask in (model.predict, model.decision_function, lambda: model.lam_, lambda: model.coef_):
        with pytest.raises(ValueError, match="not fitted yet"):
            ask()
    with pytest.raises(ValueError, match="not fitted yet"):
        GraphFilter().transform(small[0])


def test_attributes(small):
    X, y, adjacency = small
    model = GradientFreeClassifier().fit(X, y, adjacency=adjacency)
    assert 0 < model.lam_ < np.inf and 0 <= model.loo_score_ <= 1
    assert model.coef_.shape == (1, 5) and model.intercept_.shape == (1,)
    F = GraphFilter().fit_transform(X, adjacency=adjacency)
    assert np.allclose(F @ model.coef_.T[:, 0], model.decision_function(), atol=1e-5)
    rbf = GradientFreeClassifier(kernel="rbf", lam=1.0).fit(X, y, adjacency=adjacency)
    assert rbf.lam_ == 1.0
    with pytest.raises(AttributeError, match="only a linear kernel"):
        rbf.coef_
    with pytest.raises(AttributeError, match='lam="loo"'):
        rbf.loo_score_


def test_copies_predict_alike(small, tmp_path):
    X, y, adjacency = small
    names = np.array(["north", "south"])
    for kernel in ("linear", "rbf"):
        model = GradientFreeClassifier(kernel=kernel).fit(X, np.where(y < 0, None, names[y]), adjacency=adjacency)
        for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            assert np.array_equal(twin.predict(), model.predict())
            assert np.array_equal(twin.decision_function(X, adjacency), model.decision_function())
        path = tmp_path / f"{kernel}.model"
        model.save(path)
        loaded = GradientFreeClassifier.load(str(path))
        assert loaded.lam_ == model.lam_ and list(loaded.classes_) == list(names)
        assert np.array_equal(loaded.decision_function(X, adjacency), model.decision_function())
        with pytest.raises(ValueError, match="not part of a model file"):
            loaded.predict()
        with pytest.raises(FileExistsError, match="exists already"):
            model.save(path, overwrite=False)
    with pytest.raises(FileNotFoundError, match="nothing.model"):
        GradientFreeClassifier.load(tmp_path / "nothing.model")
    (tmp_path / "bad.model").write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="damaged"):
        GradientFreeClassifier.load(tmp_path / "bad.model")
    with pytest.raises(OSError, match="cannot write"):
        model.save(tmp_path / "no" / "folder.model")


def test_classes_survive_a_file(small, tmp_path):
    X, y, adjacency = small
    path = tmp_path / "m.model"
    for classes, loaded in [
        ([0, 7], [0, 7]),
        (["1", "2"], [1, 2]),
        (["10", "9"], ["10", "9"]),
        (["01", "2"], ["01", "2"]),
        ([False, True], ["False", "True"]),
        ([2.0, 3.0], [2, 3]),
        ([1, 2**63 + 1], ["1", "9223372036854775809"]),
    ]:
        named = np.array([None if v < 0 else classes[v] for v in y], dtype=object)
        model = GradientFreeClassifier().fit(X, named, adjacency=adjacency)
        model.save(path)
        twin = GradientFreeClassifier.load(path)
        assert list(twin.classes_) == loaded
        assert twin.score(X, named, adjacency) == model.score(y=named) > 0.5
    with pytest.raises(ValueError, match="none of which the model has"):
        model.score(y=np.where(y < 0, "", "other"))


def test_scores_are_copies(small):
    X, y, adjacency = small
    model = GradientFreeClassifier().fit(X, y, adjacency=adjacency)
    before = model.decision_function()
    before[:] = 0
    assert model.decision_function().any()


def test_a_forgotten_graph_is_warned_of(small):
    X, y, adjacency = small
    model = GradientFreeClassifier().fit(X, y, adjacency=adjacency)
    with pytest.warns(gfgcn.GraphWarning, match="no adjacency was passed"):
        model.predict(X)


def test_a_filter_that_failed_is_as_before(small):
    X, _, adjacency = small
    filter = GraphFilter(adjacency=adjacency).fit(X)
    expected = filter.transform(X)
    with pytest.raises(ValueError, match="depth is -1"):
        filter.set_params(depth=-1).fit_transform(X[:, :2])
    assert np.array_equal(filter.set_params(depth=8).transform(X), expected)
    for wrong in ({"filter": "foo"}, {"depth": -3}, {"normalization": "x"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            GraphFilter(**wrong).fit(X)


def test_many_jobs(small):
    X, y, adjacency = small
    one, many = (GradientFreeClassifier(n_jobs=n).fit(X, y, adjacency) for n in (1, 10**9))
    assert np.array_equal(one.decision_function(), many.decision_function())


def test_pickles_are_the_model_file(small):
    X, y, adjacency = small
    model = GradientFreeClassifier().fit(X, y, adjacency=adjacency)
    assert model._model.to_bytes() in pickle.dumps(model)


def test_another_graph(small):
    """New nodes on a new graph: what is computed from both alike."""
    X, y, adjacency = small
    model = GradientFreeClassifier(lam=1.0).fit(X, y, adjacency=adjacency)
    F = GraphFilter().fit_transform(X[:15], adjacency=adjacency[:15, :15])
    expected = F @ model.coef_.T[:, 0]
    ours = model.decision_function(X[:15], adjacency=adjacency[:15, :15])
    assert np.allclose(ours, expected, atol=1e-5)


def test_threads_change_nothing(cora):
    scores = [GradientFreeClassifier(n_jobs=n).fit(cora).decision_function() for n in (1, 2, -1, None)]
    assert all(np.array_equal(scores[0], other) for other in scores)


def test_inputs_are_left_alone(small):
    X, y, adjacency = small
    before = [value.copy() for value in small]
    GradientFreeClassifier(row_normalize=True).fit(X, y, adjacency=adjacency)
    assert all(np.array_equal(a, b) for a, b in zip(small, before))


def test_results_show_themselves(cora):
    results = evaluate(cora, filters=["ssgc", "dgc"], depths=[2], splits=2)
    lines = repr(results).splitlines()
    assert lines[0].split() == ["model", "depth", "tau", "time", "accuracy", "std_error", "lam", "seconds"]
    assert len(lines) == 3 and "gfDGC" in lines[2]
    page = results._repr_html_()
    assert page.count("<tr>") == 3 and page.count("<th>") == 8
    assert "&lt;b&gt;" in Results([{"<b>": 1}])._repr_html_()
    assert repr(Results([{"k": k} for k in range(30)])).endswith("… and 10 more")
    import pandas as pd

    frame = pd.DataFrame(results)
    assert list(frame["model"]) == ["gfSSGC", "gfDGC"] and frame["accuracy"].between(0, 100).all()
    tuned = tune(cora)
    assert repr(tuned).startswith("100 % SSGC: chosen from ") and "expected accuracy 8" in repr(tuned)
    assert "<table>" in tuned._repr_html_()


def test_importing_is_light():
    """Only NumPy is loaded: SciPy, scikit-learn and the like when they are needed, if ever."""
    others = ("scipy", "sklearn", "pandas", "networkx", "torch")
    program = f"import sys, gfgcn; print([other for other in {others} if other in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_works_without_scikit_learn(tmp_path):
    program = textwrap.dedent(
        """
        import sys
        for absent in ("sklearn", "pandas", "networkx", "torch"):
            sys.modules[absent] = None
        from gfgcn import GradientFreeClassifier, datasets, evaluate, tune
        cora = datasets.load("cora")
        assert GradientFreeClassifier().fit(cora).score(cora, mask=cora.test_mask) > 0.8
        try:
            GradientFreeClassifier().predict()
        except ValueError as error:
            print(type(error).__name__)
        """
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "NotFittedError"


def test_version_is_the_package_s():
    from importlib.metadata import metadata, version

    assert gfgcn.__version__ == version("gfgcn")
    required = [line for line in metadata("gfgcn").get_all("Requires-Dist") if "extra ==" not in line]
    assert sorted(name.split(">")[0] for name in required) == ["numpy", "scipy"]
