"""The same engine as the command line's: the same labels, the same numbers, the same files."""

import csv
import json

import numpy as np
import pytest
from conftest import local_data

from gfgcn import GradientFreeClassifier, datasets, evaluate, tune

FILTERS = ["sgc", "ssgc", "dgc"]
KERNELS = ["linear", "polynomial", "rbf", "laplacian", "cosine", "arccosine"]


def labels_of(path):
    with open(path, newline="") as file:
        return [row["label"] for row in csv.DictReader(file)]


@pytest.fixture(scope="module")
def evaluated(gfgcn):
    """What the command line says about all filters, kernel by kernel, each asked for once."""
    known = {}

    def ask(kernel):
        if kernel not in known:
            models = ",".join(f"gf{filter}" for filter in FILTERS)
            chosen = ["--public-split", "--all-nodes", "--models", models, "--depths", 8, "--kernel", kernel]
            known[kernel] = json.loads(gfgcn("evaluate", "cora", *chosen, "--json"))["results"]
        return known[kernel]

    return ask


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_filter_and_kernel(evaluated, cora, kernel):
    split = (cora.train_mask, cora.val_mask, cora.test_mask)
    ours = evaluate(cora, filters=FILTERS, depths=[8], kernel=kernel, split=split)
    theirs = evaluated(kernel)
    assert [row["model"] for row in ours] == [row["model"] for row in theirs] == ["gfSGC", "gfSSGC", "gfDGC"]
    assert [row["accuracy"] for row in ours] == [row["accuracy"]["mean"] for row in theirs]
    assert [row["lam"] for row in ours] == [row["lambda_median"] for row in theirs]


# Every dataset, filter and kernel; what one of them does with another is the engine's alone.
@pytest.mark.parametrize(
    "name, filter, kernel",
    [
        ("cora", "sgc", "linear"),
        ("cora", "ssgc", "polynomial"),
        ("cora", "dgc", "rbf"),
        ("citeseer", "sgc", "laplacian"),
        ("citeseer", "ssgc", "cosine"),
        ("citeseer", "dgc", "arccosine"),
        ("pubmed", "ssgc", "linear"),
        ("pubmed", "dgc", "rbf"),
    ],
)
def test_labels(gfgcn, tmp_path, name, filter, kernel):
    data = datasets.load(name)
    model, table = tmp_path / "m.model", tmp_path / "p.csv"
    chosen = ["--public-split", "--model", f"gf{filter}", "--depth", 8, "--kernel", kernel]
    gfgcn("fit", name, *chosen, "-o", model)
    gfgcn("predict", model, name, "-o", table)
    ours = GradientFreeClassifier(filter, 8, kernel=kernel).fit(data)
    assert list(data.class_names[ours.predict()]) == labels_of(table)


def test_models_go_both_ways(gfgcn, tmp_path, cora):
    model, table = tmp_path / "m.model", tmp_path / "p.csv"
    ours = GradientFreeClassifier("dgc", 16, kernel="rbf").fit(cora)
    ours.save(model)
    gfgcn("predict", model, "cora", "-o", table)
    assert labels_of(table) == list(cora.class_names[ours.predict()])
    by_numbers = GradientFreeClassifier("dgc", 16, kernel="rbf").fit(cora.X, cora.y_train, cora.adjacency)
    by_numbers.save(model)
    gfgcn("predict", model, "cora", "-o", table, "--force")
    assert [int(label) for label in labels_of(table)] == list(ours.predict())
    gfgcn("fit", "cora", "--public-split", "--model", "gfsgc", "--depth", 2, "--lambda", 0.5, "-o", model, "--force")
    theirs = GradientFreeClassifier.load(model)
    assert theirs.get_params() == GradientFreeClassifier("sgc", 2, lam=0.5).get_params()
    again = GradientFreeClassifier("sgc", 2, lam=0.5).fit(cora)
    assert np.array_equal(theirs.predict(cora), cora.class_names[again.predict()])
    assert theirs.score(cora, mask=cora.test_mask) == again.score(cora, mask=cora.test_mask)


