"""Everything that documentation shows is run, and prints what it says."""

import contextlib
import doctest
import importlib
import importlib.util
import inspect
import io
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import gfgcn

ROOT = pathlib.Path(__file__).parents[2]
MODULES = [
    "gfgcn",
    "gfgcn._changes",
    "gfgcn._classifier",
    "gfgcn._evaluate",
    "gfgcn._explaining",
    "gfgcn._filter",
    "gfgcn._graph",
    "gfgcn._on_graph",
    "gfgcn._regressor",
    "gfgcn._results",
    "gfgcn._store",
    "gfgcn._tune",
    "gfgcn.datasets",
]
CELL = re.compile(
    r"^```python(?: needs (?P<needs>\w+))?\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?",
    re.S | re.M,
)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0 and result.failed == 0


def test_everything_public_is_documented():
    for name in gfgcn.__all__:
        item = getattr(gfgcn, name)
        if isinstance(item, type) or callable(item):
            assert item.__doc__, name
            for method, value in vars(item).items():
                if not method.startswith("_") and callable(getattr(value, "__func__", value)):
                    assert getattr(item, method).__doc__, f"{name}.{method}"


@pytest.mark.parametrize("page", ["docs/tutorial.md", "docs/own-data.md", "docs/scale.md", "README.md", "python/README.md"])
def test_pages(page, tmp_path, monkeypatch):
    """The code of a page, as one program, in a folder with the repository's examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    cells = list(CELL.finditer((ROOT / page).read_text(encoding="utf-8")))
    assert cells, f"{page} has no code"
    space = {}
    for cell in cells:
        if cell["needs"] and importlib.util.find_spec(cell["needs"]) is None:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(cell["code"], page, "exec"), space)
        assert printed.getvalue() == (cell["output"] or ""), cell["code"]


def test_the_book_has_every_page_and_everything_public(tmp_path):
    """`make docs`: a page of the repository each, and a reference with all that can be called."""
    build = ROOT / "docs/build.py"
    subprocess.run([sys.executable, build, tmp_path], check=True, capture_output=True)
    pages = {page.stem: page.read_text(encoding="utf-8") for page in tmp_path.glob("*.html")}
    assert {"index", "tutorial", "own-data", "any-graph", "living", "serve", "gpu", "python-reference"} <= set(pages)
    for page in ROOT.glob("docs/*.md"):
        assert page.stem in pages, f"{page.name} has no place in the book"
    for name in gfgcn.__all__:
        item = getattr(gfgcn, name)
        if not isinstance(item, type) or issubclass(item, Warning):
            continue
        for method in dir(item):
            if not method.startswith("_") and inspect.isfunction(inspect.unwrap(getattr(item, method))):
                assert f"{name}.{method}(" in pages["python-reference"], f"{name}.{method}"
