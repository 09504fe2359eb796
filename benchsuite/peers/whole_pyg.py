"""PyTorch Geometric: GCN with two layers trained for 200 epochs, then the scores of all nodes."""

import torch
from contestant import THREADS, arguments, serve
from networks import Setup
from problem import accuracy, load, load_splits

EPOCHS = 200

torch.set_num_threads(THREADS)
options = arguments("data", "splits", features=str)
problem = load(options.data)
split = load_splits(options.splits)[0]
train = torch.from_numpy(split.train)
setup = Setup(problem, options.features == "sparse")


def classify():
    torch.manual_seed(0)
    model, optimizer = setup.network("gcn")
    model.train()
    for _ in range(EPOCHS):
        setup.epoch(model, optimizer, train)
    return setup.scores(model)


serve(
    classify,
    lambda scores: {"check": {"accuracy": accuracy(scores[split.test], problem.labels[split.test])}},
    ["torch", "torch-geometric"],
    threads=torch.get_num_threads(),
)
