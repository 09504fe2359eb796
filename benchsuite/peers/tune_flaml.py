"""FLAML: whatever its search finds within a budget of seconds on the features Â²X of the training nodes.

It fits gradient boosting, forests and linear models to columns, and knows nothing of graphs: the propagation is what
its user would do first.
"""

import time

import numpy as np
from contestant import THREADS, arguments, serve_measured
from flaml import AutoML
from problem import accuracy, load, load_splits, normalized, one_hot

options = arguments("data", "splits", seconds=int)
problem = load(options.data)
split = load_splits(options.splits)[0]
operator = normalized(problem.adjacency)


def measure():
    start = time.perf_counter()
    filtered = operator @ (operator @ problem.features)
    search = AutoML()
    search.fit(
        filtered[split.train],
        problem.labels[split.train],
        task="classification",
        metric="accuracy",
        time_budget=options.seconds,
        n_jobs=THREADS,
        seed=0,
        verbose=0,
    )
    predicted = np.asarray(search.predict(filtered)).astype(int)
    return time.perf_counter() - start, 1, predicted


serve_measured(
    measure,
    lambda predicted: {
        "check": {
            "accuracy": accuracy(
                one_hot(predicted[split.test], problem.classes), problem.labels[split.test]
            )
        }
    },
    ["flaml", "lightgbm", "xgboost"],
    threads=THREADS,
)
