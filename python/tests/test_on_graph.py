"""scikit-learn's tools on the nodes of a graph, against loops that are written by hand."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score, learning_curve

from gfgcn import GradientFreeClassifier, GradientFreeRegressor, MaskSplit, OnGraph


def test_grid_search_on_cora_with_masks_is_a_loop_by_hand(cora):
    grid = {"model__filter": ["sgc", "ssgc"], "model__depth": [2, 8]}
    search = GridSearchCV(
        OnGraph(GradientFreeClassifier(), cora), grid, cv=MaskSplit(cora.train_mask, cora.val_mask), refit=False
    )
    search.fit(np.arange(len(cora.y)), cora.y)
    found = {
        (params["model__filter"], params["model__depth"]): score
        for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"])
    }
    for filter, depth in itertools.product(["sgc", "ssgc"], [2, 8]):
        model = GradientFreeClassifier(filter, depth).fit(cora.X, cora.y_train, adjacency=cora.adjacency)
        right = model.predict()[cora.val_mask] == cora.y[cora.val_mask]
        assert found[filter, depth] == right.mean(), (filter, depth)
    assert len(set(found.values())) > 1, "the grid makes a difference"


def test_cross_val_score_and_learning_curve_hide_labels_and_keep_the_graph(cora):
    nodes = np.flatnonzero(cora.train_mask)
    model = OnGraph(GradientFreeClassifier(depth=4), cora.X, cora.adjacency)
    folds = StratifiedKFold(3)
    scores = cross_val_score(model, nodes, cora.y[nodes], cv=folds)
    by_hand = []
    for train, test in folds.split(nodes, cora.y[nodes]):
        y = np.full(len(cora.y), -1)
        y[nodes[train]] = cora.y[nodes[train]]
        predicted = GradientFreeClassifier(depth=4).fit(cora.X, y, adjacency=cora.adjacency).predict()
        by_hand.append((predicted[nodes[test]] == cora.y[nodes[test]]).mean())
    assert scores.tolist() == by_hand
    sizes, _, curve = learning_curve(model, nodes, cora.y[nodes], cv=3, train_sizes=[0.5, 1.0], shuffle=True, random_state=0)
    assert curve.shape == (2, 3) and curve[1].mean() > curve[0].mean() - 0.1 and sizes[1] > sizes[0]


def test_several_masks_are_several_splits():
    train = np.array([[True, False, False, False], [False, True, False, False]])
    test = np.array([[False, True, True, False], [True, False, False, False]])
    splits = list(MaskSplit(train, test).split([3, 1, 0]))
    assert [(a.tolist(), b.tolist()) for a, b in splits] == [([2], [1]), ([1], [2])]
    assert MaskSplit(train, test).get_n_splits() == 2
    for wrong, message in ((train, "both masks"), (test[:, :3], "shapes")):
        with pytest.raises(ValueError, match=message):
            list(MaskSplit(train, wrong).split([0]))
    with pytest.raises(ValueError, match="no node 4"):
        list(MaskSplit(train, test).split([4]))


def test_classes_of_any_kind_and_values(small):
    X, y, adjacency = small
    nodes = np.flatnonzero(y >= 0)
    for kind in (np.array(["a", "b"]), np.array([7, 9], dtype=np.uint8), np.array([False, True])):
        model = OnGraph(GradientFreeClassifier(depth=2), X, adjacency).fit(nodes, kind[y[nodes]])
        assert model.predict(nodes).dtype == kind.dtype and set(model.predict(range(20))) <= set(kind)
        assert model.predict_proba(nodes).shape == (6, 2) and model.classes_.tolist() == kind.tolist()
        assert model.decision_function(nodes).shape == (6,)
    assert is_classifier(model) and not is_regressor(model)
    values = OnGraph(GradientFreeRegressor(depth=2), X, adjacency)
    assert is_regressor(values)
    target = X.sum(axis=1)
    scores = cross_val_score(values, np.arange(20), target, cv=KFold(2))
    assert scores.shape == (2,)


def test_clones_share_the_graph_and_not_the_model(cora):
    model = OnGraph(GradientFreeClassifier(depth=2), cora)
    other = clone(model).set_params(model__depth=8)
    assert other.X is model.X and model.model.depth == 2 and other.get_params()["model__depth"] == 8


def test_rows_that_are_no_nodes_are_refused(small):
    X, y, adjacency = small
    model = OnGraph(GradientFreeClassifier(depth=2), X, adjacency)
    for nodes, message in ((X, "node numbers"), ([0.5], "node numbers"), ([-1], "negative"), ([20], "no node 20")):
        with pytest.raises(ValueError, match=message):
            model.fit(nodes, [0] * len(nodes))
    with pytest.raises(ValueError, match="2 nodes, but y has 1"):
        model.fit([0, 1], [0])
