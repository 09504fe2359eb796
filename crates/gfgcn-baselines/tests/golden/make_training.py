"""Trains graph networks with PyTorch Geometric on a tiny graph, for training.json.

The layers are PyTorch Geometric's own and the optimizer is PyTorch's Adam, in float64 on the CPU
and without dropout, so that gfgcn-baselines can start from the same parameters and compare the
loss of every epoch, the gradients of the first one and the scores after the last one. Parameters
and gradients are written as matrices: weights inputs x outputs, everything else as one row.
Needs torch and torch_geometric (made with 2.15 and 2.8).

    python make_training.py > training.json
"""

import json
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import APPNP, GATConv, GCN2Conv, GCNConv, JumpingKnowledge

NODES, FEATURES, CLASSES, TRAIN = 14, 6, 3, 8
HIDDEN = 4
HEADS, HEAD_DIM = 2, 3
EPOCHS = 30
DECAY = 5e-4
DEPTHS = [2, 3]
GRAPH_SEED = 1
# Chosen from the seeds 1 to 399 for few zeros in the first gradients: few hidden units are dead,
# and the scores of the attention before its leaky ReLU have both signs, without which the gradient
# of a_target vanishes.
PARAMETER_SEED = 173


def rounded(values: Any, digits: int) -> Any:
    """The number, or nested lists of numbers, with this many significant digits."""
    if isinstance(values, list):
        return [rounded(value, digits) for value in values]
    return float(f"{values:.{digits}g}")


class Graph:
    """The nodes 1 to 6 around node 0, a path from node 6 to node 13, and random edges.

    No random edge ends at node 13, which keeps degree 1.
    """

    def __init__(self) -> None:
        random = np.random.default_rng(GRAPH_SEED)
        edges = {(0, i) for i in range(1, 7)} | {(i, i + 1) for i in range(6, NODES - 1)}
        while len(edges) < 24:
            i, j = sorted(random.choice(NODES - 1, 2, replace=False).tolist())
            edges.add((i, j))
        features = random.normal(size=(NODES, FEATURES))
        features[random.random(features.shape) < 0.5] = 0.0
        labels = random.permutation(np.arange(NODES) % CLASSES)
        train = np.sort(random.choice(NODES, TRAIN, replace=False))
        assert set(labels[train]) == set(range(CLASSES))

        self.edges = sorted(edges)
        self.features = torch.tensor(rounded(features.tolist(), 6))
        self.labels = torch.tensor(labels)
        self.train = torch.tensor(train)
        # Both directions, as PyTorch Geometric wants them.
        one_way = torch.tensor(self.edges).T
        self.edge_index = torch.cat([one_way, one_way.flip(0)], dim=1)

    def adjacency(self) -> Tensor:
        """A, dense."""
        a = torch.zeros(NODES, NODES)
        a[self.edge_index[0], self.edge_index[1]] = 1.0
        return a

    def normalized(self) -> Tensor:
        """A^ = D~^-1/2 (A + I) D~^-1/2, dense."""
        a = self.adjacency() + torch.eye(NODES)
        d = a.sum(1) ** -0.5
        return d[:, None] * a * d


class Matrix(NamedTuple):
    """A parameter of a model and its weight decay."""

    parameter: nn.Parameter
    decay: float = DECAY
    transposed: bool = False

    def view(self, tensor: Tensor) -> Tensor:
        """The parameter, or its gradient, as the matrix in the file."""
        if self.transposed:
            return tensor.T
        return tensor if tensor.dim() == 2 else tensor.reshape(1, -1)


def linear(layer: nn.Linear, decay: float = DECAY) -> list[Matrix]:
    return [Matrix(layer.weight, decay, transposed=True), Matrix(layer.bias, decay)]


def convolution(layer: GCNConv, decay: float = DECAY) -> list[Matrix]:
    return [Matrix(layer.lin.weight, decay, transposed=True), Matrix(layer.bias, decay)]


