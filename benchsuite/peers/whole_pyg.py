"""PyTorch Geometric: GCN with two layers trained for 200 epochs, then the scores of all nodes."""

import torch
from contestant import arguments, serve
from networks import Setup

EPOCHS = 200

options = arguments("data", "splits", features=str)
setup = Setup(options.data, options.splits, options.features)


def classify():
    torch.manual_seed(0)
    model, optimizer = setup.network("gcn")
    model.train()
    for _ in range(EPOCHS):
        setup.epoch(model, optimizer)
    return setup.scores(model)


serve(classify, setup.check, ["torch", "torch-geometric"], threads=torch.get_num_threads())
