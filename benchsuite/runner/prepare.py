"""Everything that has to be there before a contest: the engine, the peers' programs, the data."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

SUITE = Path(__file__).resolve().parent.parent
ROOT = SUITE.parent
BUNDLED = ROOT / "datasets"


class Missing(Exception):
    """Something that a case needs and that is not there; says what to do."""


def build(package: str, binary: str, log=print) -> Path:
    """Builds a release binary and says where Cargo put it."""
    log(f"building {binary}")
    command = [os.environ.get("CARGO", "cargo"), "build", "--release", "-p", package]
    command += ["--message-format", "json-render-diagnostics"]
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in output.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == binary:
            return Path(message["executable"])
    raise SystemExit(f"cargo built {package} but did not say where {binary} is")


def install_peers(venv: Path, log=print) -> tuple:
    """The Python of a virtual environment with the peers, and what did not install."""
    python = venv / "bin" / "python"
    if not python.exists():
        log(f"making a virtual environment in {venv}")
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    requirements = SUITE / "requirements.txt"
    stamp, digest = venv / "installed.json", hashlib.sha256(requirements.read_bytes()).hexdigest()
    if stamp.exists():
        done = json.loads(stamp.read_text())
        if done["requirements"] == digest:
            return python, done["problems"]
    problems = []
    for line in requirements.read_text().splitlines():
        packages = line.partition("#")[0].split()
        if packages:
            log(f"installing {' '.join(packages)}")
            pip = [str(python), "-m", "pip", "install", "--quiet", "--prefer-binary", *packages]
            done = subprocess.run(pip, stderr=subprocess.PIPE, text=True)
            if done.returncode != 0:
                last = (done.stderr.strip().splitlines() or ["no message"])[-1]
                problems.append(f"{' '.join(packages)} did not install: {last}")
    stamp.write_text(json.dumps({"requirements": digest, "problems": problems}))
    return python, problems


def install_package(python: Path, log=print) -> list:
    """Puts the Python package of this repository into the peers' environment; what went wrong, if anything."""
    log("building and installing the Python package")
    pip = [str(python), "-m", "pip", "install", "--quiet"]
    wheels = python.parent.parent / "wheels"
    maturin = [str(python), "-m", "maturin", "build", "--quiet", "--release"]
    steps = [
        [*pip, "maturin>=1.16,<2"],
        [*maturin, "-m", str(ROOT / "python" / "Cargo.toml"), "-o", str(wheels)],
        [*pip, "--no-deps", "--force-reinstall", "--no-index", "--find-links", str(wheels), "gfgcn"],
    ]
    for step in steps:
        done = subprocess.run(step, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            return [f"the Python package did not install: {last}"]
    return []


class Library:
    """The graphs, exported once per run so that every contestant reads the same files."""

    def __init__(self, engine: Path, local: Path | None, work: Path, log=print):
        self.engine, self.local, self.work, self.log = engine, local, work, log
        self.ready = {}

    def arguments(self, data) -> list:
        """The files of a graph, as a contestant takes them."""
        if data.key not in self.ready:
            self.ready[data.key] = self._export(data) if data.name != "synthetic" else self._synth()
        return self.ready[data.key]

    def _export(self, data) -> list:
        output, splits = self.work / f"{data.key}.npz", self.work / f"{data.key}.json"
        command = [str(self.engine), "export", str(self._find(data.name)), str(output)]
        command += ["--largest-component"] if data.largest_component else []
        command += ["--columns", str(data.columns)] if data.columns else []
        command += ["--splits", str(splits)] if data.splits else []
        subprocess.run(command, check=True)
        return [str(output)] + ([str(splits)] if data.splits else [])

    def _find(self, name) -> Path:
        folders = [BUNDLED] + ([self.local] if self.local else [])
        for folder in folders:
            for spelling in (name, name.replace("-", "_")):
                if (folder / f"{spelling}.npz").exists():
                    return folder / f"{spelling}.npz"
        raise Missing(f"{name}.npz is not there; `gfgcn data get {name}`, then name its folder with --data")

    def _synth(self) -> list:
        """Made once and kept: it takes minutes and is the same every time."""
        path = self.work / "synthetic.npz"
        if not path.exists():
            program = build("gfgcn-cli", "gfgcn", self.log)
            self.log("making the synthetic graph")
            command = [str(program), "data", "synth", "--nodes", "1000000", "--edges", "25000000"]
            command += ["--classes", "10", "--features", "128", "--seed", "0", "-o", str(path)]
            if subprocess.run(command).returncode != 0:
                raise Missing("`gfgcn data synth` did not make the graph")
        return [str(path)]
