"""Datasets as arrays."""

import numpy as np
import pytest

from gfgcn import GradientFreeClassifier, datasets


@pytest.mark.parametrize("name", datasets.names())
def test_built_in(name):
    """Against NumPy's own reading of the same file."""
    import pathlib

    from scipy.sparse import csr_array

    data = datasets.load(name)
    with np.load(pathlib.Path(__file__).parents[2] / "datasets" / f"{name}.npz") as raw:
        adjacency = csr_array((raw["adj_data"], raw["adj_indices"], raw["adj_indptr"]), shape=raw["adj_shape"])
        X = csr_array((raw["attr_data"], raw["attr_indices"], raw["attr_indptr"]), shape=raw["attr_shape"])
        assert (abs(data.adjacency - adjacency)).nnz == 0
        assert (abs(csr_array(data.X) - X)).nnz == 0
        assert np.array_equal(data.y, raw["labels"])
        assert list(data.class_names) == list(raw["class_names"] if "class_names" in raw else map(str, np.unique(data.y)))
        for mask, part in zip((data.train_mask, data.val_mask, data.test_mask), ("train", "val", "test")):
            assert np.array_equal(np.flatnonzero(mask), np.sort(raw[f"{part}_idx"]))
    assert np.array_equal(data.y_train >= 0, data.train_mask)
    assert str(data.X.shape[0]) in repr(data)


def test_files(tmp_path, gfgcn):
    gfgcn("data", "convert", "cora", tmp_path / "cora.npz")
    gfgcn("data", "convert", "cora", tmp_path / "cora-tables")
    archive, folder = datasets.load(tmp_path / "cora.npz"), datasets.load(str(tmp_path / "cora-tables"))
    tables = {role: tmp_path / "cora-tables" / f"{role}.csv" for role in ("edges", "features", "labels")}
    tables = datasets.read_tables(**tables)
    by_name = datasets.load("cora", data_dir=tmp_path)
    predictions = [GradientFreeClassifier().fit(by_name).predict()]
    for data in (archive, folder, tables):
        assert data.X.shape == by_name.X.shape and data.adjacency.nnz == by_name.adjacency.nnz
        y = np.where(by_name.train_mask, data.y, -1)
        predictions.append(GradientFreeClassifier().fit(data.X, y, data.adjacency).predict())
    assert all(np.array_equal(predictions[0], other) for other in predictions)
    assert tables.node_ids is not None and len(tables.node_ids) == 2708
    with pytest.raises(AttributeError, match="without a split"):
        tables.y_train


def test_refusals(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        datasets.load(tmp_path / "nothing")
    with pytest.raises(ValueError, match="known datasets are cora, citeseer, pubmed"):
        datasets.load("corra")
    (tmp_path / "bad.npz").write_bytes(b"PK but not an archive")
    with pytest.raises(ValueError, match="bad.npz"):
        datasets.load(tmp_path / "bad.npz")
    (tmp_path / "edges.csv").write_text("source,target\n0,1\n1,x\n")
    (tmp_path / "features.csv").write_text("id,a\n0,1\n1,oops\n")
    with pytest.raises(ValueError, match="features.csv: line 3"):
        datasets.read_tables(tmp_path / "edges.csv", tmp_path / "features.csv")
    with pytest.raises(TypeError):
        datasets.load(None)
