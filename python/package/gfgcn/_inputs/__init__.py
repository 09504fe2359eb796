"""What users hold (arrays, sparse matrices, data frames, graphs of several libraries) as what the engine reads.

Nothing is imported to recognise its objects: a graph of networkx is what has nodes and edges, a matrix of SciPy what
has ``tocsr``, and so on. Arrays that have the engine's layout are passed on as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._estimator import warn
from .._gfgcn import Dataset
from .._types import Array
from .classes import Labels, labels, mask, part
from .graphs import Edges, edges
from .tables import Features, features, rows

__all__ = ["Checked", "Given", "GraphWarning", "Labels", "check", "labels", "mask", "part", "training_nodes", "unpack"]


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

    def without_labels(self) -> Given:
        """For what is predicted or filtered: labels that come along are none of its business."""
        return replace(self, y=None, train=None, class_names=None)


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


@dataclass
class Checked:
    """What was given, understood."""

    graph: Edges
    table: Features
    labels: Labels
    train: Any

    @property
    def rows(self) -> int:
        """How many nodes there are."""
        return self.table.rows

    def trains(self) -> Array:
        """A mask of the nodes that may be learnt from: labelled, and in the training part if there is one."""
        labelled = self.labels.codes >= 0
        return labelled if self.train is None else labelled & mask(self.train, self.rows, "training")

    def dataset(self, threads: int) -> Dataset:
        """Joins the parts, and says what had to be repaired."""
        table, nodes = self.table, self.graph.nodes
        if nodes is not None and len(nodes) != self.rows:
            raise ValueError(f"the graph has {len(nodes)} nodes, but X has {self.rows} rows; each node needs one")
        edges, labels = (self.graph.parts, self.graph.as_matrix), (self.labels.codes, self.labels.names)
        built = Dataset.build(*edges, table.table, *labels, table.names, threads)
        for note in built.notes:
            warn(note, GraphWarning)
        return built


def check(given: Given) -> Checked:
    """Understands every part; no labels are as good as unknown ones."""
    graph = edges(given.adjacency, rows(given.X))
    table = features(given.X, graph.nodes, given.feature_names)
    known = labels(given.y, table.rows, graph.nodes, given.class_names)
    return Checked(graph, table, known, given.train)


def training_nodes(trains: Array) -> Array:
    """The numbers of the nodes in a mask, of which there must be some."""
    train = np.flatnonzero(trains).astype(np.int64)
    if not len(train):
        raise ValueError("no node has a label, so there is nothing to learn from; label some first")
    return train
