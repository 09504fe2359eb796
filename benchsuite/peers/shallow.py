"""The features that `train` and `loo` start from: SGC with K = 2, those of the training nodes apart."""

from __future__ import annotations

import numpy as np
from problem import accuracy, load, load_splits, normalized, one_hot

DEPTH = 2


class Shallow:
    def __init__(self, data: str, splits: str):
        problem = load(data)
        operator = normalized(problem.adjacency)
        filtered = problem.features
        for _ in range(DEPTH):
            filtered = operator @ filtered
        split = load_splits(splits)[0]
        self.train = np.ascontiguousarray(filtered[split.train])
        self.train_labels = problem.labels[split.train]
        self.targets = one_hot(self.train_labels, problem.classes)
        self.classes = problem.classes
        self._test, self._test_labels = filtered[split.test], problem.labels[split.test]

    def accuracy(self, weights: np.ndarray) -> float:
        """Test accuracy of linear weights (features × classes), in percent."""
        return accuracy(self._test @ weights, self._test_labels)
