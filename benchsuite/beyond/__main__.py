"""A graph beyond memory, from the synthetic store to all predictions: times, memory and disk traffic of every step.

    python3 -m beyond --size 1m --memory 1GB --compare          (in benchsuite/)
    python3 -m beyond --size papers --memory 18GB

Each step is the command line in a process of its own, watched from outside: peak of anonymous memory (what is mapped from files
aside), and bytes that went to and came from the disk. With --compare, the same steps without a limit, in turns, and whether
their files are the same to the byte. Everything is made in --folder and removed at the end, unless --keep.
"""

from __future__ import annotations

import argparse
import datetime
import filecmp
import json
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from beyond.watch import watched  # noqa: E402
from runner import machine  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
SIZES = {
    "small": {"nodes": 100_000, "edges": 1_000_000, "classes": 10, "features": 128, "split": "1:1:8"},
    "1m": {"nodes": 1_000_000, "edges": 15_000_000, "classes": 10, "features": 128, "split": "1:1:98"},
    "10m": {"nodes": 10_000_000, "edges": 150_000_000, "classes": 10, "features": 128, "split": "1:1:98"},
    # ogbn-papers100M has 111 million nodes, 1.6 thousand million edges and 172 classes; 128 features would take 57 GB of disk, and
    # scores 153 GB, so that labels alone are written.
    "papers": {"nodes": 111_059_956, "edges": 1_615_685_872, "classes": 172, "features": 32, "split": "1:1:98"},
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="beyond", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "target" / "beyond")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "target" / "release" / "gfgcn")
    parser.add_argument("--compare", action="store_true", help="the same without a limit, in turns")
    parser.add_argument("--keep", action="store_true", help="leave the store and the outputs where they are")
    parser.add_argument("--output", type=pathlib.Path, help="JSON file to write")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    store = options.folder / f"{options.size}.store"
    steps: dict[str, dict[str, float]] = {}
    try:
        if not store.exists():
            shape = [str(part) for name, value in SIZES[options.size].items() for part in (f"--{name}", value)]
            steps["synth"] = run(options, "data", "synth", "-o", store, *shape)
        limit = ["--memory", options.memory]
        fit = ["fit", store, "--public-split", "--model", "gfsgc", "--depth", "4", "--device", "cpu", "--force"]
        predict = ["--device", "cpu", "--force", *(["--labels-only"] if options.size == "papers" else [])]
        model, labels = options.folder / "limited.model", options.folder / "limited.npz"
        whole, all_labels = options.folder / "whole.model", options.folder / "whole.npz"
        steps["fit"] = run(options, *fit, *limit, "-o", model)
        if options.compare:
            steps["fit, no limit"] = run(options, *fit, "-o", whole)
            steps["fit"]["same_bytes"] = filecmp.cmp(model, whole, shallow=False)
        steps["predict"] = run(options, "predict", model, store, *predict, *limit, "-o", labels)
        if options.compare:
            steps["predict, no limit"] = run(options, "predict", model, store, *predict, "-o", all_labels)
            steps["predict"]["same_bytes"] = filecmp.cmp(labels, all_labels, shallow=False)
    finally:
        if not options.keep:
            shutil.rmtree(options.folder)
    report = {
        "date": datetime.date.today().isoformat(),
        "machine": machine.describe(ROOT),
        "size": {"name": options.size, **SIZES[options.size]},
        "memory": options.memory,
        "steps": steps,
    }
    text = json.dumps(report, indent=2)
    if options.output:
        options.output.write_text(text + "\n")
    print(text)


def run(options: argparse.Namespace, *arguments: object) -> dict[str, float]:
    command = [str(options.binary), *map(str, arguments), "--quiet"]
    print("$ gfgcn", *command[1:], file=sys.stderr)
    measured = watched(command)
    print(f"  {measured}", file=sys.stderr)
    return measured


if __name__ == "__main__":
    main()
