"""A deep filter by SciPy and NumPy: K products on dense features, then the ridge problem with λ chosen on the
validation nodes. The straightforward script solves the paper's dual for every λ; `--solver` names a better one."""

import ridge
from contestant import arguments, serve
from filters import FILTERS
from problem import accuracy, load, load_splits, normalized, one_hot

options = arguments("data", "splits", filter=str, depth=int, solver="literal")
solve = {"literal": ridge.literal, "eigen": ridge.eigen}[options.solver]
problem = load(options.data)
split = load_splits(options.splits)[0]


def classify():
    operator = normalized(problem.adjacency)
    filtered = FILTERS[options.filter](operator, problem.features, options.depth)
    targets = one_hot(problem.labels[split.train], problem.classes)
    return solve(filtered, targets, problem.labels, split, slice(None))


def inspect(result):
    scores, xi = result
    hits = accuracy(scores[split.test], problem.labels[split.test])
    return {"check": {"accuracy": hits, "penalty": xi}}


serve(classify, inspect, ["scipy", "numpy"])
