"""The types that are declared are those that there are."""

import pathlib
import subprocess
import sys

PROJECT = pathlib.Path(__file__).parents[1]


def check(*command):
    done = subprocess.run([sys.executable, "-m", *command], cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_is_typed():
    check("mypy")


def test_stubs_say_what_the_engine_has():
    check("mypy.stubtest", "gfgcn._gfgcn", "--mypy-config-file", "pyproject.toml")


def test_users_see_types(tmp_path):
    """A program of a user's, checked against the installed package."""
    program = tmp_path / "program.py"
    program.write_text(
        "from gfgcn import GradientFreeClassifier, datasets, tune\n"
        "cora = datasets.load('cora')\n"
        "model: GradientFreeClassifier = tune(cora).classifier().fit(cora)\n"
        "accuracy: float = model.score(cora)\n"
    )
    check("mypy", "--strict", "--config-file", "", str(program))
    program.write_text("from gfgcn import GradientFreeClassifier\nGradientFreeClassifier(depht=3)\n")
    done = subprocess.run([sys.executable, "-m", "mypy", str(program)], capture_output=True, text=True, cwd=tmp_path)
    assert "depht" in done.stdout
