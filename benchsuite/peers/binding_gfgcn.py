"""The Python package of gfgcn itself: how much longer does it take to call the engine from Python?"""

import numpy as np
from contestant import THREADS, arguments, serve
from gfgcn import GradientFreeClassifier
from problem import load, load_splits

options = arguments("data", "splits")
problem = load(options.data)
split = load_splits(options.splits)[0]
y = np.full(len(problem.labels), -1)
y[split.train] = problem.labels[split.train]


def classify():
    return GradientFreeClassifier("ssgc", n_jobs=THREADS).fit(problem.features, y, adjacency=problem.adjacency)


def inspect(model):
    hits = np.mean(model.predict()[split.test] == problem.labels[split.test])
    return {"check": {"accuracy": 100.0 * float(hits), "penalty": 1 / model.lam_}}


serve(classify, inspect, ["gfgcn", "numpy", "scipy"])
