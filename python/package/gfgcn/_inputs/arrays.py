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
