"""PyTorch Geometric: epochs of GCN or GAT with two layers."""

import time

import torch
from contestant import arguments, serve_measured
from networks import Setup

# As in the engine: the mean over all epochs but the first ones counts.
EPOCHS = 100
WARM_UP = 10

options = arguments("data", "splits", model=str, features=str)
setup = Setup(options.data, options.splits, options.features)


def mean_epoch():
    torch.manual_seed(0)
    model, optimizer = setup.network(options.model)
    model.train()
    for epoch in range(EPOCHS):
        if epoch == WARM_UP:
            start = time.perf_counter()
        setup.epoch(model, optimizer)
    calls = EPOCHS - WARM_UP
    return (time.perf_counter() - start) / calls, calls, model


serve_measured(
    mean_epoch,
    lambda model: setup.check(setup.scores(model)),
    ["torch", "torch-geometric"],
    threads=torch.get_num_threads(),
)
