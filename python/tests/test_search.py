"""The search, on real graphs and in any order of nodes."""

from __future__ import annotations

import os
import pathlib

import numpy as np
import pytest

from gfgcn import GradientFreeClassifier, datasets, tune

LOCAL = pathlib.Path(os.environ.get("GFGCN_DATA", pathlib.Path(__file__).parents[2].parent / "shared/data/local"))


@pytest.mark.parametrize("split", range(10))
def test_few_features_are_searched_on_all_training_nodes(split):
    """Minesweeper: a sample once threw away a model that was two points better."""
    path = LOCAL / "minesweeper.npz"
    if not path.is_file():
        pytest.skip(f"needs minesweeper.npz in GFGCN_DATA or {LOCAL}")
    archive = np.load(path)
    X, y = archive["node_features"], archive["node_labels"].copy()
    y[~archive["train_masks"][split].astype(bool)] = -1
    tuned = tune(X, y, adjacency=archive["edges"].T)
    shallow = GradientFreeClassifier(filter="sgc", depth=1).fit(X, y, adjacency=archive["edges"].T)
    chosen = tuned.classifier().fit(X, y, adjacency=archive["edges"].T)
    assert chosen.loo_score_ >= shallow.loo_score_
    assert len(tuned.board) == tuned.tried, "no sample went first"


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
        assert tuned.best_params == expected.best_params
        assert tuned.accuracy == pytest.approx(expected.accuracy, abs=2e-3)
