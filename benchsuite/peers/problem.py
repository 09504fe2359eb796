"""What the peers share: reading the graph and the splits, and judging results."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

TAU = 0.05
TIME = 5.27
DEPTHS = (2, 4, 8, 16, 32, 64, 128)


@dataclass
class Problem:
    adjacency: sp.csr_array  # symmetric, ones, no self-loops
    features: np.ndarray  # dense, float32
    labels: np.ndarray
    classes: int


def load(path: str) -> Problem:
    with np.load(path) as archive:
        adjacency = sp.csr_array(
            (archive["adj_data"], archive["adj_indices"], archive["adj_indptr"]),
            shape=tuple(archive["adj_shape"]),
        )
        if "attr_matrix" in archive:
            features = np.ascontiguousarray(archive["attr_matrix"], dtype=np.float32)
        else:
            features = sp.csr_array(
                (archive["attr_data"], archive["attr_indices"], archive["attr_indptr"]),
                shape=tuple(archive["attr_shape"]),
                dtype=np.float32,
            ).toarray()
        labels = archive["labels"].astype(np.int64)
    # Large graphs store each edge once.
    adjacency = (adjacency + adjacency.T).tocsr()
    adjacency.data = np.ones(adjacency.nnz, dtype=np.float32)
    return Problem(adjacency, features, labels, int(labels.max()) + 1)


def normalized(adjacency: sp.csr_array, normalization: str = "sym") -> sp.csr_array:
    """Â = D̃^-½ (A + I) D̃^-½, or D̃^-1 (A + I) for "row", in single precision with 32-bit column
    numbers."""
    with_loops = adjacency + sp.eye_array(adjacency.shape[0], dtype=np.float32, format="csr")
    degrees = with_loops.sum(axis=1)
    if normalization == "row":
        result = (sp.diags_array(1 / degrees, dtype=np.float32) @ with_loops).tocsr()
    else:
        scale = sp.diags_array(1 / np.sqrt(degrees), dtype=np.float32)
        result = (scale @ with_loops @ scale).tocsr()
    result.indices = result.indices.astype(np.int32)
    result.indptr = result.indptr.astype(np.int32)
    return result


@dataclass
class Split:
    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


def load_splits(path: str) -> list[Split]:
    with open(path) as file:
        return [Split(**{k: np.array(v) for k, v in parts.items()}) for parts in json.load(file)]


def one_hot(labels: np.ndarray, classes: int) -> np.ndarray:
    return np.eye(classes)[labels]


def penalties(mean_diagonal: float) -> np.ndarray:
    """ξ = 1/λ: 25 values in half decades, relative to the mean of M's diagonal."""
    return mean_diagonal * 10.0 ** (2 - 0.5 * np.arange(25))


def accuracy(scores: np.ndarray, labels: np.ndarray) -> float:
    return 100.0 * float(np.mean(scores.argmax(axis=1) == labels))


def norm(matrix: np.ndarray) -> float:
    """A number that equal matrices share, whatever program computed them: the Frobenius norm, with
    weights 1, 2, 3 in turn so that exchanged rows or columns are noticed."""
    columns = np.arange(matrix.shape[1])
    weights = [((i + columns) % 3 + 1).astype(np.float64) for i in range(3)]
    squares = sum(
        float((matrix[i::3].astype(np.float64) ** 2 @ weights[i]).sum())
        for i in range(min(3, len(matrix)))
    )
    return squares**0.5
