"""What users hold (arrays, sparse matrices, data frames, graphs of several libraries) as what the engine reads.

Nothing is imported to recognise its objects: a graph of networkx is what has nodes and edges, a matrix of SciPy what
has ``tocsr``, and so on. Arrays that have the engine's layout are passed on as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Union

import numpy as np

from .._estimator import warn
from .._gfgcn import Dataset, Model
from .._settings import Workers, flag
from .._store import Store
from .._types import Array
from .classes import Labels, class_weights, labels, mask, part
from .frames import is_edge_frame, is_frame, row_names
from .graphs import Arcs, Edges, GraphWarning, edges, node_ids
from .sets import LabelSets, is_matrix, label_sets
from .tables import Features, features, no_features, rows
from .values import Values, values
from .weights import sample_weights

__all__ = [
    "Checked",
    "Given",
    "GraphWarning",
    "LabelSets",
    "Labels",
    "Targets",
    "Values",
    "check",
    "class_weights",
    "mask",
    "part",
    "sample_weights",
    "targets",
    "training_nodes",
    "unpack",
]

Targets = Union[Labels, LabelSets, Values]
"""What is known of the nodes."""


@dataclass
class Given:
    """Features, labels and a graph, by themselves or unpacked from one object that has them all."""

    X: Any
    y: Any = None
    adjacency: Any = None
    directed: bool | None = None
    train: Any = None
    validation: Any = None
    class_names: Any = None
    feature_names: list[str] | None = None
    rows: int | None = None
    rows_before: int | None = None
    engine: Dataset | None = None
    # The model that the columns of a data frame became features for.
    like: Model | None = None

    def without_labels(self) -> Given:
        """For what is predicted or filtered: labels that come along are none of its business."""
        return replace(self, y=None, train=None, class_names=None)


def unpack(X: Any, y: Any, adjacency: Any, directed: Any = None) -> Given:
    """Takes apart what has features, labels and a graph in one: PyTorch Geometric's ``Data`` and ``HeteroData``, or a
    dataset of ours."""
    directed = None if directed is None else flag("directed", directed)
    alone = Given(X, y, adjacency, directed)
    if is_frame(X) or hasattr(X, "to_numpy"):  # a data frame, whatever its columns are called
        return alone
    if isinstance(X, Store):
        return _stored(X, alone)
    if hasattr(X, "node_types") and hasattr(X, "edge_types"):
        given, store = _hetero(X, alone)
    elif hasattr(X, "edge_index") and hasattr(X, "x"):
        if adjacency is None and X.edge_index is None:
            raise ValueError("the data have no edges: edge_index is None")
        arcs = Arcs(X.edge_index, getattr(X, "edge_weight", None))
        given, store = replace(alone, X=X.x, adjacency=arcs if adjacency is None else adjacency), X
    elif hasattr(X, "adjacency") and hasattr(X, "X"):
        own = getattr(X, "relations", None) or X.adjacency
        given, store = replace(alone, X=X.X, adjacency=own if adjacency is None else adjacency), X
        given.feature_names = getattr(X, "feature_names", None)
        if adjacency is None and directed is None:
            given.directed = getattr(X, "directed", None)
    else:
        return alone
    given.validation = getattr(store, "val_mask", None)
    if given.X is None:
        given.rows = getattr(store, "num_nodes", None)
    if y is None:
        given.y = getattr(store, "y", None)
        given.train = getattr(store, "train_mask", None)
        given.class_names = getattr(store, "class_names", None)
    return given


def _stored(store: Store, given: Given) -> Given:
    """A store is used where it is: nothing of it is made an array but what is known of the nodes."""
    if given.adjacency is not None or given.directed not in (None, store.directed):
        raise ValueError("a store has its graph, with directions or without; pass neither adjacency nor directed")
    given = replace(given, X=None, adjacency=store, directed=store.directed, rows=store.shape[0], engine=store.engine)
    given.feature_names = store.feature_names
    given.validation = store.val_mask
    if given.y is None:
        given.y, given.train, given.class_names = store.y, store.train_mask, store.class_names
    return given


def _hetero(data: Any, given: Given) -> tuple[Given, Any]:
    """PyTorch Geometric's data with several types of edges between nodes of one type."""
    if len(data.node_types) != 1:
        raise ValueError(f"the data have nodes of {len(data.node_types)} types ({', '.join(data.node_types)}), not of one")
    store = data[data.node_types[0]]
    if given.adjacency is None:
        stores = {kind[1]: data[kind] for kind in data.edge_types}
        relations = {name: Arcs(s.edge_index, getattr(s, "edge_weight", None)) for name, s in stores.items()}
        given = replace(given, adjacency=relations)
    return replace(given, X=getattr(store, "x", None)), store


