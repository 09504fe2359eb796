"""What users hold (arrays, sparse matrices, data frames, graphs of several libraries) as what the engine reads.

Nothing is imported to recognise its objects: a graph of networkx is what has nodes and edges, a matrix of SciPy what
has ``tocsr``, and so on. Arrays that have the engine's layout are passed on as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._estimator import warn
from ._gfgcn import Dataset
from ._types import Array


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


def unpack(X: Any, y: Any, adjacency: Any) -> Given:
    """Takes apart what has features, labels and a graph in one: PyTorch Geometric's ``Data``, or a dataset of ours."""
    if hasattr(X, "edge_index") and hasattr(X, "x"):
        if X.x is None:
            raise ValueError("the data have no features: x is None")
        weights = getattr(X, "edge_weight", None)
        graph = (X.edge_index, weights) if adjacency is None else adjacency
        features = X.x
    elif hasattr(X, "adjacency") and hasattr(X, "X"):
        graph = X.adjacency if adjacency is None else adjacency
        features = X.X
    else:
        return Given(X, y, adjacency)
    train = None
    if y is None:
        y = getattr(X, "y", None)
        train = getattr(X, "train_mask", None)
    return Given(features, y, graph, train, getattr(X, "val_mask", None))


@dataclass
class Features:
    """Checked features."""

    table: Any
    rows: int
    columns: int
    names: list[str] | None


def features(X: Any, nodes: list[Any] | None = None) -> Features:
    """Features in single precision, C-ordered or in compressed rows; without a copy where they are so already."""
    if isinstance(X, dict) and not hasattr(X, "tocsr"):  # SciPy's dok_array is a dict
        if nodes is None:
            raise ValueError("X is a dict, so the graph must say in which order its nodes come; pass a networkx graph")
        absent = [node for node in nodes if node not in X]
        if absent:
            raise ValueError(f"X has no features of node {absent[0]!r}")
        X = [X[node] for node in nodes]
    names = _names(X)
    if hasattr(X, "tocsr"):
        return _sparse(X, names)
    X = _array(X)
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead. Reshape your data: one row per node, one column per "
            "feature."
        )
    _check_shape(X.shape)
    if X.dtype.kind in "OSUV":
        X = np.asarray(X, dtype=np.float64)
    with np.errstate(over="ignore"):  # what overflows is refused with its place
        X = np.require(X, np.float32, ["C", "A"])
    return Features(X, X.shape[0], X.shape[1], names)


def _sparse(X: Any, names: list[str] | None) -> Features:
    X = X.tocsr()
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    _check_shape(X.shape)
    with np.errstate(over="ignore"):
        values = np.require(X.data, np.float32, ["C", "A"])
    table = ((_indices(X.indptr), _indices(X.indices), values), X.shape[1])
    return Features(table, X.shape[0], X.shape[1], names)


def _check_shape(shape: tuple[int, ...]) -> None:
    for size, what in zip(shape, ("sample(s)", "feature(s)")):
        if size == 0:
            raise ValueError(f"Found array with 0 {what} (shape={tuple(shape)}) while a minimum of 1 is required.")


def _names(X: Any) -> list[str] | None:
    """The names of a data frame's columns, if all are strings."""
    if not (hasattr(X, "columns") and hasattr(X, "to_numpy")):
        return None
    columns = list(X.columns)
    kinds = {isinstance(column, str) for column in columns}
    if kinds == {True, False}:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has some "
            "that are not. Convert them with: X.columns = X.columns.astype(str)"
        )
    return columns if kinds == {True} else None


