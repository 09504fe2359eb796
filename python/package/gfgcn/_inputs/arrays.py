"""Anything array-like as an array."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .._types import Array


def array(values: Any) -> Array:
    """Anything array-like, also a tensor with a gradient or on another device."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    elif gpu_of(values) is not None and hasattr(values, "get"):
        values = values.get()
    return np.asarray(values)


# DLPack's names of an NVIDIA GPU's memory, and of memory that it shares with the processor.
_CUDA = (2, 13)


def gpu_of(values: Any) -> int | None:
    """The number of the NVIDIA GPU that an array is on, if it is on one."""
    if not hasattr(values, "__dlpack_device__") or isinstance(values, np.ndarray):
        return None
    kind, number = values.__dlpack_device__()
    return int(number) if kind in _CUDA else None


class OnGpu:
    """A dense array of another library's that is on a GPU."""

    def __init__(self, values: Any):
        values = values.detach() if hasattr(values, "detach") else values
        self._library = sys.modules[type(values).__module__.partition(".")[0]]
        name = str(values.dtype).rpartition(".")[2]
        if name.startswith("complex"):
            raise ValueError("Complex data not supported")
        if name != "float32":
            values = values.float() if hasattr(values, "float") else values.astype("float32")
        if hasattr(values, "contiguous"):
            values = values.contiguous()
        elif hasattr(self._library, "ascontiguousarray"):
            values = self._library.ascontiguousarray(values)
        self.values, self.number = values, values.__dlpack_device__()[1]

    def capsule(self) -> Any:
        """By DLPack; complete for whoever waits for the default stream, which has the number 1."""
        return self.values.__dlpack__(stream=1)

    def alike(self, values: Any) -> Any:
        """Values as an array of the same library on the same GPU, without a copy where they are there."""
        if not isinstance(values, np.ndarray):
            return self._library.from_dlpack(values) if hasattr(self._library, "from_dlpack") else values
        if hasattr(self.values, "new_tensor"):
            return self.values.new_tensor(values)
        return self._library.asarray(values) if hasattr(self._library, "asarray") else values


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
