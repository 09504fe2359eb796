"""Under a limit of the process's memory: an answer or MemoryError with the estimate, never the end of the interpreter."""

import pathlib
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is that of Linux")

PRELUDE = """
import resource, sys, warnings
import numpy as np
from gfgcn import GradientFreeClassifier, GraphFilter, datasets, evaluate, tune
warnings.simplefilter("ignore")

def ring(nodes, classes):
    y = np.arange(nodes) % classes
    edges = np.stack([np.arange(nodes), (np.arange(nodes) + 1) % nodes])
    X = np.stack([np.arange(nodes) % 7, np.arange(nodes) % 11, y % 13], axis=1).astype(np.float32)
    return X, y, edges

def limit(megabytes):
    with open("/proc/self/status") as status:
        used = int(next(line for line in status if line.startswith("VmSize:")).split()[1]) * 1024
    most = used + (megabytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))

def outcome(work, *arguments, **options):
    try:
        work(*arguments, **options)
    except MemoryError as error:
        print("refused" if "memory" in str(error) else f"MemoryError: {error}")
    except ValueError as error:
        print(error)
    else:
        print("done")
"""

CORA = """
cora = datasets.load("cora")
jobs = dict(
    fit=lambda: GradientFreeClassifier(n_jobs=2).fit(cora.X, cora.y_train, adjacency=cora.adjacency),
    rbf=lambda: GradientFreeClassifier(kernel="rbf", n_jobs=2).fit(cora.X, cora.y_train, adjacency=cora.adjacency),
    filter=lambda: GraphFilter("sgc", depth=2, adjacency=cora.adjacency, n_jobs=2).fit_transform(cora.X),
    evaluate=lambda: evaluate(cora.X, cora.y, cora.adjacency, depths=[2], splits=2, n_jobs=2),
    tune=lambda: tune(cora.X, cora.y_train, cora.adjacency, n_jobs=2),
)
"""


def for_products(jobs):
    """Megabytes of address space that matrix products set aside: twice the last-level caches for each thread and the caller."""
    caches = {}
    for cache in pathlib.Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cache/index3"):
        caches[(cache / "shared_cpu_list").read_text()] = int((cache / "size").read_text().strip().rstrip("K"))
    return 2 * sum(caches.values()) * (jobs + 1) // 1024


def run(*parts):
    """The lines that a program prints, which must not die."""
    program = "".join(map(textwrap.dedent, parts))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout.splitlines()


@pytest.mark.parametrize("job", ["fit", "rbf", "filter", "evaluate", "tune"])
def test_more_memory_never_turns_success_into_refusal(job):
    outcomes = [
        run(PRELUDE, CORA, f"limit({megabytes}); outcome(jobs[{job!r}])")
        for megabytes in (4, 20, 60, 120, 200, 400, 1200 + for_products(2))
    ]
    assert all(outcome in (["done"], ["refused"]) for outcome in outcomes), outcomes
    assert outcomes == sorted(outcomes, reverse=True), outcomes
    assert outcomes[-1] == ["done"]


@pytest.mark.parametrize(
    "call",
    [
        "GradientFreeClassifier().fit, X, y, edges",
        "GradientFreeClassifier(kernel='rbf').fit, X, y, edges",
        "tune, X, y, edges",
        "evaluate, X, y, edges, ratio='1:0:1', depths=[2]",
    ],
)
def test_classes_count(call):
    """6000 classes of two nodes each: more columns than there is memory for."""
    assert run(PRELUDE, f"X, y, edges = ring(12_000, 6000); limit(1000); outcome({call})") == ["refused"]


def test_ids_are_no_labels():
    call = "GradientFreeClassifier().fit, X, y, edges"
    (message,) = run(PRELUDE, f"X, y, edges = ring(12_000, 12_000); limit(1000); outcome({call})")
    assert "12000 classes for 12000 nodes" in message
