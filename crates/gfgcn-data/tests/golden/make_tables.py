"""Writes the files under `tables` with pandas and SciPy, and what the two make of them.

`index` and `index_twice` hold the dataset `SMALL` of `tests/tables/main.rs`. Run it here: python make_tables.py
"""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp
from pandas._libs.parsers import STR_NA_VALUES

HERE = Path(__file__).parent / "tables"

SMALL = {
    "edges": {"source": ["a", "b", "a", "d"], "target": ["b", "c", "c", "a"], "weight": [0.5, 2.0, 1.0, 1.0]},
    "features": {"id": list("abcde"), "x": [1, 0.1, -3, 0, 7], "y": [0.25, 2, 1e-30, 5, 8]},
    "labels": {"id": ["a", "b", "e"], "label": ["yes", "no", "yes"]},
    "split": {"id": ["a", "b", "e"], "split": ["train", "val", "test"]},
}


def folder(name):
    path = HERE / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def index():
    """to_csv without index=False; and the same read and written once more."""
    for table, columns in SMALL.items():
        frame = pd.DataFrame(columns)
        frame.to_csv(folder("index") / f"{table}.csv")
        again = pd.read_csv(folder("index") / f"{table}.csv")
        again.to_csv(folder("index_twice") / f"{table}.csv")


def missing():
    """Every spelling of a missing value that pandas knows, and some words that only look like it."""
    path = folder("missing")
    spellings = sorted(STR_NA_VALUES)
    labels = 2 * spellings + ["yes", "none", "na", "Nancy"] * 2
    ids = [f"n{k}" for k in range(len(labels))]
    text = "id,label\n" + "".join(f'{id},"{label}"\n' for id, label in zip(ids, labels))
    read = pd.read_csv(io.StringIO(text))
    (path / "labels.csv").write_text(text)
    (path / "edges.csv").write_text("source,target\nn0,n1\n")
    pd.DataFrame({"id": ids, "x": 1}).to_csv(path / "features.csv", index=False)
    (path / "spellings.json").write_text(json.dumps(spellings))
    (path / "unlabelled.json").write_text(json.dumps(list(read.id[read.label.isna()])))


def repeated():
    """Coordinates with three that are there before, as SciPy writes them and adds them up."""
    path = folder("repeated")
    rows = np.array([0, 2, 0, 1, 2, 0, 3, 3])
    columns = np.array([1, 0, 1, 2, 2, 1, 0, 0])
    values = np.array([0.5, 1, 2, -1, 3, 4, 1.5, 0.25], dtype=np.float32)
    matrix = sp.coo_array((values, (rows, columns)), shape=(4, 3))
    # Of the version that SciPy has since 1.12; the old one would add them up itself.
    scipy.io.mmwrite(path / "coordinates.mtx", matrix, symmetry="general")
    long = pd.DataFrame({"id": rows, "feature": columns, "value": values})
    order = pd.DataFrame({"id": range(4), "feature": None, "value": None}, dtype=object)
    pd.concat([order, long]).to_csv(path / "long.csv", index=False)
    np.save(path / "sums.npy", matrix.toarray())
    (path / "edges.csv").write_text("source,target\n0,1\n")
    by_row = np.argsort(rows, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=4))])
    adjacency = sp.csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(4, 4))
    np.savez_compressed(
        path / "archive.npz",
        attr_data=values[by_row], attr_indices=columns[by_row], attr_indptr=offsets, attr_shape=[4, 3],
        adj_data=adjacency.data, adj_indices=adjacency.indices, adj_indptr=adjacency.indptr, adj_shape=[4, 4],
    )


index()
missing()
repeated()
