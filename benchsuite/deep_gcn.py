"""GCN of any depth in PyTorch, with the settings that its programs differ in: how weights and biases start, what decays,
how features and the graph are scaled, dropout, which epoch counts. One network per split, all of them trained at once.

    python3 benchsuite/deep_gcn.py GRAPH --depth 128 [--start outputs] [--decay all] [--features row]

GRAPH is the archive of a graph, whose largest component is used as in the paper; prints the test accuracies, their mean and
standard error, after the last epoch and at the best one on the validation part. Installs the peers of the benchsuite, of
which it needs PyTorch and SciPy.

Weights and biases start evenly between ± a bound:

    glorot   weights √(6 / (inputs + outputs)), biases 0: GCN's paper, PyTorch Geometric
    outputs  both 1/√outputs: the PyTorch program of GCN's first author
    inputs   both 1/√inputs: PyTorch's linear layer
"""

from __future__ import annotations

import argparse
from pathlib import Path

from runner import alone

HIDDEN, DECAY = 16, 5e-4
PARTS = ("train", "validation", "test")


def measure(options: argparse.Namespace) -> None:
    import numpy as np
    from problem import load, load_splits

    splits = load_splits(str(options.splits))[: options.runs]
    for epoch, accuracies in train(load(str(options.graph)), splits, options).items():
        error = accuracies.std(ddof=1) / len(accuracies) ** 0.5 if len(accuracies) > 1 else float("nan")
        each = " ".join(f"{a:.1f}" for a in sorted(accuracies))
        print(f"{epoch} epoch: {np.mean(accuracies):.1f} ± {error:.1f} ({each})", flush=True)


def train(problem, splits, options):
    """The test accuracies in percent, one per split: after the last epoch, and at the best one on the validation part."""
    import torch
    from problem import normalized
    from torch.nn import functional

    device, runs, nodes = options.device, len(splits), len(problem.labels)
    torch.manual_seed(options.seed)
    scaled = normalized(problem.adjacency, options.graph_scaling)
    operator, transposed = sparse(scaled, device), sparse(scaled.T.tocsr(), device)
    features = problem.features
    if options.features == "row":
        features = features / features.sum(axis=1, keepdims=True).clip(1e-12)
    features = torch.from_numpy(features).to(device)
    labels = torch.from_numpy(problem.labels).to(device)

    class Propagate(torch.autograd.Function):
        @staticmethod
        def forward(_, h):
            return operator @ h

        @staticmethod
        def backward(_, gradient):
            return transposed @ gradient

    def together(parts):
        return torch.stack([torch.from_numpy(part) for part in parts]).to(device)

    trained, validated, tested = (together([getattr(split, part) for split in splits]) for part in PARTS)
    widths = [features.shape[1], *[HIDDEN] * (options.depth - 1), problem.classes]
    layers = [start(options.start, runs, *shape, device) for shape in zip(widths, widths[1:])]
    decaying = {"none": 0, "first": 1, "all": options.depth}[options.decay]
    groups = [
        {"params": sum(layers[:decaying], ()), "weight_decay": DECAY},
        {"params": sum(layers[decaying:], ()), "weight_decay": 0.0},
    ]
    optimizer = torch.optim.Adam([g for g in groups if g["params"]], lr=options.rate)

    def scores(training):
        """Runs × nodes × classes."""
        h = None
        for k, (weight, bias) in enumerate(layers):
            if h is None:
                dropped = (functional.dropout(features, options.dropout, training) for _ in range(runs))
                product = torch.stack([kept @ own for kept, own in zip(dropped, weight)], 1)
            else:
                h = functional.dropout(h.relu(), options.dropout, training)
                product = torch.einsum("nri,rio->nro", h, weight)
            h = Propagate.apply(product.flatten(1)).view(nodes, runs, -1) + bias
        return h.transpose(0, 1)

    def accuracy(all_scores, parts):
        right = all_scores.argmax(2).eq(labels).gather(1, parts)
        return 100 * right.double().mean(1)

    best = torch.full((runs,), -1.0, dtype=torch.float64, device=device)
    kept = last = torch.zeros_like(best)
    for _ in range(options.epochs):
        optimizer.zero_grad()
        chosen = scores(True).gather(1, trained[:, :, None].expand(-1, -1, problem.classes))
        # A run's loss is a mean over its nodes, and nothing of a run depends on another.
        loss = functional.cross_entropy(chosen.flatten(0, 1), labels[trained].flatten()) * runs
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            now = scores(False)
            validation, last = accuracy(now, validated), accuracy(now, tested)
            kept = torch.where(validation > best, last, kept)
            best = torch.maximum(best, validation)
    return {"last": last.cpu().numpy(), "best": kept.cpu().numpy()}


def start(rule, runs, inputs, outputs, device):
    """Weight and bias of a layer for every run."""
    import torch

    bounds = {
        "glorot": ((6 / (inputs + outputs)) ** 0.5, 0.0),
        "outputs": (outputs**-0.5,) * 2,
        "inputs": (inputs**-0.5,) * 2,
    }
    weight, bias = (
        torch.empty(shape, device=device).uniform_(-bound, bound).requires_grad_()
        for shape, bound in zip([(runs, inputs, outputs), (runs, outputs)], bounds[rule])
    )
    return weight, bias


def sparse(matrix, device):
    import torch

    parts = (torch.from_numpy(part) for part in (matrix.indptr, matrix.indices, matrix.data))
    return torch.sparse_csr_tensor(*parts, size=matrix.shape, device=device)


def parse() -> argparse.Namespace:
    parser = alone.parser(__doc__)
    parser.add_argument("--depth", type=int, default=128)
    parser.add_argument("--start", choices=["glorot", "outputs", "inputs"], default="glorot")
    parser.add_argument("--decay", choices=["none", "first", "all"], default="first")
    parser.add_argument("--dropout", type=float, default=0.5)
    parser.add_argument("--features", choices=["as-given", "row"], default="as-given")
    parser.add_argument("--graph-scaling", choices=["sym", "row"], default="sym")
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--rate", type=float, default=0.01, help="Adam's learning rate")
    parser.add_argument("--runs", type=int, default=20, help="one per split, 20 at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu", help="as PyTorch names it, such as cuda")
    return parser.parse_args()


if __name__ == "__main__":
    alone.run(parse(), measure)