def attention(layer: GATConv) -> list[Matrix]:
    weight = Matrix(layer.lin.weight, transposed=True)
    return [weight, Matrix(layer.att_src), Matrix(layer.att_dst), Matrix(layer.bias)]


class Model(nn.Module):
    """Scores of all nodes by `forward`; `matrices` are the parameters in the order of the file."""

    def matrices(self) -> list[Matrix]:
        raise NotImplementedError

    def loss(self, graph: Graph) -> Tensor:
        """The mean cross entropy over the training nodes."""
        return F.cross_entropy(self(graph)[graph.train], graph.labels[graph.train])


class Gcn(Model):
    """H <- A^ H W + b, with ReLU after all layers but the last; weight decay on the first only."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        sizes = [FEATURES] + [HIDDEN] * (depth - 1) + [CLASSES]
        self.layers = nn.ModuleList(map(GCNConv, sizes, sizes[1:]))

    def matrices(self) -> list[Matrix]:
        decays = [DECAY] + [0.0] * (len(self.layers) - 1)
        return [m for pair in zip(self.layers, decays) for m in convolution(*pair)]

    def forward(self, graph: Graph) -> Tensor:
        h = graph.features
        for layer in self.layers[:-1]:
            h = layer(h, graph.edge_index).relu()
        return self.layers[-1](h, graph.edge_index)


class Gat(Model):
    """Attention with two concatenated heads and ELU, in the last layer one head and no ELU.

    The columns of W, a_source, a_target and the bias are those of the first head, then those of
    the second.
    """

    def __init__(self, depth: int) -> None:
        super().__init__()
        sizes = [FEATURES] + [HEADS * HEAD_DIM] * (depth - 1)
        layers = [GATConv(size, HEAD_DIM, HEADS) for size in sizes[:-1]]
        self.layers = nn.ModuleList([*layers, GATConv(sizes[-1], CLASSES)])

    def matrices(self) -> list[Matrix]:
        return [matrix for layer in self.layers for matrix in attention(layer)]

    def forward(self, graph: Graph) -> Tensor:
        h = graph.features
        for layer in self.layers[:-1]:
            h = F.elu(layer(h, graph.edge_index))
        return self.layers[-1](h, graph.edge_index)


class JkNet(Model):
    """GCN layers with ReLU; the outputs of all of them, joined, go through a linear layer."""

    def __init__(self, jump: str, depth: int) -> None:
        super().__init__()
        sizes = [FEATURES] + [HIDDEN] * depth
        self.layers = nn.ModuleList(map(GCNConv, sizes, sizes[1:]))
        self.jump = JumpingKnowledge({"concat": "cat", "max": "max"}[jump])
        self.output = nn.Linear(HIDDEN * depth if jump == "concat" else HIDDEN, CLASSES)

    def matrices(self) -> list[Matrix]:
        matrices = [matrix for layer in self.layers for matrix in convolution(layer)]
        return matrices + linear(self.output)

    def forward(self, graph: Graph) -> Tensor:
        outputs = [graph.features]
        for layer in self.layers:
            outputs.append(layer(outputs[-1], graph.edge_index).relu())
        return self.output(self.jump(outputs[1:]))


class Appnp(Model):
    """Two linear layers with ReLU between them give H; then Z <- 0.9 A^ Z + 0.1 H from Z = H."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.first = nn.Linear(FEATURES, HIDDEN)
        self.second = nn.Linear(HIDDEN, CLASSES)
        self.propagation = APPNP(K=depth, alpha=0.1)

    def matrices(self) -> list[Matrix]:
        return linear(self.first, 5e-3) + linear(self.second, 0.0)

    def forward(self, graph: Graph) -> Tensor:
        h = self.second(self.first(graph.features).relu())
        return self.propagation(h, graph.edge_index)


