"""Writes the archives under `npz` with NumPy and SciPy.

Each holds the dataset `Arrays::small` of `tests/archives/main.rs` as a script in the wild would save
it. Run it here: python make_npz.py
"""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

HERE = Path(__file__).parent / "npz"
HERE.mkdir(exist_ok=True)

EDGES = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])
FEATURES = np.array([[1, 0, 2], [0, 4, 0], [3, 0, 0], [0, 0, 0], [0, 0, 6]])
LABELS = np.array([0, 1, 0, -1, 1])
CLASSES = np.array(["no", "yes"])
SPLIT = {"train_idx": np.array([0, 1]), "val_idx": np.array([2]), "test_idx": np.array([4])}


def rows(prefix, matrix):
    """The four members of a matrix in compressed rows."""
    return {
        f"{prefix}data": matrix.data,
        f"{prefix}indices": matrix.indices,
        f"{prefix}indptr": matrix.indptr,
        f"{prefix}shape": matrix.shape,
    }


def adjacency(edges, dtype):
    return sp.csr_matrix((np.ones(len(edges), dtype), edges.T), (5, 5))


both = np.concatenate([EDGES, EDGES[:, ::-1]])

# As the gnn-benchmark collection does it.
np.savez(
    HERE / "plain.npz",
    **rows("adj_", adjacency(both, np.float32)),
    **rows("attr_", sp.csr_matrix(FEATURES, dtype=np.float32)),
    labels=LABELS,
    class_names=CLASSES,
    **SPLIT,
)

# Dense matrices, Fortran order, big-endian numbers, masks, bytes as text.
mask = {name.replace("idx", "mask"): np.isin(np.arange(5), part) for name, part in SPLIT.items()}
np.savez_compressed(
    HERE / "dense.npz",
    adj_matrix=adjacency(both, np.float64).toarray() > 0,
    attr_matrix=np.asfortranarray(FEATURES.astype(">f8")),
    labels=np.where(LABELS < 0, np.nan, LABELS),
    class_names=CLASSES.astype("S"),
    **mask,
)

# One direction, a self-loop, small integers, names as objects, dictionaries in pickles.
loop = np.array([[4, 4]])
np.savez(
    HERE / "wild.npz",
    **rows("adj_matrix.", adjacency(np.concatenate([EDGES, loop]), np.int64)),
    **rows("attr_matrix.", sp.csr_matrix(FEATURES, dtype=np.int64)),
    labels=LABELS.astype(np.int8),
    class_names=CLASSES,
    node_names=np.array(["a", "b", "c", "d", "e"], dtype=object),
    attr_names=np.array(["x", "y", "z"]),
    idx_to_node={0: "a"},
    idx_to_class={0: "no"},
    **SPLIT,
)

# Matrices of SciPy as they are, which NumPy pickles.
whole = {"adj_matrix": adjacency(both, np.float32), "attr_matrix": sp.csr_matrix(FEATURES, dtype=np.float32)}
np.savez(HERE / "pickled_graph.npz", **whole, labels=LABELS)
np.savez(HERE / "pickled_features.npz", **{**whole, "adj_matrix": whole["adj_matrix"].toarray()}, labels=LABELS)

# As the heterophilous-graphs collection does it: an edge list, and masks of several splits, some in Fortran order.
TRAIN = np.array([[1, 1, 0, 0, 0], [0, 0, 1, 0, 1], [0, 1, 0, 0, 0]], dtype=bool)
VAL = np.array([[0, 0, 1, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]], dtype=bool)
TEST = np.array([[0, 0, 0, 0, 1], [0, 1, 0, 0, 0], [1, 0, 0, 1, 0]], dtype=bool)
np.savez_compressed(
    HERE / "heterophilous.npz",
    node_features=FEATURES.astype(np.float32),
    node_labels=LABELS,
    edges=EDGES,
    train_masks=np.asfortranarray(TRAIN),
    val_masks=np.asfortranarray(VAL),
    test_masks=TEST,
)
