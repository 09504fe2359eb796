"""The search, on real graphs and in any order of nodes."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import local_data

from gfgcn import GradientFreeClassifier, datasets, tune


def test_few_features_are_compared_by_their_surroundings():
    """Minesweeper: a node's own features say next to nothing, and neither does their mean around it."""
    archive = np.load(local_data("minesweeper.npz"))
    X, truth = archive["node_features"], archive["node_labels"]
    train, test = (archive[f"{part}_masks"][0].astype(bool) for part in ("train", "test"))
    y = np.where(train, truth, -1)
    shallow = GradientFreeClassifier(filter="sgc", depth=1, scoring="roc_auc").fit(X, y, adjacency=archive["edges"].T)
    model = GradientFreeClassifier(scoring="roc_auc").fit(X, y, adjacency=archive["edges"].T)
    assert model.stacked_ and model.loo_score_ > shallow.loo_score_ + 0.1
    assert max(model.shares_, key=model.shares_.get).startswith("surroundings")
    from sklearn.metrics import roc_auc_score

    assert roc_auc_score(truth[test], model.decision_function()[test]) == pytest.approx(model.expected_score_, abs=0.02)


@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_the_order_of_nodes_does_not_choose_the_model(name):
    """With over 512 training nodes a sample goes first; which nodes are in it depends on what they are, not where."""
    data = datasets.load(name)
    rng = np.random.default_rng(0)
    train = rng.permutation(data.X.shape[0])[:900]
    y = np.full(data.X.shape[0], -1)
    y[train] = data.y[train]
    expected = tune(data.X, y, adjacency=data.adjacency)
    for _ in range(2):
        order = rng.permutation(len(y))
        tuned = tune(data.X[order], y[order], adjacency=data.adjacency[order][:, order])
        assert tuned.stacked == expected.stacked
        assert np.mean(tuned.model.predict() == expected.model.predict()[order]) > 0.99
        assert tuned.expected == pytest.approx(expected.expected, abs=2e-3)