class Gcnii(Model):
    """A linear layer with ReLU gives H_0, a linear layer takes H_K to the scores; between them
    H <- ReLU((0.9 A^ H + 0.1 H_0) ((1 - beta_l) I + beta_l W_l)), beta_l = log(0.5 / l + 1).
    """

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.input = nn.Linear(FEATURES, HIDDEN)
        layers = [GCN2Conv(HIDDEN, alpha=0.1, theta=0.5, layer=l) for l in range(1, depth + 1)]
        self.layers = nn.ModuleList(layers)
        self.output = nn.Linear(HIDDEN, CLASSES)

    def matrices(self) -> list[Matrix]:
        # PyTorch Geometric holds these weights as inputs x outputs.
        weights = [Matrix(layer.weight1, 0.01) for layer in self.layers]
        return linear(self.input) + weights + linear(self.output)

    def forward(self, graph: Graph) -> Tensor:
        first = h = self.input(graph.features).relu()
        for layer in self.layers:
            h = layer(h, first, graph.edge_index).relu()
        return self.output(h)


def filtered(graph: Graph, kind: str, depth: int, tau: float = 0.0, time: float = 0.0) -> Tensor:
    """The filtered features F.

    sgc: A^^K X; ssgc: 1/K sum over k = 1..K of (1 - tau) A^^k X + tau X;
    dgc: ((1 - T/K) I + T/K A^)^K X.
    """
    a, x = graph.normalized(), graph.features
    power = torch.linalg.matrix_power
    if kind == "sgc":
        return power(a, depth) @ x
    if kind == "ssgc":
        terms = [(1 - tau) * power(a, k) @ x + tau * x for k in range(1, depth + 1)]
        return sum(terms) / depth
    assert kind == "dgc"
    step = time / depth
    return power((1 - step) * torch.eye(NODES) + step * a, depth) @ x


class Logistic(Model):
    """A linear layer on the filtered features."""

    def __init__(self, filter: dict[str, Any]) -> None:
        super().__init__()
        self.filter = filter
        self.output = nn.Linear(FEATURES, CLASSES)

    def matrices(self) -> list[Matrix]:
        return linear(self.output, 1e-4)

    def forward(self, graph: Graph) -> Tensor:
        return self.output(filtered(graph, **self.filter))


class Dual(Model):
    """The dual of ridge regression on the filtered features, with one row for each training node:
    1/2 tr(L'L) + lambda/2 tr(L'ML) - tr(L'Y), M = F_train F_train'; scores = lambda F F_train' L.
    """

    def __init__(self, filter: dict[str, Any], lambda_: float) -> None:
        super().__init__()
        self.filter = filter
        self.lambda_ = lambda_
        self.dual = nn.Parameter(torch.empty(TRAIN, CLASSES))

    def matrices(self) -> list[Matrix]:
        return [Matrix(self.dual, 0.0)]

    def forward(self, graph: Graph) -> Tensor:
        f = filtered(graph, **self.filter)
        return self.lambda_ * f @ f[graph.train].T @ self.dual

    def loss(self, graph: Graph) -> Tensor:
        f = filtered(graph, **self.filter)[graph.train]
        m = f @ f.T
        y = F.one_hot(graph.labels[graph.train], CLASSES).to(m.dtype)
        l = self.dual
        return (l.T @ l / 2 + self.lambda_ / 2 * l.T @ m @ l - l.T @ y).trace()


MODELS = {
    "gcn": Gcn,
    "gat": Gat,
    "jknet": JkNet,
    "appnp": Appnp,
    "gcnii": Gcnii,
    "logistic": Logistic,
    "dual": Dual,
}


