"""PyTorch Geometric: epochs of GCN or GAT with two layers, written as its own examples write them.

The normalised adjacency is cached. Weight decay is on all parameters, and GAT has one output head on
every graph, as in gfgcn. With sparse features, the first layer's X·W and the dropout before it leave out
the zeros; the rest is the same.
"""

import time

import numpy as np
import scipy.sparse as sp
import sparse_linear
import torch
from contestant import THREADS, arguments, serve_measured
from problem import accuracy, load, load_splits
from torch.nn import functional
from torch_geometric.nn import GATConv, GCNConv

# As in the engine: the mean over all epochs but the first ones counts.
EPOCHS = 100
WARM_UP = 10


class Gcn(torch.nn.Module):
    def __init__(self, columns, classes):
        super().__init__()
        self.conv1 = GCNConv(columns, 16, cached=True)
        self.conv2 = GCNConv(16, classes, cached=True)

    def forward(self, x, edges):
        x = drop_features(x, 0.5, self.training)
        x = self.conv1(x, edges).relu()
        x = functional.dropout(x, 0.5, self.training)
        return self.conv2(x, edges)


class Gat(torch.nn.Module):
    def __init__(self, columns, classes):
        super().__init__()
        self.conv1 = GATConv(columns, 8, heads=8, dropout=0.6)
        self.conv2 = GATConv(8 * 8, classes, heads=1, concat=False, dropout=0.6)

    def forward(self, x, edges):
        x = drop_features(x, 0.6, self.training)
        x = functional.elu(self.conv1(x, edges))
        x = functional.dropout(x, 0.6, self.training)
        return self.conv2(x, edges)


torch.set_num_threads(THREADS)
options = arguments("data", "splits", model=str, features=str)
problem = load(options.data)
split = load_splits(options.splits)[0]
edges = torch.from_numpy(np.stack(problem.adjacency.nonzero()).astype(np.int64))
labels = torch.from_numpy(problem.labels)
train = torch.from_numpy(split.train)
if options.features == "sparse":
    stored = sp.csr_array(problem.features)
    features, drop_features = sparse_linear.to_csr_tensor(stored), sparse_linear.dropout
else:
    features, drop_features = torch.from_numpy(problem.features), functional.dropout


def new_model():
    kind = {"gcn": Gcn, "gat": Gat}[options.model]
    model = kind(problem.features.shape[1], problem.classes)
    if options.features == "sparse":
        model.conv1.lin = sparse_linear.SparseLinear(model.conv1.lin, stored)
    return model


def mean_epoch():
    torch.manual_seed(0)
    model = new_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    model.train()
    for epoch in range(EPOCHS):
        if epoch == WARM_UP:
            start = time.perf_counter()
        optimizer.zero_grad()
        scores = model(features, edges)
        functional.cross_entropy(scores[train], labels[train]).backward()
        optimizer.step()
    calls = EPOCHS - WARM_UP
    return (time.perf_counter() - start) / calls, calls, model


def inspect(model):
    model.eval()
    with torch.no_grad():
        scores = model(features, edges).numpy()
    return {"check": {"accuracy": accuracy(scores[split.test], problem.labels[split.test])}}


serve_measured(
    mean_epoch,
    inspect,
    ["torch", "torch-geometric"],
    threads=torch.get_num_threads(),
)