def test_accuracies(gfgcn, cora):
    report = json.loads(gfgcn("evaluate", "cora", "--depths", "2,8", "--splits", 3, "--seed", 5, "--json"))
    ours = evaluate(cora, depths=[2, 8], splits=3, seed=5)
    assert len(ours) == len(report["results"]) == 6
    for row, theirs in zip(ours, report["results"]):
        assert (row["model"], row["depth"]) == (theirs["model"], theirs["depth"])
        assert row["accuracy"] == theirs["accuracy"]["mean"]
        assert row["std_error"] == theirs["accuracy"]["std_error"]
        assert row["lam"] == theirs["lambda_median"]


def test_accuracy_on_the_public_split(gfgcn, cora):
    """To the last digit: of evaluate, and of a model that is fitted and scored."""
    options = ["--models", "gfssgc", "--depths", 8, "--public-split", "--json"]
    report = json.loads(gfgcn("evaluate", "cora", *options))
    theirs = report["results"][0]["accuracy"]["mean"]
    split = (cora.train_mask, cora.val_mask, cora.test_mask)
    assert evaluate(cora, filters=["ssgc"], depths=[8], split=split)[0]["accuracy"] == theirs
    assert 100 * GradientFreeClassifier("ssgc").fit(cora).score(cora, mask=cora.test_mask) == theirs


def test_search(gfgcn, cora):
    report = json.loads(gfgcn("tune", "cora", "--public-split", "--json"))
    tuned = tune(cora)
    assert len(tuned.board) == len(report["board"])
    for ours, theirs in zip(tuned.board, report["board"]):
        assert [ours[name] for name in ("name", "design", "kernel", "lam", "weight")] == [
            theirs[name] for name in ("name", "design", "kernel", "lambda", "weight")
        ]
        assert 100 * ours["loo_score"] == theirs["score"]
    expected = report["expected_score"]
    assert (100 * tuned.expected, 100 * tuned.std_error) == (expected["mean"], expected["std_error"])
    assert [100 * end for end in tuned.interval] == expected["interval"]


@pytest.mark.parametrize("name", ["cora", "texas"])
def test_fit_without_options(gfgcn, tmp_path, name):
    """Searches as the command line does, and predicts the same; a sum of models (texas) goes both ways."""
    source = name if name in datasets.names() else local_data(f"{name}.npz")
    data = datasets.load(source)
    model, table = tmp_path / "m.model", tmp_path / "p.csv"
    report = json.loads(gfgcn("fit", source, "--public-split", "-o", model, "--json"))
    gfgcn("predict", model, source, "-o", table)
    ours = GradientFreeClassifier().fit(data)
    assert list(data.class_names[ours.predict()]) == labels_of(table)
    assert ours.stacked_ == (name == "texas")
    assert [100 * share for share in ours.shares_.values()] == [member["share"] for member in report["members"]]
    theirs = GradientFreeClassifier.load(model)
    assert np.array_equal(theirs.decision_function(data), ours.decision_function())
    ours.save(model)
    gfgcn("predict", model, source, "-o", table, "--force")
    assert list(data.class_names[ours.predict()]) == labels_of(table)


def test_models_without_the_graph_and_found_on_each_split(gfgcn):
    source = local_data("texas.npz")
    options = ["--models", "features,gfssgc,auto", "--depths", 8, "--splits", 2, "--all-nodes", "--ratio", "1:0:1"]
    report = json.loads(gfgcn("evaluate", source, *options, "--metric", "balanced-accuracy", "--json"))["results"]
    ours = evaluate(
        datasets.load(source),
        models=["features", "gfssgc", "auto"],
        depths=[8],
        splits=2,
        ratio="1:0:1",
        largest_component=False,
        scoring="balanced_accuracy",
    )
    assert [row["model"] for row in ours] == [row["model"] for row in report]
    assert [row["depth"] for row in ours] == [row["depth"] for row in report] == [None, 8, None]
    assert [row["score"] for row in ours] == [row["score"]["mean"] for row in report]
    assert [row["accuracy"] for row in ours] == [row["accuracy"]["mean"] for row in report]
    assert [row["std_error"] for row in ours] == [row["score"]["std_error"] for row in report]
