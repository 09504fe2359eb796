"""gfgcn on a GPU against PyTorch on the same GPU and gfgcn on the processor of the same machine, in one run.

    python3 benchsuite/gpu --programs target/release --out benchsuite/runs/DATE-gpu

needs a GPU, a Python with PyTorch, and the two programs: `cargo build --release -p gfgcn-cli -p gfgcn-bench`. Every figure is
the best of several repetitions; sending data is not part of what is timed for the product and the ridge problems, on
either side, and is part of it in whole commands.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from gpu.faults import Faults  # noqa: E402
from gpu.report import write  # noqa: E402
from runner import machine  # noqa: E402

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="folder with gfgcn and gfgcn-bench")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the figures")
    parser.add_argument("--only", default="product,ridge,evaluate,fit", help="parts, separated by commas")
    parser.add_argument("--nodes", type=int, default=2_400_000, help="nodes of the graph of the product")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    results = {"machine": described(), "figures": {}}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments.programs.resolve(), pathlib.Path(folder))
        for part in arguments.only.split(","):
            start = time.perf_counter()
            results["figures"][part] = getattr(bench, part)(arguments)
            print(f"{part}: {json.dumps(results['figures'][part])} ({time.perf_counter() - start:.0f} s)", flush=True)
            (arguments.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    write(results, arguments.out / "summary.md")


def described() -> dict:
    driver = machine.said(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])
    return machine.describe(REPOSITORY) | {
        "gpu": torch.cuda.get_device_properties(0).name,
        "driver": driver,
        "torch": torch.__version__,
        "copy_bytes_per_second": copy_bandwidth(),
    }


def best(work, repetitions: int = 20) -> float:
    """Seconds of the fastest call on the device, measured by events."""
    work()
    times = []
    for _ in range(repetitions):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return min(times)


def copy_bandwidth() -> float:
    """Bytes read and written per second."""
    source = torch.rand(1 << 30, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.numel() * 4 / best(lambda: target.copy_(source))


class Bench:
    """Each part returns its figures."""

    def __init__(self, programs: pathlib.Path, folder: pathlib.Path):
        self.programs, self.folder = programs, folder

    def run(self, program: str, *arguments) -> dict:
        command = [str(self.programs / program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}: {done.stderr}")
        return json.loads(done.stdout)

    def synthetic(self, nodes: int, edges: int, features: int) -> pathlib.Path:
        path = self.folder / f"{nodes}.npz"
        if path.exists():
            return path
        sizes = ["--nodes", nodes, "--edges", edges, "--features", features, "--classes", 10]
        self.run("gfgcn", "data", "synth", *sizes, "-o", path, "--json")
        return path

    def product(self, arguments) -> dict:
        """One product with D⁻¹(A + I) on 100 columns."""
        nodes, columns = arguments.nodes, 100
        graph = self.synthetic(nodes, round(25.33 * nodes), 1)
        ours = self.run("gfgcn-bench", "gpu-product", graph, "--columns", columns, "--folder", self.folder)
        graph.unlink()
        offsets = torch.from_numpy(np.fromfile(self.folder / "offsets.u64", np.int64)).cuda()
        neighbours = torch.from_numpy(np.fromfile(self.folder / "neighbours.u32", np.int32)).cuda()
        matrix = with_loops(offsets, neighbours.long())
        i, j = torch.arange(nodes, device="cuda")[:, None], torch.arange(columns, device="cuda")[None]
        x = ((i * 31 + j * 17) % 23).float() / 23
        product = (matrix @ x)[:1000].double().cpu().numpy()
        weights = (np.add.outer(np.arange(1000), np.arange(columns)) % 3) + 1
        seconds = best(lambda: matrix @ x)
        return {
            "gfgcn": ours["seconds"],
            "torch_csr": seconds,
            "bytes": ours["bytes"],
            "nonzeros": ours["nonzeros"],
            "norms": [ours["norm"], float(np.sqrt((weights * product**2).sum()))],
        }

    def ridge(self, arguments) -> dict:
        """PubMed: from filtered training features on the device to weights."""
        ours = self.run("gfgcn-bench", "gpu-ridge", REPOSITORY / "datasets/pubmed.npz", "--folder", self.folder)
        shape = (ours["training_nodes"], ours["columns"])
        train = torch.from_numpy(np.fromfile(self.folder / "train.f32", np.float32).reshape(shape)).cuda()
        targets = np.fromfile(self.folder / "targets.f64").reshape(shape[0], -1)
        targets = torch.from_numpy(targets).cuda()
        penalty = ours["penalty"]

        def primal(kind):
            features, right = train.to(kind), targets.to(kind)
            system = features.T @ features
            system.diagonal().add_(penalty)
            return torch.cholesky_solve(features.T @ right, torch.linalg.cholesky(system))

        weights = primal(torch.float64).cpu().numpy()
        turns = (np.add.outer(np.arange(weights.shape[0]), np.arange(weights.shape[1])) % 3) + 1
        return {
            "gfgcn_given": ours["given_seconds"],
            "gfgcn_leave_one_out": ours["leave_one_out_seconds"],
            "torch_primal_double": best(lambda: primal(torch.float64), 200),
            "torch_primal_single": best(lambda: primal(torch.float32), 200),
            "torch_adam": best(lambda: adam(train, targets.argmax(1)), 5),
            "norms": [ours["norm"], float(np.sqrt((turns * weights**2).sum()))],
        }

    def evaluate(self, arguments) -> dict:
        """`gfgcn evaluate pubmed`: 420 fits, and everything around them."""
        return self.both("evaluate", "pubmed", "--json", repetitions=3)

    def fit(self, arguments) -> dict:
        """1 M nodes, 25 M edges, 128 features, SGC K = 8; loading aside."""
        graph = self.synthetic(1_000_000, 25_000_000, 128)
        model = self.folder / "large.model"
        options = ["--model", "gfsgc", "--depth", 8, "--force", "--json", "-o", model]
        return self.both("fit", graph, *options, repetitions=2)

    def stages(self, arguments) -> dict:
        """Where the time of that fit goes."""
        return self.run("gfgcn-bench", "gpu-fit", self.synthetic(1_000_000, 25_000_000, 128))

    def faults(self, arguments) -> dict:
        """What becomes of work on a GPU that is full, hidden or of another number."""
        return Faults(self.programs / "gfgcn", self.folder).all()

    def both(self, *command, repetitions: int) -> dict:
        """A command on the processor and on the GPU: what it says it took, and from start to end."""
        figures = {}
        for device in ("cpu", "cuda"):
            said, whole, report = [], [], {}
            for _ in range(repetitions):
                start = time.perf_counter()
                report = self.run("gfgcn", *command, "--device", device)
                whole.append(time.perf_counter() - start)
                said.append(report["seconds"])
            figures[device] = {"seconds": min(said), "with_start": min(whole)}
            if "results" in report:
                figures[device]["accuracy"] = [round(row["accuracy"]["mean"], 2) for row in report["results"]]
        return figures


def with_loops(offsets: torch.Tensor, neighbours: torch.Tensor) -> torch.Tensor:
    """D⁻¹(A + I) in compressed rows."""
    nodes = len(offsets) - 1
    degrees = offsets.diff()
    rows = torch.repeat_interleave(torch.arange(nodes, device="cuda"), degrees)
    # Room for the loop in front of each row.
    places = torch.arange(len(neighbours), device="cuda") + rows + 1
    columns = torch.empty(len(neighbours) + nodes, dtype=torch.int32, device="cuda")
    columns[places] = neighbours.int()
    starts = offsets + torch.arange(nodes + 1, device="cuda")
    columns[starts[:-1]] = torch.arange(nodes, dtype=torch.int32, device="cuda")
    values = torch.repeat_interleave(1 / (degrees + 1).float(), degrees + 1)
    return torch.sparse_csr_tensor(starts.int(), columns, values, (nodes, nodes))


def adam(train: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
    """A linear model by 200 epochs of Adam, as SGC is trained."""
    weights = torch.zeros(train.shape[1], int(classes.max()) + 1, device="cuda", requires_grad=True)
    optimiser = torch.optim.Adam([weights], lr=0.2, weight_decay=1e-4)
    for _ in range(200):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(train @ weights, classes).backward()
        optimiser.step()
    return weights


if __name__ == "__main__":
    main()
