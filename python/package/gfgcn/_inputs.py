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


@dataclass
class Features:
    """Checked features."""

    table: Any
    rows: int
    columns: int
    names: list[str] | None


def features(X: Any, nodes: list[Any] | None = None, names: list[str] | None = None) -> Features:
    """Features in single precision, C-ordered or in compressed rows; without a copy where they are so already."""
    if X is None:
        raise ValueError("there are no features: X is None")
    if isinstance(X, dict) and not hasattr(X, "tocsr"):  # SciPy's dok_array is a dict
        if nodes is None:
            raise ValueError("X is a dict, so the graph must say in which order its nodes come; pass a networkx graph")
        absent = [node for node in nodes if node not in X]
        if absent:
            raise ValueError(f"X has no features of node {absent[0]!r}")
        X = [X[node] for node in nodes]
    X = _in_order_of(nodes, X)
    names = _names(X) or names
    if hasattr(X, "tocsr"):
        return _sparse(X, names)
    if _is_sparse_tensor(X):
        raise ValueError("X is a sparse tensor; pass a SciPy matrix, or X.to_dense()")
    if np.ma.is_masked(X):
        raise ValueError("X has masked entries; features must be known, fill them in first")
    X = _array(X)
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if X.dtype.kind not in "biufOSU":
        raise ValueError(f"features are numbers, but X holds {X.dtype}")
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead. Reshape your data: one row per node, one column per "
            "feature."
        )
    _check_shape(X.shape)
    if X.dtype.kind in "OSU":
        X = np.asarray(X, dtype=np.float64)
    with np.errstate(over="ignore"):  # what overflows is refused with its place
        X = np.require(X, np.float32, ["C", "A"])
    return Features(X, X.shape[0], X.shape[1], names)


def _in_order_of(nodes: list[Any] | None, values: Any) -> Any:
    """A series or data frame whose index names the nodes of a graph, in the order of the graph."""
    if nodes is None or not hasattr(values, "reindex") or type(values.index).__name__ == "RangeIndex":
        return values
    index = list(values.index)
    return values.reindex(nodes) if index != nodes and set(index) == set(nodes) else values


def _is_sparse_tensor(values: Any) -> bool:
    return "sparse" in str(getattr(values, "layout", ""))


def _sparse(X: Any, names: list[str] | None) -> Features:
    if len(X.shape) != 2:
        raise ValueError(f"Expected 2D array, got {len(X.shape)}D array instead. Reshape your data: one row per node.")
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
        _check_square(adjacency.shape, rows)
        if adjacency.format == "coo":  # whose conversion would add up repeated edges
            order = np.argsort(adjacency.row, kind="stable")
            counts = np.bincount(adjacency.row, minlength=adjacency.shape[0])
            return _matrix(_offsets(counts), adjacency.col[order], adjacency.data[order])
        adjacency = adjacency.tocsr()
        return _matrix(adjacency.indptr, adjacency.indices, adjacency.data)
    if _is_sparse_tensor(adjacency):
        adjacency = adjacency.detach().to_sparse_coo().coalesce()
        _check_square(adjacency.shape, rows)
        return _list(_array(adjacency.indices()), adjacency.values())
    if isinstance(adjacency, (tuple, list)) and len(adjacency) == 2:
        first = _array(adjacency[0])
        if first.ndim == 2 or adjacency[1] is None:
            return _list(first, adjacency[1])
    adjacency = _array(adjacency)
    if adjacency.ndim != 2:
        raise ValueError(
            f"a graph is a matrix (nodes × nodes), an edge_index (2 × edges) or a networkx graph, not an array of "
            f"{adjacency.ndim} dimensions"
        )
    if adjacency.shape[0] == 2 and (adjacency.shape[1] != 2 or rows not in (None, 2)):
        return _list(adjacency, None)
    _check_square(adjacency.shape, rows)
    if adjacency.dtype.kind not in "biuf":
        raise ValueError(f"an adjacency matrix holds numbers, but this holds {adjacency.dtype}")
    counts = np.count_nonzero(adjacency, axis=1)
    return _matrix(_offsets(counts), np.nonzero(adjacency)[1], adjacency[adjacency != 0])


