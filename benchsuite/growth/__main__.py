"""Measures how time and memory grow, gfgcn's and its peers', and writes growth.svg, growth.md and growth.csv."""

from __future__ import annotations

import argparse
import datetime
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from growth import measure, page, sizes  # noqa: E402
from run import WORK, environment  # noqa: E402
from runner import machine, prepare, report  # noqa: E402


def main() -> None:
    options = parse()
    WORK.mkdir(exist_ok=True)
    engine = prepare.build("gfgcn-bench", "gfgcn-bench")
    graphs = measure.Graphs(prepare.build("gfgcn-cli", "gfgcn"), WORK)
    python, notes = prepare.install_peers(options.venv)
    print(*notes, sep="\n")
    described = machine.describe(prepare.ROOT)
    about = (
        f"SGC, K = {sizes.DEPTH}, from loaded data to predictions for all nodes of a synthetic graph; λ of 25 by leave-one-out "
        "(gfgcn) or on 1000 validation nodes (peers: shared products, one eigendecomposition). The best of at most "
        f"{options.repetitions} repetitions, and the most memory that was resident meanwhile, data included. "
        f"{described['processor']}, {datetime.date.today().isoformat()}, commit {described['commit']}."
    )
    folder = report.new_folder(options.out, datetime.date.today().isoformat() + "-growth")
    everything, points, done = sizes.series(options.largest), [], set()
    for series in everything:
        for size in series.sizes:
            if size in done:
                continue
            done.add(size)
            print(f"{series.field} {series.at(size):,}: {size}", flush=True)
            measured = measure.measure(
                size, engine, python, graphs, options.repetitions, options.limit, environment
            )
            for point in measured:
                peak = f"{point.peak / 1e9:.2f} GB" if point.peak else ""
                print(f"    {point.contestant:10} {report.duration(point.seconds):>9} {peak} {point.failure or ''}", flush=True)
            points += measured
            # After every size: what is measured should not be lost.
            (folder / "growth.csv").write_text(page.table(points))
            (folder / "growth.svg").write_text(page.picture(everything, points))
            (folder / "growth.md").write_text(page.page(everything, points, about))
    print(f"written to {folder}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="growth", description=__doc__)
    parser.add_argument("--largest", type=int, default=10**7, help="nodes of the largest graph (%(default)s)")
    parser.add_argument("--repetitions", type=int, default=3, help="at most (%(default)s)")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one answer, and for all of one contestant (%(default)s)")
    parser.add_argument("--venv", type=Path, default=WORK / "venv", help="the peers' virtual environment")
    parser.add_argument("--out", type=Path, default=prepare.SUITE / "runs", help="where the dated folder goes")
    options = parser.parse_args()
    if options.largest < 10**5:
        parser.error("the other sizes grow on graphs of 100000 nodes; --largest is at least that")
    return options


if __name__ == "__main__":
    main()
