"""The whole sweep by SciPy and NumPy: three filters, seven depths, twenty splits.

  literal  the paper's formulas as they stand: every filter and depth propagates anew, every λ of
           every split solves anew
  shared   one walk over the hops serves every filter and depth; Cholesky on the smaller side
  eigen    the same walk; one eigendecomposition of the smaller side for all λ

The literal script would take hours on larger graphs. It then fits as many splits as `--limit`
seconds allow (all filters, depths and λ) and reports its parts with their counts, so that the runner
can scale them up and say so.
"""

from __future__ import annotations

import time
from math import comb

import numpy as np
import ridge
from contestant import arguments, serve
from filters import FILTERS
from problem import DEPTHS, TAU, TIME, accuracy, load, load_splits, normalized, one_hot

options = arguments("data", "splits", script=str, limit=float)
problem = load(options.data)
splits = load_splits(options.splits)
labels = problem.labels


def fit(solver, filtered, split):
    targets = one_hot(labels[split.train], problem.classes)
    scores, _ = solver(filtered, targets, labels, split, split.test)
    return accuracy(scores, labels[split.test])


def literal():
    operator = normalized(problem.adjacency)
    hits, seconds, chosen = [], {"propagations": 0.0, "fits": 0.0}, None
    for name in FILTERS:
        for depth in DEPTHS:
            start = time.perf_counter()
            filtered = FILTERS[name](operator, problem.features, depth)
            middle = time.perf_counter()
            hits.append(fit(ridge.literal, filtered, splits[0]))
            if chosen is None:
                chosen = affordable(time.perf_counter() - middle)
            hits += [fit(ridge.literal, filtered, split) for split in splits[1:chosen]]
            seconds["propagations"] += middle - start
            seconds["fits"] += time.perf_counter() - middle
    models = len(FILTERS) * len(DEPTHS)
    parts = [
        part("propagations", seconds["propagations"], models, models),
        part("fits", seconds["fits"], models * chosen, models * len(splits)),
    ]
    return hits, parts


def affordable(seconds_per_fit):
    """How many splits fit into the limit."""
    models = len(FILTERS) * len(DEPTHS)
    return int(np.clip(options.limit / (models * seconds_per_fit), 1, len(splits)))


def part(name, seconds, done, total):
    return {"name": name, "seconds": seconds, "done": done, "total": total}


def one_walk(solver):
    operator = normalized(problem.adjacency)
    return [fit(solver, filtered, split) for filtered in walk(operator) for split in splits], []


def walk(operator):
    """Every filter at every depth from one sequence of powers Â^k X."""
    power = problem.features
    sgc, ssgc = {}, {}
    total = np.zeros_like(power)
    dgc = {depth: np.float32((1 - TIME / depth) ** depth) * power for depth in DEPTHS}
    for hop in range(1, max(DEPTHS) + 1):
        power = operator @ power
        total += power
        for depth in DEPTHS:
            step = TIME / depth
            weight = comb(depth, hop) * (1 - step) ** (depth - hop) * step**hop if hop <= depth else 0
            if abs(weight) > 1e-9:
                dgc[depth] += np.float32(weight) * power
        if hop in DEPTHS:
            sgc[hop] = power
            ssgc[hop] = np.float32(TAU) * problem.features + np.float32((1 - TAU) / hop) * total
    return [*sgc.values(), *ssgc.values(), *dgc.values()]


serve(
    {
        "literal": literal,
        "shared": lambda: one_walk(ridge.smaller_side),
        "eigen": lambda: one_walk(ridge.eigen),
    }[options.script],
    lambda result: {"check": {"accuracy": float(np.mean(result[0]))}, "parts": result[1]},
    ["scipy", "numpy"],
)
