"""GCN and GAT with two layers in PyTorch Geometric, written as its own examples write them.

The normalised adjacency is cached. GAT has one output head on every graph, as in gfgcn. With sparse features, the first
layer's X·W and the dropout before it leave out the zeros; the rest is the same.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import sparse_linear
import torch
from contestant import THREADS
from problem import accuracy, load, load_splits
from torch.nn import functional
from torch_geometric.nn import GATConv, GCNConv

DECAY = 5e-4


class Gcn(torch.nn.Module):
    def __init__(self, columns, classes, drop_features):
        super().__init__()
        self.drop_features = drop_features
        self.conv1 = GCNConv(columns, 16, cached=True)
        self.conv2 = GCNConv(16, classes, cached=True)

    def forward(self, x, edges):
        x = self.drop_features(x, 0.5, self.training)
        x = self.conv1(x, edges).relu()
        x = functional.dropout(x, 0.5, self.training)
        return self.conv2(x, edges)

    def groups(self):
        """As in the paper: weight decay on the first layer only."""
        first, second = self.conv1.parameters(), self.conv2.parameters()
        return [{"params": first, "weight_decay": DECAY}, {"params": second, "weight_decay": 0}]


class Gat(torch.nn.Module):
    def __init__(self, columns, classes, drop_features):
        super().__init__()
        self.drop_features = drop_features
        self.conv1 = GATConv(columns, 8, heads=8, dropout=0.6)
        self.conv2 = GATConv(8 * 8, classes, heads=1, concat=False, dropout=0.6)

    def forward(self, x, edges):
        x = self.drop_features(x, 0.6, self.training)
        x = functional.elu(self.conv1(x, edges))
        x = functional.dropout(x, 0.6, self.training)
        return self.conv2(x, edges)

    def groups(self):
        return [{"params": self.parameters(), "weight_decay": DECAY}]


class Setup:
    """The first split of a problem as tensors, and new networks on it."""

    def __init__(self, data: str, splits: str, features: str):
        torch.set_num_threads(THREADS)
        problem, self.split = load(data), load_splits(splits)[0]
        self.edges = torch.from_numpy(np.stack(problem.adjacency.nonzero()).astype(np.int64))
        self.labels, self.train = torch.from_numpy(problem.labels), torch.from_numpy(self.split.train)
        self.columns, self.classes = problem.features.shape[1], problem.classes
        self.stored = sp.csr_array(problem.features) if features == "sparse" else None
        if self.stored is not None:
            self.features, self.drop = sparse_linear.to_csr_tensor(self.stored), sparse_linear.dropout
        else:
            self.features, self.drop = torch.from_numpy(problem.features), functional.dropout

    def network(self, kind: str):
        model = {"gcn": Gcn, "gat": Gat}[kind](self.columns, self.classes, self.drop)
        if self.stored is not None:
            model.conv1.lin = sparse_linear.SparseLinear(model.conv1.lin, self.stored)
        return model, torch.optim.Adam(model.groups(), lr=0.01)

    def epoch(self, model, optimizer) -> None:
        optimizer.zero_grad()
        scores = model(self.features, self.edges)
        functional.cross_entropy(scores[self.train], self.labels[self.train]).backward()
        optimizer.step()

    def scores(self, model):
        model.eval()
        with torch.no_grad():
            return model(self.features, self.edges).numpy()

    def check(self, scores) -> dict:
        test = self.split.test
        return {"check": {"accuracy": accuracy(scores[test], self.labels.numpy()[test])}}
