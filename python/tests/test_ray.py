"""A cluster of three nodes on this machine: its results against those of the command line and of the estimators, and what goes wrong."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from gfgcn import GradientFreeClassifier, datasets

ray = pytest.importorskip("ray", reason="needs Ray, which pip install 'gfgcn[ray]' installs where there is one for this Python")

import gfgcn.ray  # noqa: E402
from gfgcn.ray import _cluster, _worker  # noqa: E402

# Ray's own, which are none of ours.
pytestmark = pytest.mark.filterwarnings("default")

MODEL = {"model": "gfsgc", "depth": 3, "public_split": True}
FIT = ["--model", "gfsgc", "--depth", "3", "--public-split"]


@pytest.fixture(scope="module")
def nodes():
    """Three nodes with a processor each; this process is the driver of all tests, so that workers need not be started for each."""
    from ray.cluster_utils import Cluster

    small = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=small)
    small.pop("include_dashboard")
    cluster.add_node(**small)
    cluster.add_node(**small)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, gfgcn):
    """A store with several slabs of columns and blocks of features, and what one machine makes of it."""
    folder = tmp_path_factory.mktemp("cluster")
    shape = "--nodes 3000 --edges 12000 --classes 9 --features 80 --split 1:1:8"
    gfgcn("data", "synth", "-o", "x.store", *shape.split(), cwd=folder)
    gfgcn("fit", "x.store", *FIT, "-o", "one.model", cwd=folder)
    for output in ("one.csv", "one.npz"):
        gfgcn("predict", "one.model", "x.store", "-o", output, cwd=folder)
    gfgcn("evaluate", "x.store", *EVALUATE, "-o", "scores.csv", cwd=folder)
    return folder


EVALUATE = "--models gfsgc,gfssgc --depths 2,4 --splits 4 --calibration".split()


def another(nodes):
    """A node that is neither the head nor the one that the driver is at."""
    own = ray.get_runtime_context().get_node_id()
    return next(node for node in nodes.worker_nodes if node.node_id != own)


class Calls(list):
    """How far it was, each time that somebody told."""

    def __call__(self, done, total):
        self.append((done, total))


def run(*arguments, cwd, address=None):
    environment = {**os.environ, **({} if address is None else {"RAY_ADDRESS": address})}
    command = [sys.executable, "-m", "gfgcn.ray", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=environment)


def test_refusals_before_any_cluster_is_asked(folder, tmp_path, gfgcn):
    shutil.copy(folder / "one.model", tmp_path)
    os.symlink(folder / "x.store", tmp_path / "x.store")
    nowhere = ["--address", "127.0.0.1:1"]
    for command, status, said in [
        (["fit", "x.store", "-o", "m.model"], 3, "describe one, by --model"),
        (["fit", "cora", *FIT, "-o", "m.model"], 3, "gfgcn data convert"),
        (["fit", "x.store", "--depht", "3", "-o", "m.model"], 2, "--depht"),
        (["fit", "x.store", *FIT, "-o", "one.model"], 3, "--force"),
        (["fit", "x.store", *FIT, "--keep-training", "-o", "m.model"], 3, "--keep-training"),
        (["fit", "x.store", *FIT, "--device", "cuda", "-o", "m.model"], 2, "same bits"),
        (["evaluate", "x.store", "--models", "gcn"], 3, "closed form"),
        (["tune", "x.store"], 2, "fit, predict and evaluate"),
        (["fit", "x.store", *FIT, "-o", "m.model", "--num-cpus", "0"], 3, "at least 1"),
        (["fit", "x.store", *FIT, "-o", "m.model"], 4, "nothing answers at 127.0.0.1:1"),
        ([], 2, ""),
    ]:
        done = run(*command, *(nowhere if command else []), cwd=tmp_path)
        assert done.returncode == status and said in done.stderr, (command, done)
    assert (tmp_path / "one.model").read_bytes() == (folder / "one.model").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.model", "x.store"]
    helped = run("fit", "--help", cwd=tmp_path)
    assert helped.returncode == 0 and "--num-cpus" in helped.stdout and "--row-normalize" in helped.stdout


# Before there is a cluster that this process is connected to.
def test_addresses_that_do_not_answer_as_ray(folder):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"

        def answer():
            with silent.accept()[0] as connection:
                connection.recv(100)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(ConnectionError, match="is not Ray"):
            gfgcn.ray.fit(folder / "x.store", address=address, **MODEL)
    with pytest.raises(ConnectionError, match="ray start --head"):
        gfgcn.ray.fit(folder / "x.store", address=address, **MODEL)  # closed by now
    for address in ("nowhere", "host:port", ":6379"):
        with pytest.raises(ValueError, match="HOST:PORT"):
            gfgcn.ray.fit(folder / "x.store", address=address, **MODEL)


def test_an_address_that_is_silent_is_given_up(folder, monkeypatch):
    monkeypatch.setattr(_cluster, "_PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with pytest.raises(ConnectionError, match="no answer in"):
            gfgcn.ray.fit(folder / "x.store", address=f"127.0.0.1:{silent.getsockname()[1]}", **MODEL)


def test_without_ray(folder, tmp_path):
    """A folder in front of all others, in which Ray cannot be imported."""
    (tmp_path / "ray.py").write_text("raise ImportError('not here')\n")
    program = f"import gfgcn.ray; gfgcn.ray.fit({str(folder / 'x.store')!r}, model='gfsgc', depth=3, public_split=True)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 1 and "pip install 'gfgcn[ray]'" in done.stderr, done.stderr


def test_fit_predict_and_evaluate_are_those_of_one_machine(nodes, folder, tmp_path):
    store, told = folder / "x.store", Calls()
    model = gfgcn.ray.fit(store, tmp_path / "m.model", progress=told, **MODEL)
    assert (tmp_path / "m.model").read_bytes() == (folder / "one.model").read_bytes()
    assert told[0] == (0, told[-1][1]) and told[-1][0] == told[-1][1] >= 3
    assert sorted(tmp_path.iterdir()) == [tmp_path / "m.model"], "no work folder is left"
    here = GradientFreeClassifier.load(folder / "one.model")
    expected = here.predict(datasets.open(store))
    assert np.array_equal(model.predict(datasets.open(store)), expected)

    told.clear()
    there = gfgcn.ray.predict(model, store, num_cpus=1, progress=told)
    assert there.dtype == expected.dtype and np.array_equal(there, expected) and told[-1][1] >= 2
    with pytest.raises(ValueError, match="probabilities: such options are for a file"):
        gfgcn.ray.predict(model, store, probabilities=True)
    for output in ("one.csv", "one.npz"):
        target = tmp_path / output
        assert gfgcn.ray.predict(folder / "one.model", store, target, memory="1GB") is None
        assert target.read_bytes() == (folder / output).read_bytes()

    options = {"models": ["gfsgc", "gfssgc"], "depths": [2, 4], "splits": 4, "calibration": True}
    report = gfgcn.ray.evaluate(store, tmp_path / "scores.csv", **options)
    assert (tmp_path / "scores.csv").read_bytes() == (folder / "scores.csv").read_bytes()
    assert [(row["model"], row["depth"]) for row in report] == [("gfSGC", 2), ("gfSGC", 4), ("gfSSGC", 2), ("gfSSGC", 4)]
    assert len(report[0]["scores"]) == 4 and 0 < report[0]["accuracy"] <= 100


def test_the_estimator_trains_the_same(nodes, folder):
    """The estimators of Python on the same store, which know nothing of clusters."""
    store = datasets.open(folder / "x.store")
    one = GradientFreeClassifier("sgc", depth=3).fit(store)
    other = gfgcn.ray.fit(store, **MODEL)
    assert np.array_equal(one.coef_, other.coef_) and one.lam_ == other.lam_
    assert np.array_equal(one.decision_function(), other.decision_function(store))


def test_the_command(nodes, folder, tmp_path):
    shutil.copy(folder / "one.model", tmp_path)
    os.symlink(folder / "x.store", tmp_path / "x.store")
    done = run("fit", "x.store", *FIT, "-o", "m.model", "--address", nodes.address, "--num-cpus", 1, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "shares" in done.stderr and "trained on" in done.stdout
    assert (tmp_path / "m.model").read_bytes() == (folder / "one.model").read_bytes()
    done = run("predict", "m.model", "x.store", "-o", "p.csv", "--quiet", cwd=tmp_path, address=nodes.address)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert (tmp_path / "p.csv").read_bytes() == (folder / "one.csv").read_bytes()


@contextlib.contextmanager
def on_node(node, folder, change):
    """Has the worker of one node do something else, while the others wait until it has begun."""
    begun = folder / f"begun-{time.monotonic_ns()}"
    victim, whole, limit = node.node_id, _worker.compute, 60

    def compute(task, job):
        import ray

        if ray.get_runtime_context().get_node_id() == victim:
            begun.touch()
            return change(whole, task, job)
        until = time.monotonic() + limit
        while not begun.exists() and time.monotonic() < until:
            time.sleep(0.01)
        return whole(task, job)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_worker, "compute", compute)
        yield begun


def moved(path):
    """Computes with the store at another path, as if this machine had something else there."""

    def change(whole, task, job):
        import dataclasses

        return whole(dataclasses.replace(task, store=str(path)), job)

    return change


def test_workers_with_another_folder_are_named(nodes, folder, tmp_path):
    victim, store = another(nodes), folder / "x.store"
    changed = tmp_path / "changed.store"
    shutil.copytree(store, changed)
    for block in sorted((changed / "features").glob("*.npy")):
        content = bytearray(block.read_bytes())
        content[-3] ^= 1
        block.write_bytes(content)
    other = tmp_path / "other.store"
    shutil.copytree(store, other)
    (other / "meta.json").write_text((other / "meta.json").read_text() + "\n")
    (tmp_path / "empty.store").mkdir()
    host = socket.gethostname()
    for path, error, said in [
        (tmp_path / "nothing.store", FileNotFoundError, "there is no folder .*nothing.store; every machine must see"),
        (tmp_path / "empty.store", FileNotFoundError, "no meta.json"),
        (other, ValueError, "another store than the driver's"),
        (changed, ValueError, "has changed since the store was made"),
    ]:
        target = tmp_path / f"{path.stem}.model"
        target.write_bytes(b"as it was")
        with on_node(victim, tmp_path, moved(path)):
            with pytest.raises(error, match=f"on {host}: .*{said}"):
                gfgcn.ray.fit(store, target, force=True, **MODEL)
        assert target.read_bytes() == b"as it was"
    # What others had finished is taken up, and the rest computed.
    told = Calls()
    gfgcn.ray.fit(store, target, force=True, progress=told, **MODEL)
    assert target.read_bytes() == (folder / "one.model").read_bytes() and told[-1][0] == told[-1][1]


def test_another_version_on_a_worker(nodes, folder, tmp_path):
    def change(whole, task, job):
        import dataclasses

        return whole(dataclasses.replace(task, version="0.0.1"), job)

    with on_node(another(nodes), tmp_path, change):
        with pytest.raises(ValueError, match="install the same version"):
            gfgcn.ray.fit(folder / "x.store", **MODEL)


def test_too_many_processors_are_refused(nodes, folder):
    with pytest.raises(ValueError, match="no machine of the cluster has more than 1"):
        gfgcn.ray.fit(folder / "x.store", num_cpus=2, **MODEL)
    with pytest.raises(ValueError, match="connected to a cluster already"):
        gfgcn.ray.fit(folder / "x.store", address=nodes.address, **MODEL)


def test_a_killed_node_changes_nothing(nodes, folder, tmp_path):
    """The last test: a node is gone afterwards. It dies with a share at hand that it would never have finished."""

    def never(whole, task, job):
        import time

        while True:
            time.sleep(0.05)

    victim = another(nodes)
    with on_node(victim, tmp_path, never) as begun:

        def kill():
            while not begun.exists():
                time.sleep(0.01)
            nodes.remove_node(victim, allow_graceful=False)

        killer = threading.Thread(target=kill)
        killer.start()
        told = Calls()
        gfgcn.ray.fit(folder / "x.store", tmp_path / "m.model", progress=told, **MODEL)
        killer.join()
    assert begun.exists() and told[-1][0] == told[-1][1] >= 3
    assert (tmp_path / "m.model").read_bytes() == (folder / "one.model").read_bytes()
