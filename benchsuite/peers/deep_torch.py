"""A deep filter by PyTorch: K products with its CSR matrix, one eigendecomposition of the smaller side for all λ, of which
the best on the validation nodes counts. What one would write in its place, with shared work."""

import numpy as np
import ridge
import torch
from contestant import THREADS, arguments, serve
from problem import accuracy, load, load_splits, normalized, one_hot

torch.set_num_threads(THREADS)
options = arguments("data", "splits", filter=str, depth=int)
if options.filter != "sgc":
    raise SystemExit("only SGC is written in PyTorch")
problem = load(options.data)
split = load_splits(options.splits)[0]
features = torch.from_numpy(problem.features)


def classify():
    matrix = normalized(problem.adjacency)
    parts = (torch.from_numpy(a) for a in (matrix.indptr, matrix.indices, matrix.data))
    operator = torch.sparse_csr_tensor(*parts, size=matrix.shape)
    filtered = features
    for _ in range(options.depth):
        filtered = operator @ filtered
    targets = one_hot(problem.labels[split.train], problem.classes)
    return ridge.eigen(np.asarray(filtered), targets, problem.labels, split, slice(None))


def inspect(result):
    scores, xi = result
    hits = accuracy(scores[split.test], problem.labels[split.test])
    return {"check": {"accuracy": hits, "penalty": xi}}


serve(classify, inspect, ["torch", "numpy"], threads=torch.get_num_threads())
