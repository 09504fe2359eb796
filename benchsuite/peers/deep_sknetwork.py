"""scikit-network: a graph convolutional network of two layers, 200 epochs of Adam. Another model, since
the package has no SGC; here to show what its user waits for on the same data."""

import numpy as np
import scipy.sparse as sp
from contestant import arguments, serve
from problem import load, load_splits
from sknetwork.gnn import GNNClassifier

EPOCHS = 200
HIDDEN = 16

options = arguments("data", "splits", filter=str, depth=int)
problem = load(options.data)
split = load_splits(options.splits)[0]
adjacency = sp.csr_matrix(problem.adjacency)
features = sp.csr_matrix(problem.features)
known = np.full(len(problem.labels), -1)
known[split.train] = problem.labels[split.train]


def classify():
    model = GNNClassifier(dims=[HIDDEN, problem.classes], optimizer="Adam", learning_rate=0.01)
    return model.fit_predict(adjacency, features, known, n_epochs=EPOCHS, random_state=0)


serve(
    classify,
    lambda predicted: {
        "check": {
            "accuracy": 100.0 * float(np.mean(predicted[split.test] == problem.labels[split.test])),
        },
    },
    ["scikit-network", "scipy", "numpy"],
)
