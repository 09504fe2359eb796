"""Anything array-like as an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Array


def array(values: Any) -> Array:
    """Anything array-like, also a tensor with a gradient or on another device."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    return np.asarray(values)


def indices(values: Any) -> Array:
    """Numbers of rows, columns or nodes, in a width that the engine reads."""
    values = array(values)
    return np.require(values, values.dtype if values.dtype in (np.int32, np.int64) else np.int64, ["C", "A"])


def is_sparse_tensor(values: Any) -> bool:
    """Whether this is a tensor of PyTorch's without its zeros."""
    return "sparse" in str(getattr(values, "layout", ""))


def in_order_of(nodes: list[Any] | None, values: Any) -> Any:
    """A series or data frame whose index names the nodes of a graph, in the order of the graph."""
    if nodes is None or not hasattr(values, "reindex") or type(values.index).__name__ == "RangeIndex":
        return values
    index = list(values.index)
    return values.reindex(nodes) if index != nodes and set(index) == set(nodes) else values


def with_gaps(column: Any) -> tuple[Array, Array] | None:
    """The values of a column that says for itself what is missing, and a mask of that; None where it does not.

    Those are the nullable and categorical columns of pandas, and the columns of Polars and pyarrow. NumPy knows no missing
    integer, so that it would make floats or objects of them; here the others stay what they are.
    """
    if hasattr(column, "isna") and not isinstance(getattr(column, "dtype", np.dtype(object)), np.dtype):
        missing, there = np.asarray(column.isna(), dtype=bool), column.dropna()
        wanted = getattr(column.dtype, "numpy_dtype", None)
        if wanted is not None and wanted.kind != "O":
            return _spread(there.to_numpy(dtype=wanted), missing)
        return _spread(np.asarray(there), missing)
    if hasattr(column, "drop_nulls"):  # Polars
        return _spread(column.drop_nulls().to_numpy(), column.is_null().to_numpy())
    if hasattr(column, "drop_null") and hasattr(column, "is_null"):  # pyarrow
        there = column.drop_null()
        if hasattr(there.type, "index_type"):
            there = there.cast(there.type.value_type)
        missing = np.asarray(column.is_null().to_pylist(), dtype=bool)
        return _spread(there.to_numpy(zero_copy_only=False) if _is_single(there) else there.to_numpy(), missing)
    return None


def _is_single(column: Any) -> bool:
    """Whether a column of pyarrow's is in one piece."""
    return not hasattr(column, "chunks")


def _spread(there: Array, missing: Array) -> tuple[Array, Array]:
    """What is there, with anything where something is missing."""
    values = np.zeros(len(missing), dtype=there.dtype)
    values[~missing] = there
    return values, missing
