"""Prints the accuracies that `tests/cli/splits.rs` expects on the ten splits of Texas, with NumPy alone.

Ridge regression in its dual form with the penalty 1/λ for λ = 10, on X and on SSGC at K = 8, τ = 0.05.
Run it on the published archive: python official_splits.py texas.npz
"""

import sys

import numpy as np

DEPTH, TAU, PENALTY = 8, 0.05, 0.1

data = np.load(sys.argv[1])
X, labels, edges = data["node_features"].astype(float), data["node_labels"], data["edges"]
nodes = len(labels)
adjacency = np.eye(nodes)
adjacency[edges[:, 0], edges[:, 1]] = adjacency[edges[:, 1], edges[:, 0]] = 1
degrees = adjacency.sum(1)
operator = adjacency / np.sqrt(np.outer(degrees, degrees))

hops = [operator @ X]
for _ in range(DEPTH - 1):
    hops.append(operator @ hops[-1])
ssgc = sum((1 - TAU) * hop + TAU * X for hop in hops) / DEPTH

for parts in [["train"], ["train", "val"]]:
    for name, features in [("features", X), ("gfssgc", ssgc)]:
        accuracies = []
        for split in range(10):
            train = np.any([data[f"{part}_masks"][split] for part in parts], axis=0)
            test = data["test_masks"][split]
            kernel = features[train] @ features[train].T + PENALTY * np.eye(train.sum())
            weights = np.linalg.solve(kernel, np.eye(labels.max() + 1)[labels[train]])
            predicted = (features[test] @ features[train].T @ weights).argmax(1)
            accuracies.append(100 * (predicted == labels[test]).mean())
        print("+".join(parts), name, np.mean(accuracies))
