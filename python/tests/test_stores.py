"""Stores: against NumPy's own reading of their files, and against the same data in memory."""

import json
import zlib

import numpy as np
import pytest
from conftest import local_data
from scipy.sparse import csr_array, random_array

from gfgcn import GradientFreeClassifier, datasets, evaluate


def plain_model(**params):
    return GradientFreeClassifier("ssgc", depth=4, **params)


@pytest.fixture
def graph():
    rng = np.random.default_rng(1)
    upper = random_array((60, 60), density=0.08, rng=rng, format="csr")
    adjacency = csr_array(((upper + upper.T) > 0).astype(np.float32))
    adjacency.setdiag(0)
    adjacency.eliminate_zeros()
    y = np.where(rng.random(60) < 0.7, np.arange(60) % 3, -1)
    return (rng.normal(size=(60, 40)) + y[:, None]).astype(np.float32), y, adjacency


def test_numpy_reads_every_file(tmp_path, gfgcn):
    gfgcn("data", "convert", "cora", tmp_path / "cora.store")
    gfgcn("data", "synth", "-o", tmp_path / "made.store", *"--nodes 500 --edges 900 --classes 3 --features 70".split())
    for name in ("cora.store", "made.store"):
        meta = json.loads((tmp_path / name / "meta.json").read_text())
        found = {str(path.relative_to(tmp_path / name)) for path in (tmp_path / name).rglob("*.npy")}
        assert found == set(meta["files"])
        for file, listed in meta["files"].items():
            bytes_ = (tmp_path / name / file).read_bytes()
            assert (len(bytes_), f"{zlib.crc32(bytes_):08x}") == (listed["bytes"], listed["crc32"]), file
            array = np.load(tmp_path / name / file, mmap_mode="r", allow_pickle=False)
            assert array.dtype.byteorder in "<=|"
    cora, store = datasets.load("cora"), datasets.open(tmp_path / "cora.store")
    assert (abs(store.adjacency - cora.adjacency)).nnz == 0 and (abs(store.X - cora.X)).nnz == 0
    assert np.array_equal(store.y, cora.y) and list(store.class_names) == list(cora.class_names)
    assert np.array_equal(store.train_mask, cora.train_mask) and np.array_equal(store.test_mask, cora.test_mask)
    assert isinstance(store.neighbours, np.memmap)


def test_pieces_make_the_store_that_arrays_make(tmp_path, graph):
    X, y, adjacency = graph
    whole = datasets.write_store(tmp_path / "whole.store", adjacency=adjacency, features=X, y=y)
    upper = adjacency.tocoo()
    ends = np.stack([upper.row, upper.col])[:, ::-1]
    edges = (ends[:, k : k + 17] for k in range(0, ends.shape[1], 17))
    rows = (X[k : k + 7] for k in range(0, 60, 7))
    pieces = datasets.write_store(tmp_path / "pieces.store", edges=edges, features=rows, y=y, nodes=60, columns=40)
    files = {name: entry for name, entry in whole.meta["files"].items()}
    assert files == pieces.meta["files"]
    assert (abs(whole.adjacency - adjacency)).nnz == 0 and np.array_equal(np.concatenate(whole.blocks, axis=1), X)
    assert np.array_equal(whole.columns(3, 17), X[:, 3:17])
    predicted = plain_model().fit(X, y, adjacency=adjacency).decision_function()
    fitted = plain_model().fit(whole)
    assert np.array_equal(fitted.decision_function(), predicted)
    assert np.array_equal(fitted.decision_function(pieces), predicted)
    assert np.array_equal(datasets.load(tmp_path / "whole.store").X, X)


def test_weights_directions_targets_and_names(tmp_path, graph):
    X, y, adjacency = graph
    arcs = csr_array(adjacency.tocoo())
    arcs.data = np.arange(1, arcs.nnz + 1, dtype=np.float32)
    arcs = csr_array(arcs.multiply(np.triu(np.ones((60, 60)), -20)))
    arcs.eliminate_zeros()
    arcs.data = arcs.data.astype(np.float32)
    names = {"node_ids": [f"n{k}" for k in range(60)], "feature_names": [f"f{k}" for k in range(40)]}
    split = (np.arange(60) < 20, np.arange(20, 30), np.arange(60) >= 30)
    known = np.where(y < 0, 0, y)
    store = datasets.write_store(
        tmp_path / "a.store", adjacency=arcs, features=X, y=known, directed=True, split=split, class_names=list("abc"), **names
    )
    assert store.directed and (abs(store.adjacency - arcs)).nnz == 0
    assert store.node_ids == names["node_ids"] and store.feature_names == names["feature_names"]
    assert list(store.class_names) == ["a", "b", "c"] and store.train_mask.sum() == 20 and store.val_mask.sum() == 10
    values = datasets.write_store(tmp_path / "b.store", adjacency=adjacency, features=X, y=X[:, :2].astype(float))
    assert np.array_equal(values.y, X[:, :2])
    sets = datasets.write_store(tmp_path / "c.store", adjacency=adjacency, y=np.eye(3, dtype=int)[known])
    assert np.array_equal(sets.y, np.eye(3)[known]) and sets.X is None
    report = evaluate(store, models=["sgc"], depths=[2], splits=2, ratio="1:1:2")
    assert len(report)


def test_refusals(tmp_path, graph):
    X, y, adjacency = graph
    path = tmp_path / "x.store"
    datasets.write_store(path, adjacency=adjacency, features=X, y=y)
    with pytest.raises(ValueError, match="overwrite=True"):
        datasets.write_store(path, adjacency=adjacency, features=X, y=y)
    bad = X.copy()
    bad[9, 3] = np.nan
    with pytest.raises(ValueError, match="row 9, column 3"):
        datasets.write_store(path, adjacency=adjacency, features=bad, overwrite=True)
    with pytest.raises(ValueError, match="expected 60, found 59"):
        datasets.write_store(path, adjacency=adjacency, features=iter([X[:59]]), columns=40, overwrite=True)
    with pytest.raises(ValueError, match="names node 60"):
        datasets.write_store(path, edges=[np.array([[0], [60]])], nodes=60, overwrite=True)
    with pytest.raises(ValueError, match="one of them"):
        datasets.write_store(path, features=X)
    with pytest.raises(ValueError, match="no store"):
        datasets.open(tmp_path)
    with pytest.raises(FileNotFoundError):
        datasets.open(tmp_path / "nothing")
    store = datasets.open(path)
    assert np.array_equal(store.X, X), "what was there is there still"
    with pytest.raises(ValueError, match="pass neither"):
        plain_model().fit(store, adjacency=adjacency)
    block = path / sorted(store.meta["files"])[0]
    content = bytearray(block.read_bytes())
    content[-1] ^= 1
    block.write_bytes(content)
    with pytest.raises(ValueError, match="has changed since the store was made"):
        plain_model().fit(datasets.open(path))


def test_real_data(tmp_path, gfgcn):
    source = local_data("chameleon_directed.npz")
    gfgcn("data", "convert", source, tmp_path / "c.store", "--directed")
    store, data = datasets.open(tmp_path / "c.store"), datasets.load(source, directed=True)
    assert store.directed and (abs(store.adjacency - data.adjacency)).nnz == 0
    expected = plain_model().fit(data).decision_function()
    assert np.array_equal(plain_model().fit(store).decision_function(), expected)
