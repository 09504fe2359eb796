"""What tests share: real datasets, small graphs, and the real command line."""

from __future__ import annotations

import os
import pathlib
import subprocess

import numpy as np
import pytest
from hypothesis import settings

from gfgcn import datasets

# The same examples every time; others with --hypothesis-profile=default.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")

ROOT = pathlib.Path(__file__).parents[2]
LOCAL = pathlib.Path(os.environ.get("GFGCN_DATA", ROOT.parent / "shared/data/local"))


def local_data(name):
    """Real data that are not part of the repository."""
    path = LOCAL / name
    if not path.exists():
        pytest.skip(f"needs {name} in GFGCN_DATA or {LOCAL}")
    return path


@pytest.fixture(scope="session")
def cora():
    return datasets.load("cora")


@pytest.fixture
def small():
    """Two rings of ten nodes with a bridge; noisy features; three labels in each."""
    rng = np.random.default_rng(0)
    adjacency = np.zeros((20, 20))
    for ring in (range(10), range(10, 20)):
        for a, b in zip(ring, [*ring[1:], ring[0]]):
            adjacency[a, b] = adjacency[b, a] = 1
    adjacency[9, 10] = adjacency[10, 9] = 1
    truth = np.repeat([0, 1], 10)
    X = (rng.normal(size=(20, 5)) + truth[:, None]).astype(np.float32)
    y = np.full(20, -1)
    y[[0, 3, 6, 11, 14, 17]] = truth[[0, 3, 6, 11, 14, 17]]
    return X, y, adjacency


@pytest.fixture(scope="session")
def gfgcn():
    """Runs the command line; made by `cargo build`, or named by the variable GFGCN_BINARY."""
    binary = pathlib.Path(os.environ.get("GFGCN_BINARY", ROOT / "target/debug/gfgcn")).resolve()
    assert binary.is_file(), f"there is no {binary}; run cargo build, or set GFGCN_BINARY"

    def run(*arguments, cwd=None):
        command = [str(binary), *map(str, arguments)]
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
