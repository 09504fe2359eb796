#!/usr/bin/env python3
"""Runs gfgcn and its peers side by side and writes down what came out; see README.md."""

from __future__ import annotations

import argparse
import datetime
import os
import signal
import sys
from pathlib import Path

from runner import contest, machine, plan, prepare, report

WORK = prepare.SUITE / ".work"


def main() -> None:
    options = parse()
    WORK.mkdir(exist_ok=True)
    engine = prepare.build("gfgcn-bench", "gfgcn-bench")
    python, notes = prepare.install_peers(options.venv)
    if "binding" in options.only:
        notes = notes + prepare.install_package(python)
    library = prepare.Library(engine, options.data, WORK)
    about = {
        "date": datetime.date.today().isoformat(),
        "tasks": options.only,
        "quick": options.quick,
        "threads": options.threads,
        "repetitions": options.repetitions,
        "budget": options.budget,
        "literal_limit": options.literal_limit,
        "machine": machine.describe(prepare.ROOT),
    }
    chosen = [
        case
        for case in plan.cases(options.literal_limit)
        if case.task in options.only and (case.quick or not options.quick)
    ]
    folder = report.new_folder(options.out, about["date"])
    finished = []
    for case in chosen:
        finished.append(run(case, library, engine, python, options))
        # After every case: a run takes long, and what is measured should not be lost.
        report.write(folder, finished, about, notes)
    print((folder / "summary.md").read_text())
    print(f"written to {folder}")


def run(case, library, engine, python, options) -> report.Finished:
    print(f"{case.title}: {plan.TASKS[case.task]}", flush=True)
    try:
        shared = [*library.arguments(case.data), *case.arguments]
    except prepare.Missing as missing:
        print(f"    not run: {missing}")
        return report.Finished(case, skipped=str(missing))
    contestants = [contest.Contestant("gfgcn", [str(engine), case.task, *shared, *case.own])]
    for peer in case.peers:
        if peer.script is None:
            command = [str(engine), case.task, *shared, *peer.arguments]
        else:
            script = str(prepare.SUITE / "peers" / peer.script)
            command = [str(python), script, *shared, *peer.arguments]
        contestants.append(
            contest.Contestant(peer.name, command, peer.target, peer.limit, peer.must_agree)
        )
    results = contest.compete(
        contestants,
        options.repetitions,
        options.limit,
        options.budget,
        environment(options.threads),
    )
    finished = report.Finished(case, results)
    for line in finished.lines():
        words = [report.duration(line.best), report.times(line.ratio), line.remark]
        print(f"    {line.name:45} " + "  ".join(filter(None, words)), flush=True)
    return finished


def environment(threads: int) -> dict:
    names = ["RAYON", "OMP", "OPENBLAS", "MKL", "NUMEXPR"]
    return {f"{name}_NUM_THREADS": str(threads) for name in names}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the smaller cases, two repetitions")
    parser.add_argument("--only", default=",".join(plan.TASKS), help="some of %(default)s")
    parser.add_argument("--threads", type=int, default=2, help="for everyone (%(default)s)")
    parser.add_argument("--repetitions", type=int, help="at most (10; 2 with --quick)")
    parser.add_argument("--budget", type=float, help="seconds after which a contestant sits out (60; 10)")
    parser.add_argument("--limit", type=float, default=900, help="seconds for one answer (%(default)s)")
    parser.add_argument("--literal-limit", type=float, help="seconds after which the paper's formulas are extrapolated (120; 10)")
    parser.add_argument("--venv", type=Path, default=WORK / "venv", help="the peers' virtual environment")
    parser.add_argument("--data", type=Path, default=local_data(), help="folder of datasets that are not bundled")
    parser.add_argument("--out", type=Path, default=prepare.SUITE / "runs", help="where the dated folder goes")
    options = parser.parse_args()
    options.only = options.only.split(",")
    unknown = set(options.only) - set(plan.TASKS)
    if unknown:
        parser.error(f"there is no task {', '.join(sorted(unknown))}; there are {', '.join(plan.TASKS)}")
    if options.threads < 1 or (options.repetitions is not None and options.repetitions < 1):
        parser.error("threads and repetitions are at least 1")
    quick = options.quick
    options.repetitions = options.repetitions or (2 if quick else 10)
    options.budget = options.budget or (10 if quick else 60)
    options.literal_limit = options.literal_limit or (10 if quick else 120)
    return options


def local_data() -> Path | None:
    """Where the tests look for datasets that cannot be shipped."""
    named = os.environ.get("GFGCN_DATA")
    folder = Path(named) if named else prepare.ROOT.parent / "shared" / "data" / "local"
    return folder if folder.is_dir() else None


if __name__ == "__main__":
    # So that the contestants are stopped as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; what was measured is in the folder of the run")
