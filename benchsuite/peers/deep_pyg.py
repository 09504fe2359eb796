"""PyTorch Geometric: SGConv or SSGConv with its features cached, trained by Adam for 200 epochs."""

import numpy as np
import torch
from contestant import THREADS, arguments, serve
from problem import TAU, accuracy, load, load_splits
from torch_geometric.nn import SGConv, SSGConv

EPOCHS = 200

torch.set_num_threads(THREADS)
options = arguments("data", "splits", filter=str, depth=int)
problem = load(options.data)
split = load_splits(options.splits)[0]
edges = torch.from_numpy(np.stack(problem.adjacency.nonzero()).astype(np.int64))
features = torch.from_numpy(problem.features)
labels = torch.from_numpy(problem.labels)
train = torch.from_numpy(split.train)


def convolution():
    columns, classes, depth = features.shape[1], problem.classes, options.depth
    if options.filter == "ssgc":
        return SSGConv(columns, classes, alpha=TAU, K=depth, cached=True)
    return SGConv(columns, classes, K=depth, cached=True)


def classify():
    torch.manual_seed(0)
    model = convolution()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(EPOCHS):
        optimizer.zero_grad()
        scores = model(features, edges)[train]
        torch.nn.functional.cross_entropy(scores, labels[train]).backward()
        optimizer.step()
    with torch.no_grad():
        return model(features, edges).numpy()


serve(
    classify,
    lambda scores: {
        "check": {"accuracy": accuracy(scores[split.test], problem.labels[split.test])},
    },
    ["torch", "torch-geometric"],
    threads=torch.get_num_threads(),
)
