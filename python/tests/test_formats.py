"""Data in and out: layouts of other programs, columns, files, networkx, notebooks, the command line in the wheel."""

import json
import pathlib
import subprocess
import sys

import networkx
import numpy as np
import pytest

from gfgcn import GradientFreeClassifier, datasets

GOLDEN = pathlib.Path(__file__).parents[2] / "crates/gfgcn-data/tests/golden/layouts"


@pytest.mark.parametrize("name", sorted(json.loads((GOLDEN / "expected.json").read_text())))
def test_layouts_of_other_programs(name):
    expected = json.loads((GOLDEN / "expected.json").read_text())[name]
    data = datasets.load(GOLDEN / name)
    ids = [str(k) for k in range(len(data.y))] if data.node_ids is None else data.node_ids
    assert sorted(ids) == sorted(expected["ids"])
    assert data.directed == expected["directed"]
    assert data.adjacency.nnz == (1 if data.directed else 2) * len(expected["edges"])


def test_columns(tmp_path):
    (tmp_path / "edges.csv").write_text("who,whom\na@x,b@x\nb@x,c@x\n")
    (tmp_path / "features.csv").write_text("age,mail,colour,team\n1,a@x,red,left\n,b@x,green,right\n3,c@x,red,\n")
    data = datasets.load(
        tmp_path, id_column="mail", label_column="team", source_column="who", target_column="whom", directed=True
    )
    assert data.node_ids == ["a@x", "b@x", "c@x"] and data.directed
    assert data.feature_names == ["age", "age:missing", "colour=green", "colour=red"]
    assert data.X.tolist() == [[1, 0, 0, 1], [2, 1, 1, 0], [3, 0, 0, 1]]
    assert data.class_names[data.y[:2]].tolist() == ["left", "right"] and data.y[2] == -1
    with pytest.raises(ValueError, match="no column \"mails\""):
        datasets.load(tmp_path, id_column="mails", source_column="who", target_column="whom")


@pytest.mark.parametrize("name", ["cora.npz", "cora-tables"])
def test_saved_and_loaded(name, tmp_path, cora):
    cora.save(tmp_path / name)
    again = datasets.load(tmp_path / name)
    assert (again.X != cora.X).nnz == 0 and (again.adjacency != cora.adjacency).nnz == 0
    assert again.class_names[again.y].tolist() == cora.class_names[cora.y].tolist()
    for mask in ("train_mask", "val_mask", "test_mask"):
        assert np.array_equal(getattr(again, mask), getattr(cora, mask))
    with pytest.raises(ValueError, match="already"):
        cora.save(tmp_path / name)
    cora.save(tmp_path / name, overwrite=True)


def test_networkx_and_back(cora):
    graph = cora.to_networkx(features=True)
    assert graph.number_of_edges() == 5278 and not graph.is_directed()
    assert graph.nodes[5]["label"] == cora.class_names[cora.y[5]]
    assert np.array_equal(graph.nodes[5]["x"], np.asarray(cora.X[[5]].todense())[0])
    predicted = GradientFreeClassifier(depth=2).fit(cora.X, cora.y_train, adjacency=graph).predict()
    assert np.array_equal(predicted, GradientFreeClassifier(depth=2).fit(cora).predict())
    directed = datasets.load(GOLDEN / "directed.graphml")
    own, theirs = directed.to_networkx(), networkx.read_graphml(GOLDEN / "directed.graphml")
    assert set(own.edges) == set(theirs.edges)
    assert all(own.edges[edge]["weight"] == theirs.edges[edge]["weight"] for edge in own.edges)


def test_pytorch_geometric(cora):
    pytest.importorskip("torch_geometric")
    data = cora.to_pyg()
    assert data.num_nodes == 2708 and data.edge_index.shape == (2, 2 * 5278) and data.train_mask.sum() == 140


def test_notebooks(cora, small):
    assert "2708 nodes" in cora._repr_html_() and "140 train" in cora._repr_html_()
    X, y, adjacency = small
    model = GradientFreeClassifier(depth=2)
    assert "not fitted yet" in model._repr_html_()
    html = model.fit(X, y, adjacency=adjacency)._repr_html_()
    assert "depth=2" in html and "loo_score_" in html


def run(*arguments, program=(sys.executable, "-m", "gfgcn")):
    return subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True)


def test_the_wheel_has_the_command_line(tmp_path, gfgcn):
    script = pathlib.Path(sys.executable).with_name("gfgcn")
    assert script.exists(), "pip made a program"
    for program in ((sys.executable, "-m", "gfgcn"), (str(script),)):
        info = run("data", "info", "cora", "--json", program=program)
        assert info.returncode == 0 and json.loads(info.stdout)["nodes"] == 2708, info.stderr
        assert run("fit", program=program).returncode == 2
        assert run("data", "info", tmp_path / "nothing", program=program).returncode == 3
    assert run("predict", "--help").stdout == gfgcn("predict", "--help")


def test_downloads_are_those_of_the_command_line(tmp_path):
    assert "cora-ml" in datasets.available() and "cora" not in datasets.available()
    with pytest.raises(ValueError, match="no dataset 'corra' to download; there are cora-ml"):
        datasets.download("corra", tmp_path)
