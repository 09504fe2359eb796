"""PyTorch Geometric: epochs of GCN or GAT with two layers."""

import time

import torch
from contestant import THREADS, arguments, serve_measured
from networks import Setup
from problem import accuracy, load, load_splits

# As in the engine: the mean over all epochs but the first ones counts.
EPOCHS = 100
WARM_UP = 10

torch.set_num_threads(THREADS)
options = arguments("data", "splits", model=str, features=str)
problem = load(options.data)
split = load_splits(options.splits)[0]
train = torch.from_numpy(split.train)
setup = Setup(problem, options.features == "sparse")


def mean_epoch():
    torch.manual_seed(0)
    model, optimizer = setup.network(options.model)
    model.train()
    for epoch in range(EPOCHS):
        if epoch == WARM_UP:
            start = time.perf_counter()
        setup.epoch(model, optimizer, train)
    calls = EPOCHS - WARM_UP
    return (time.perf_counter() - start) / calls, calls, model


def inspect(model):
    scores = setup.scores(model)
    return {"check": {"accuracy": accuracy(scores[split.test], problem.labels[split.test])}}


serve_measured(
    mean_epoch,
    inspect,
    ["torch", "torch-geometric"],
    threads=torch.get_num_threads(),
)
