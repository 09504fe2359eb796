"""What users hold (arrays, sparse matrices, data frames, graphs of several libraries) as what the engine reads.

Nothing is imported to recognise its objects: a graph of networkx is what has nodes and edges, a matrix of SciPy what
has ``tocsr``, and so on. Arrays that have the engine's layout are passed on as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._estimator import warn
from .._gfgcn import Dataset
from .classes import Labels, labels, mask, part
from .graphs import Edges, edges
from .tables import Features, features, rows

__all__ = [
    "Edges",
    "Features",
    "Given",
    "GraphWarning",
    "Labels",
    "dataset",
    "edges",
    "features",
    "labels",
    "mask",
    "part",
    "rows",
    "unpack",
]


class GraphWarning(UserWarning):
    """A graph was repaired: edges merged, dropped or added."""


@dataclass
class Given:
    """Features, labels and a graph, by themselves or unpacked from one object that has them all."""

    X: Any
    y: Any = None
    adjacency: Any = None
    train: Any = None
    validation: Any = None
    class_names: Any = None
    feature_names: list[str] | None = None


def unpack(X: Any, y: Any, adjacency: Any) -> Given:
    """Takes apart what has features, labels and a graph in one: PyTorch Geometric's ``Data``, or a dataset of ours."""
    if hasattr(X, "to_numpy"):  # a data frame, whatever its columns are called
        return Given(X, y, adjacency)
    given = Given(None, y, adjacency, validation=getattr(X, "val_mask", None))
    if hasattr(X, "edge_index") and hasattr(X, "x"):
        if X.x is None:
            raise ValueError("the data have no features: x is None")
        if adjacency is None and X.edge_index is None:
            raise ValueError("the data have no edges: edge_index is None")
        given.X = X.x
        given.adjacency = (X.edge_index, getattr(X, "edge_weight", None)) if adjacency is None else adjacency
    elif hasattr(X, "adjacency") and hasattr(X, "X"):
        given.X = X.X
        given.adjacency = X.adjacency if adjacency is None else adjacency
        given.feature_names = getattr(X, "feature_names", None)
    else:
        return Given(X, y, adjacency)
    if y is None:
        given.y = getattr(X, "y", None)
        given.train = getattr(X, "train_mask", None)
        given.class_names = getattr(X, "class_names", None)
    return given


def dataset(table: Features, graph: Edges, of_nodes: Labels, threads: int) -> Dataset:
    """Joins checked parts, and says what had to be repaired."""
    if graph.nodes is not None and len(graph.nodes) != table.rows:
        raise ValueError(f"the graph has {len(graph.nodes)} nodes, but X has {table.rows} rows; each node needs one")
    built = Dataset.build(
        graph.parts, graph.as_matrix, table.table, of_nodes.codes, of_nodes.names, table.names, threads
    )
    for note in built.notes:
        warn(note, GraphWarning)
    return built