def _array(values: Any) -> Array:
    """Anything array-like, also a tensor with a gradient or on another device."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    return np.asarray(values)


def _indices(values: Any) -> Array:
    values = _array(values)
    return np.require(values, values.dtype if values.dtype in (np.int32, np.int64) else np.int64, ["C", "A"])


def rows(X: Any) -> int | None:
    """How many nodes there are, where X says so before it is converted."""
    shape = getattr(X, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else None
    return None if isinstance(X, dict) or not hasattr(X, "__len__") else len(X)


@dataclass
class Edges:
    """A graph: the rows and columns of an adjacency matrix or the ends of edges, with weights."""

    parts: tuple[Any, Any, Any] | None
    as_matrix: bool = False
    nodes: list[Any] | None = None


def edges(adjacency: Any, rows: int | None) -> Edges:
    """Recognises a graph on so many nodes, if that is known."""
    if adjacency is None:
        return Edges(None)
    if hasattr(adjacency, "nodes") and hasattr(adjacency, "edges") and hasattr(adjacency, "adj"):
        return _networkx(adjacency)
    if hasattr(adjacency, "tocsr"):
        adjacency = adjacency.tocsr()
        _check_square(adjacency.shape, rows)
        return _matrix(adjacency.indptr, adjacency.indices, adjacency.data)
    weights = None
    if isinstance(adjacency, (tuple, list)) and len(adjacency) == 2:
        first = _array(adjacency[0])
        if first.ndim == 2 or adjacency[1] is None:
            adjacency, weights = first, adjacency[1]
    adjacency = _array(adjacency)
    if adjacency.ndim != 2:
        raise ValueError(f"a graph has two dimensions (nodes × nodes, or 2 × edges), but this has {adjacency.ndim}")
    is_list = adjacency.shape[0] == 2 and (weights is not None or adjacency.shape[1] != 2 or rows not in (None, 2))
    if is_list:
        return _list(adjacency, weights)
    _check_square(adjacency.shape, rows)
    if adjacency.dtype.kind not in "biuf":
        raise ValueError(f"an adjacency matrix holds numbers, but this holds {adjacency.dtype}")
    counts = np.count_nonzero(adjacency, axis=1)
    columns = np.nonzero(adjacency)[1]
    return _matrix(np.concatenate([[0], np.cumsum(counts)]), columns, adjacency[adjacency != 0])


def _matrix(indptr: Any, indices: Any, data: Any) -> Edges:
    if data.dtype.kind not in "biuf":
        raise ValueError(f"an adjacency matrix holds numbers, but this holds {data.dtype}")
    with np.errstate(over="ignore"):
        weights = np.require(data, np.float32, ["C", "A"])
    return Edges((_indices(indptr), _indices(indices), weights), as_matrix=True)


def _list(ends: Array, weights: Any) -> Edges:
    if ends.size and ends.dtype.kind not in "iu":
        raise ValueError(f"edge_index holds node numbers, but this holds {ends.dtype}")
    if weights is not None:
        with np.errstate(over="ignore"):
            weights = np.require(_array(weights).reshape(-1), np.float32, ["C", "A"])
    return Edges((_indices(ends[0]), _indices(ends[1]), weights))


def _networkx(graph: Any) -> Edges:
    nodes = list(graph.nodes)
    place = {node: k for k, node in enumerate(nodes)}
    triples = [(place[a], place[b], 1.0 if w is None else w) for a, b, w in graph.edges(data="weight")]
    ends = np.array([(a, b) for a, b, _ in triples], dtype=np.int64).reshape(-1, 2)
    weights = np.array([w for _, _, w in triples], dtype=np.float32)
    return Edges((_indices(ends[:, 0]), _indices(ends[:, 1]), weights), nodes=nodes)


def _check_square(shape: tuple[int, ...], rows: int | None) -> None:
    if shape[0] != shape[1]:
        raise ValueError(f"an adjacency matrix is square, but this is {shape[0]} × {shape[1]}")
    if rows is not None and shape[0] != rows:
        raise ValueError(f"the graph has {shape[0]} nodes, but X has {rows} rows; each node needs one")


@dataclass
class Labels:
    """Class numbers, -1 for unlabelled, and what the classes are called."""

    codes: Array
    classes: Array

    @property
    def names(self) -> list[str]:
        """For the model file: whole numbers without a point."""
        whole = self.classes.dtype.kind == "f"
        return [str(int(name) if whole else name) for name in self.classes]


def labels(y: Any, rows: int, nodes: list[Any] | None = None) -> Labels:
    """Labels of any type: -1, NaN and None stand for unlabelled."""
    if y is None:
        return Labels(np.full(rows, -1, dtype=np.int64), np.empty(0, dtype=object))
    if isinstance(y, dict):
        if nodes is None:
            nodes = list(range(rows))
        strangers = set(y) - set(nodes)
        if strangers:
            raise ValueError(f"y has a label of {next(iter(strangers))!r}, which is no node of the graph")
        y = np.array([y.get(node) for node in nodes], dtype=object)
    y = _array(y)
    if y.ndim == 2 and y.shape[1] == 1:
        _warn_of_column()
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    if len(y) != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(y)}]")
    known = _known(y)
    try:
        classes, codes_of_known = np.unique(y[known], return_inverse=True)
    except TypeError as error:
        raise ValueError(f"the labels cannot be put in order: {error}") from None
    if classes.dtype.kind == "f" and np.any(classes != np.floor(classes)):
        raise ValueError(
            "Unknown label type: continuous. Labels are classes; for numbers in between use a regressor."
        )
    codes = np.full(rows, -1, dtype=np.int64)
    codes[known] = codes_of_known.reshape(-1)
    return Labels(codes, classes)


def _known(y: Array) -> Array:
    """Where there is a label."""
    kind = y.dtype.kind
    if kind in "iu":
        return np.asarray(y != -1)
    if kind == "f":
        if np.isinf(y).any():
            raise ValueError("Input y contains infinity or a value too large for a class.")
        return np.asarray(~np.isnan(y) & (y != -1))
    if kind == "O":
        return np.array([not _stands_for_nothing(label) for label in y], dtype=bool)
    if kind == "c":
        raise ValueError("Complex data not supported: y are classes")
    return np.ones(len(y), dtype=bool)


def _stands_for_nothing(label: Any) -> bool:
    if label is None or isinstance(label, str):
        return label is None
    same = label == label
    # NaN differs from itself; pandas' NA does not even say.
    return not isinstance(same, (bool, np.bool_)) or not same or (not isinstance(label, bool) and bool(label == -1))


def _warn_of_column() -> None:
    import sys

    loaded = sys.modules.get("sklearn.exceptions")
    category = getattr(loaded, "DataConversionWarning", UserWarning)
    warn("A column-vector y was passed when a 1d array was expected. Change the shape of y to (n_samples,).", category)


def part(nodes: Any, rows: int, name: str) -> Array:
    """Node numbers of a part of a split that is given as a mask or as numbers."""
    nodes = _array(nodes)
    if nodes.dtype.kind == "b":
        if nodes.shape != (rows,):
            raise ValueError(f"the {name} mask has shape {nodes.shape}, but there are {rows} nodes")
        return np.flatnonzero(nodes).astype(np.int64)
    if nodes.size and nodes.dtype.kind not in "iu":
        raise ValueError(f"the {name} part is a mask or node numbers, but this holds {nodes.dtype}")
    return np.require(nodes.reshape(-1), np.int64, ["C", "A"])


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
