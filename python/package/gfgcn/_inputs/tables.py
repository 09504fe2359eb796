"""Features: one row of numbers per node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._estimator import warn
from .._gfgcn import trouble_with_gpu
from .arrays import OnGpu, array, gpu_of, in_order_of, indices, is_sparse_tensor
from .frames import engine_columns, is_frame, names_of, plain_numbers


@dataclass
class Features:
    """Checked features."""

    table: Any
    rows: int
    columns: int
    names: list[str] | None

    def engine(self, device: str, keep: bool) -> Any:
        """As the engine reads them: on a GPU, where they are there and may be used there."""
        if not isinstance(self.table, OnGpu):
            return self.table
        if device != "cpu" and not keep:
            problem = trouble_with_gpu(self.table.number)
            if problem is None or device != "auto":
                return self.table.capsule()
            warn(f"X is on a GPU, but was copied to main memory: {problem}")
        return np.require(array(self.table.values), np.float32, ["C", "A"])


def features(
    X: Any, nodes: list[Any] | None = None, names: list[str] | None = None, encoded: list[str] | None = None
) -> Features:
    """Features in single precision, C-ordered or in compressed rows; without a copy where they are so already. Columns of a data
    frame where they are not all numbers, or where features were made of such columns before, which `encoded` names."""
    if isinstance(X, dict) and not hasattr(X, "tocsr"):  # SciPy's dok_array is a dict
        if nodes is None:
            raise ValueError("X is a dict, so the graph must say in which order its nodes come; pass a networkx graph")
        absent = [node for node in nodes if node not in X]
        if absent:
            raise ValueError(f"X has no features of node {absent[0]!r}")
        X = [X[node] for node in nodes]
    X = in_order_of(nodes, X)
    names = _names(X) or names
    if is_frame(X):
        numbers = None if encoded is not None else plain_numbers(X)
        if numbers is None:
            _check_shape((rows(X) or 0, len(names_of(X))))
            named = names or [str(name) for name in names_of(X)]
            return Features(engine_columns(X), rows(X) or 0, len(named), named)
        X = numbers
    elif encoded is not None:
        raise ValueError(
            f"the model was fitted on columns that are not all numbers ({', '.join(encoded[:5])}{', …' if len(encoded) > 5 else ''});"
            " pass X as a data frame with these columns"
        )
    if hasattr(X, "tocsr"):
        return _sparse(X, names)
    if is_sparse_tensor(X):
        raise ValueError("X is a sparse tensor; pass a SciPy matrix, or X.to_dense()")
    if np.ma.is_masked(X):
        raise ValueError("X has masked entries; features must be known, fill them in first")
    if gpu_of(X) is not None:
        return _on_gpu(X, names)
    X = array(X)
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if X.dtype.kind not in "biufOSU":
        raise ValueError(f"features are numbers, but X holds {X.dtype}")
    _check_shape(X.shape)
    if X.dtype.kind in "OSU":
        if any(isinstance(value, (complex, np.complexfloating)) for value in X.flat):
            raise ValueError("Complex data not supported")
        X = np.asarray(X, dtype=np.float64)
    with np.errstate(over="ignore"):  # what overflows is refused with its place
        X = np.require(X, np.float32, ["C", "A"])
    return Features(X, X.shape[0], X.shape[1], names)


def no_features(rows: int) -> Features:
    """What is known of nodes that have no features: how many there are."""
    return Features(rows, rows, 0, None)


def _sparse(X: Any, names: list[str] | None) -> Features:
    _check_shape(X.shape)
    X = X.tocsr()
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    with np.errstate(over="ignore"):
        values = np.require(X.data, np.float32, ["C", "A"])
    table = ((indices(X.indptr), indices(X.indices), values), X.shape[1])
    return Features(table, X.shape[0], X.shape[1], names)


def _on_gpu(X: Any, names: list[str] | None) -> Features:
    """Left where they are for now: where work runs is not known yet."""
    _check_shape(X.shape)
    return Features(OnGpu(X), X.shape[0], X.shape[1], names)


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise ValueError(
            f"Expected 2D array, got {len(shape)}D array instead. Reshape your data: one row per node, one column per "
            "feature."
        )
    for size, what in zip(shape, ("sample(s)", "feature(s)")):
        if size == 0:
            raise ValueError(f"Found array with 0 {what} (shape={tuple(shape)}) while a minimum of 1 is required.")


def _names(X: Any) -> list[str] | None:
    """The names of a data frame's columns, if all are strings."""
    if not is_frame(X):
        return None
    columns = names_of(X)
    kinds = {isinstance(column, str) for column in columns}
    if kinds == {True, False}:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has some "
            "that are not. Convert them with: X.columns = X.columns.astype(str)"
        )
    return columns if kinds == {True} else None


def rows(X: Any) -> int | None:
    """How many nodes there are, where X says so before it is converted."""
    shape = getattr(X, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else None
    return None if isinstance(X, dict) or not hasattr(X, "__len__") else len(X)