def descriptions() -> list[dict[str, Any]]:
    """The models to train, as they are written to the file."""
    networks = [
        {"kind": "gcn"},
        {"kind": "gat"},
        {"kind": "jknet", "jump": "concat"},
        {"kind": "jknet", "jump": "max"},
        {"kind": "appnp"},
        {"kind": "gcnii"},
    ]
    models = [{"kind": "gcn", "depth": 1}]
    models += [{**network, "depth": depth} for network in networks for depth in DEPTHS]
    for depth in DEPTHS:
        sgc = {"kind": "sgc", "depth": depth}
        ssgc = {"kind": "ssgc", "depth": depth, "tau": 0.05}
        dgc = {"kind": "dgc", "depth": depth, "time": 1.5}
        models += [{"kind": "logistic", "filter": filter} for filter in [sgc, ssgc, dgc]]
        models.append({"kind": "dual", "filter": sgc, "lambda": 0.7})
    return models


def build(description: dict[str, Any]) -> Model:
    options = {name: value for name, value in description.items() if name != "kind"}
    if "lambda" in options:
        options["lambda_"] = options.pop("lambda")
    return MODELS[description["kind"]](**options)


def initialize(matrices: list[Matrix]) -> list[list[list[float]]]:
    """Draws every parameter, biases too, and returns the matrices."""
    random = np.random.default_rng(PARAMETER_SEED)
    values = []
    for matrix in matrices:
        view = matrix.view(matrix.parameter.data)
        drawn = rounded(random.normal(scale=0.5, size=view.shape).tolist(), 6)
        view.copy_(torch.tensor(drawn))
        values.append(drawn)
    return values


def train(graph: Graph, description: dict[str, Any]) -> dict[str, Any]:
    model = build(description)
    matrices = model.matrices()
    assert {id(m.parameter) for m in matrices} == {id(p) for p in model.parameters()}
    initial = initialize(matrices)
    assert initial == [m.view(m.parameter).tolist() for m in matrices]
    groups = [{"params": [m.parameter], "weight_decay": m.decay} for m in matrices]
    optimizer = torch.optim.Adam(groups, lr=0.01, betas=(0.9, 0.999), eps=1e-8)
    losses, gradients = [], []
    for epoch in range(EPOCHS):
        optimizer.zero_grad()
        loss = model.loss(graph)
        loss.backward()
        losses.append(loss.item())
        if epoch == 0:
            # The decay is no part of them: Adam adds it within its step.
            gradients = [m.view(m.parameter.grad).tolist() for m in matrices]
        optimizer.step()
    assert losses[-1] < losses[0], description
    assert all(np.abs(gradient).max() > 1e-3 for gradient in gradients), description
    return {
        "model": description,
        "parameters": initial,
        "decay": [matrix.decay for matrix in matrices],
        "losses": rounded(losses, 10),
        "gradients": rounded(gradients, 10),
        "scores": rounded(model(graph).tolist(), 10),
    }


def check_graph(graph: Graph) -> None:
    a = graph.adjacency()
    degrees = a.sum(1)
    assert degrees.min() == 1 and degrees.max() >= 6
    assert (torch.linalg.matrix_power(a + torch.eye(NODES), NODES) > 0).all(), "not connected"


def check_filter(graph: Graph) -> None:
    """The sgc filter is the propagation of GCNConv with identity weights."""
    layer = GCNConv(FEATURES, FEATURES, bias=False)
    layer.lin.weight.data = torch.eye(FEATURES)
    h = graph.features
    for depth in range(1, max(DEPTHS) + 1):
        h = layer(h, graph.edge_index)
        torch.testing.assert_close(filtered(graph, "sgc", depth), h, rtol=1e-13, atol=1e-15)


def main() -> None:
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    graph = Graph()
    check_graph(graph)
    check_filter(graph)
    head = {
        "nodes": NODES,
        "edges": graph.edges,
        "features": graph.features.tolist(),
        "labels": graph.labels.tolist(),
        "train": graph.train.tolist(),
        "epochs": EPOCHS,
    }
    compact = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
    runs = ",\n".join(compact(train(graph, description)) for description in descriptions())
    print(compact(head)[:-1] + ',"runs":[\n' + runs + "\n]}")


if __name__ == "__main__":
    main()