@dataclass
class Checked:
    """What was given, understood."""

    graph: Edges
    table: Features
    targets: Targets
    train: Any
    hints: bool
    engine: Dataset | None = None
    like: Model | None = None

    @property
    def rows(self) -> int:
        """How many nodes there are."""
        return self.table.rows

    def trains(self) -> Array:
        """A mask of the nodes that may be learnt from: known, and in the training part if there is one."""
        known = self.targets.known
        return known if self.train is None else known & mask(self.train, self.rows, "training")

    def dataset(self, workers: Workers, keep: bool = False) -> Dataset:
        """Joins the parts, and says what had to be repaired. What is kept does not change when the caller's arrays do."""
        if self.engine is not None:
            return self.engine.with_targets(self.targets.engine())
        table, nodes = self.table, self.graph.nodes
        if nodes is not None and len(nodes) != self.rows:
            raise ValueError(f"the graph has {len(nodes)} nodes, but X has {self.rows} rows; each node needs one")
        graph = self.graph.built(self.rows, workers, self.hints)
        ids = None if nodes is None else node_ids(nodes)
        features = table.engine(workers.device, keep)
        built = Dataset.build(graph, features, self.targets.engine(), table.names, ids, keep, workers, self.like)
        for note in built.notes:
            warn(note, GraphWarning)
        return built


def check(given: Given, kind: str = "classes", hints: bool = False) -> Checked:
    """Understands every part; no labels are as good as unknown ones. `kind` is "classes", which label sets pass for, or
    "values"; with `hints` it is said how directions are kept."""
    if given.engine is not None and given.rows is not None:
        graph = Edges([], directed=bool(given.directed))
        nodes, columns = given.adjacency.shape
        table = Features(None, nodes, columns, given.feature_names)
        known = targets(given, kind, table.rows, None)
        return Checked(graph, table, known, given.train, False, engine=given.engine)
    names = None
    if is_edge_frame(given.adjacency):
        X, names = row_names(given.X)
        given = replace(given, X=X)
    encoded = None if given.like is None else given.like.encoded_columns
    count = rows(given.X) if given.X is not None else given.rows
    graph = edges(given.adjacency, count, given.directed, names)
    if given.X is not None:
        table = features(given.X, graph.nodes, given.feature_names, encoded)
    else:
        table = no_features(_count(graph, given))
    known = targets(given, kind, table.rows, graph.nodes)
    return Checked(graph, table, known, given.train, hints and given.directed is None, like=given.like)


def _count(graph: Edges, given: Given) -> int:
    """How many nodes there are where no features say so."""
    if graph.is_empty:
        raise ValueError("there is nothing to learn from: X is None, and there is no graph")
    labelled = given.y is not None and not isinstance(given.y, dict)
    for count in (graph.rows, given.rows, len(given.y) if labelled else None, given.rows_before):
        if count is not None:
            return int(count)
    raise ValueError("a list of edges does not say how many nodes there are; pass X, y or an adjacency matrix")


def targets(given: Given, kind: str, rows: int, nodes: list[Any] | None) -> Targets:
    """What is known of the nodes: values where these are meant; label sets if y is a matrix, classes otherwise."""
    if kind == "values" and given.y is not None:
        return values(given.y, rows, nodes, given.class_names)
    if given.y is not None and is_matrix(given.y):
        return label_sets(given.y, rows, nodes, given.class_names)
    return labels(given.y, rows, nodes, given.class_names)


def training_nodes(trains: Array) -> Array:
    """The numbers of the nodes in a mask, of which there must be some."""
    train = np.flatnonzero(trains).astype(np.int64)
    if not len(train):
        raise ValueError("no node has a label, so there is nothing to learn from; label some first")
    return train