def _offsets(counts: Array) -> Array:
    """Where each row begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts)])


def _matrix(indptr: Any, indices: Any, data: Any) -> Edges:
    if data.dtype.kind not in "biuf":
        raise ValueError(f"an adjacency matrix holds numbers, but this holds {data.dtype}")
    with np.errstate(over="ignore"):
        weights = np.require(data, np.float32, ["C", "A"])
    return Edges((_indices(indptr), _indices(indices), weights), as_matrix=True)


def _list(ends: Array, weights: Any) -> Edges:
    if ends.ndim != 2 or ends.shape[0] != 2:
        raise ValueError(f"edge_index has two rows, the ends of each edge, but this has the shape {ends.shape}")
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
    if len(shape) != 2 or shape[0] != shape[1]:
        size = " × ".join(map(str, shape))
        transposed = "; a list of edges is 2 × edges, transpose it" if len(shape) == 2 and shape[1] == 2 else ""
        raise ValueError(f"an adjacency matrix is square, but this is {size}{transposed}")
    if rows is not None and shape[0] != rows:
        raise ValueError(f"the graph has {shape[0]} nodes, but X has {rows} rows; each node needs one")


@dataclass
class Labels:
    """Class numbers, -1 for unlabelled, and what the classes are called."""

    codes: Array
    classes: Array
    class_names: Any = None

    @property
    def names(self) -> list[str]:
        """For the model file: what a dataset calls its classes, or the classes themselves; whole numbers without a
        point."""
        if self.class_names is not None:
            return [str(self.class_names[k]) for k in self.classes]
        whole = [isinstance(name, (float, np.floating)) and float(name).is_integer() for name in self.classes]
        return [str(int(name) if is_whole else name) for name, is_whole in zip(self.classes, whole)]


def labels(y: Any, rows: int, nodes: list[Any] | None = None, class_names: Any = None) -> Labels:
    """Labels of any type: -1, NaN and None stand for unlabelled, and so does what is masked. `class_names` has what the
    integers in y stand for, if anything."""
    if y is None:
        return Labels(np.full(rows, -1, dtype=np.int64), np.empty(0, dtype=object))
    if isinstance(y, dict):
        if nodes is None:
            nodes = list(range(rows))
        strangers = set(y) - set(nodes)
        if strangers:
            raise ValueError(f"y has a label of {next(iter(strangers))!r}, which is no node of the graph")
        y = np.array([y.get(node) for node in nodes], dtype=object)
    y = _label_array(_in_order_of(nodes, y))
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
    if len(classes) == 1 and y.dtype.kind in "if" and np.any(y == -1):
        warn(f"{classes[0]} is the only class: -1 stands for unlabelled. Name the classes 0 and 1 if it is a class too.")
    return Labels(codes, classes, class_names)


def _label_array(y: Any) -> Array:
    """Labels as an array in which those that are not known can be told."""
    if isinstance(y, np.ma.MaskedArray):
        missing = np.ma.getmaskarray(y)
        y = np.asarray(y).astype(object)
        y[missing] = None
        return np.asarray(y)
    array = _array(y)
    if array.dtype.kind in "US" and not isinstance(y, np.ndarray) and hasattr(y, "__iter__"):
        # A list of strings with NaN or -1 among them, which NumPy takes for strings too.
        if not all(isinstance(label, (str, bytes)) for label in y):
            return np.array(list(y), dtype=object)
    return array


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
    if kind in "Mm":
        return np.asarray(~np.isnat(y))
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
    nodes = np.require(nodes.reshape(-1), np.int64, ["C", "A"])
    if len(nodes) == rows > 2 and np.isin(nodes, (0, 1)).all():
        raise ValueError(f"the {name} part looks like a mask of zeros and ones; make it one of True and False")
    outside = nodes[(nodes < 0) | (nodes >= rows)]
    if len(outside):
        raise ValueError(f"the {name} part names node {outside[0]}, but the nodes are 0 to {rows - 1}")
    numbers, counts = np.unique(nodes, return_counts=True)
    if len(numbers) < len(nodes):
        raise ValueError(f"the {name} part names node {numbers[counts > 1][0]} twice")
    return np.asarray(nodes)


def mask(nodes: Any, rows: int, name: str) -> Array:
    """The same as a mask."""
    inside = np.zeros(rows, dtype=bool)
    inside[part(nodes, rows, name)] = True
    return inside


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
