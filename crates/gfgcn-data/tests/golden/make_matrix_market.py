"""Writes the files under `matrix_market` with scipy.

The same graph of four nodes (0-1 with weight 0.5, 0-2, 1-2 with weight 2, node 3 alone) and the
same features in the forms scipy.io.mmwrite has. Run it here: python make_matrix_market.py
"""

from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.io import mmwrite

HERE = Path(__file__).parent / "matrix_market"
HERE.mkdir(exist_ok=True)

graph = sp.coo_array(([0.5, 1.0, 2.0], ([0, 0, 1], [1, 2, 2])), shape=(4, 4))
both = (graph + graph.T).tocoo()
features = np.array([[1.0, 0.0, 0.1], [0.0, 0.0, -2.0], [0.0, 1e-30, 0.0], [0.0, 0.0, 0.0]], dtype=np.float32)

mmwrite(HERE / "symmetric.mtx", both, symmetry="symmetric", comment="with a comment")
mmwrite(HERE / "general.mtx", both, symmetry="general")
mmwrite(HERE / "one_direction.mtx", graph, symmetry="general")
mmwrite(HERE / "dense.mtx", both.toarray(), symmetry="general")
mmwrite(HERE / "dense_symmetric.mtx", both.toarray(), symmetry="symmetric")
mmwrite(HERE / "integer.mtx", (both * 2).astype(np.int64), symmetry="general")
mmwrite(HERE / "pattern.mtx", both, field="pattern", symmetry="symmetric")
mmwrite(HERE / "complex.mtx", both.astype(np.complex64))
mmwrite(HERE / "features.mtx", sp.coo_array(features), symmetry="general")
mmwrite(HERE / "features_dense.mtx", features, symmetry="general")
