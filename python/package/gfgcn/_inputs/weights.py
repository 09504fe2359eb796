"""How much nodes count."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Array
from .arrays import array, in_order_of


def sample_weights(weights: Any, rows: int, nodes: list[Any] | None = None) -> Array | None:
    """One for each node, of which 0 stands for a node that is not learnt from; a single number is meant for all."""
    if weights is None:
        return None
    if isinstance(weights, dict):
        order = list(range(rows)) if nodes is None else nodes
        strangers = set(weights) - set(order)
        if strangers:
            raise ValueError(f"sample_weight has a weight of {next(iter(strangers))!r}, which is no node of the graph")
        weights = [weights.get(node, 1.0) for node in order]
    given = array(in_order_of(nodes, weights))
    if given.dtype.kind == "c":
        raise ValueError("Complex data not supported: sample_weight are real numbers")
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight are numbers: {error}") from None
    if found.ndim == 0:
        found = np.full(rows, float(found))
    if found.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {found.ndim}D array.")
    if len(found) != rows:
        raise ValueError(f"sample_weight.shape == {found.shape}, expected {(rows,)}!")
    wrong = np.flatnonzero(~(np.isfinite(found) & (found >= 0)))
    if len(wrong):
        raise ValueError(
            f"Input sample_weight contains {found[wrong[0]]} at node {wrong[0]}, but weights are finite and not negative; NaN "
            "and infinity say nothing"
        )
    return found
