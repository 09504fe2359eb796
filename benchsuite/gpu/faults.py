"""What gfgcn does when something is wrong with a GPU that is really there: full, hidden, or of another number."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import torch

# Work that is worth a GPU, and takes seconds on a processor.
WORK = ["evaluate", "pubmed", "--splits", "1", "--depths", "64,512", "--models", "gfsgc", "--json"]
DRIVERS = ["libcuda.so", "libcuda.so.1"]
# Where gfgcn looks for cuBLAS by itself.
TOOLKIT = pathlib.Path("/usr/local/cuda")
CUBLAS = [f"libcublas.so{version}" for version in ("", ".13", ".12", ".11", ".10", ".9", ".1")]


class Faults:
    """Provokes each fault and checks what comes of it; every check that fails is named in the end."""

    def __init__(self, program: pathlib.Path, folder: pathlib.Path):
        self.program, self.folder = program, folder
        self.checks: list[dict] = []

    def all(self) -> dict:
        """Everything that was checked."""
        here = self.run("--device", "cpu")
        self.scores = _scores(here)
        self.number()
        self.hidden("no driver", DRIVERS, "no NVIDIA driver")
        self.hidden("no cuBLAS", CUBLAS, "cuBLAS (libcublas) was not found", TOOLKIT)
        for free in (0, 256, 700, 1500, 4000):
            self.full(free)
        failed = [check for check in self.checks if not check["ok"]]
        return {"checked": len(self.checks), "failed": len(failed), "checks": self.checks}

    def run(self, *options: str, without: pathlib.Path | None = None, **variables: str) -> subprocess.CompletedProcess:
        command = [str(self.program), *WORK, *options]
        if without is not None and without.exists():
            # An empty folder lies over it, for this process alone.
            hide = 'mount -t tmpfs none "$0" && exec "$@"'
            command = ["unshare", "--mount", "sh", "-c", hide, str(without.resolve()), *command]
        unset = ("CUDA_HOME", "CUDA_PATH", "GFGCN_CUDA_LIBRARIES", "GFGCN_DEVICE", "VIRTUAL_ENV", "CONDA_PREFIX")
        environment = {key: value for key, value in os.environ.items() if key not in unset}
        return subprocess.run(command, capture_output=True, text=True, env={**environment, **variables}, timeout=120)

    def check(self, name: str, ok: bool, run: subprocess.CompletedProcess) -> None:
        said = run.stderr.strip().splitlines()
        self.checks.append({"fault": name, "ok": bool(ok), "status": run.returncode, "said": said[-1] if said else ""})

    def number(self) -> None:
        run = self.run("--device", "cuda:99")
        self.check("cuda:99", run.returncode == 4 and "cuda:99: it is not there" in run.stderr, run)

    def hidden(self, name: str, libraries: list[str], expected: str, without: pathlib.Path | None = None) -> None:
        """What is no library stands in front of those that are, and a folder may be hidden (which needs root)."""
        folder = self.folder / name.replace(" ", "-")
        folder.mkdir()
        for library in libraries:
            (folder / library).write_text("not a library")
        run = self.run("--device", "cuda", without=without, LD_LIBRARY_PATH=str(folder))
        self.check(f"{name}, asked for", run.returncode == 4 and expected in run.stderr, run)
        run = self.run("--device", "auto", without=without, LD_LIBRARY_PATH=str(folder))
        self.check(f"{name}, auto", run.returncode == 0 and _scores(run) == self.scores, run)

    def full(self, megabytes: int) -> None:
        """All but so much of the memory is taken by another process."""
        taken = []
        for size in (1 << 30, 1 << 26, 1 << 22):
            while torch.cuda.mem_get_info()[0] > (megabytes << 20) + size:
                try:
                    taken.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
                except torch.OutOfMemoryError:
                    break
        left = torch.cuda.mem_get_info()[0] >> 20
        name = f"{left} MB free"
        run = self.run("--device", "cuda")
        full = run.returncode == 4 and "its memory is full" in run.stderr
        # With more of it free, the work fits.
        self.check(f"{name}, asked for", full or (megabytes >= 700 and run.returncode == 0), run)
        run = self.run("--device", "auto")
        noted = "computed on the processor" in run.stderr and _scores(run) == self.scores
        self.check(f"{name}, auto", run.returncode == 0 and (noted or megabytes >= 700), run)
        del taken
        torch.cuda.empty_cache()


def _scores(run: subprocess.CompletedProcess) -> list:
    try:
        return [row["scores"] for row in json.loads(run.stdout)["results"]]
    except (ValueError, KeyError):
        return []
