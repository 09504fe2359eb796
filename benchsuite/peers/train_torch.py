"""Logistic regression by Adam in PyTorch: 200 epochs over all training nodes at once."""

import torch
from contestant import THREADS, arguments, serve
from shallow import Shallow

EPOCHS = 200

torch.set_num_threads(THREADS)
options = arguments("data", "splits", **{"lambda": float})
problem = Shallow(options.data, options.splits)
features = torch.from_numpy(problem.train)
labels = torch.from_numpy(problem.train_labels)


def train():
    torch.manual_seed(0)
    model = torch.nn.Linear(features.shape[1], problem.classes, bias=False)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(EPOCHS):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(features), labels).backward()
        optimizer.step()
    return model.weight.detach().numpy().T


serve(
    train,
    lambda weights: {"check": {"accuracy": problem.accuracy(weights)}},
    ["torch"],
    threads=torch.get_num_threads(),
)
