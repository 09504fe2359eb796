"""The folder of a run: machine, versions, every repetition, a summary, a chart."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path

from . import chart
from .verdict import Line, floor, judge

# Above this share of the processors' time for other programs the times are not to be trusted:
# programs whose threads wait for each other lose far more than that share.
BUSY = 0.05


@dataclass
class Finished:
    """A case that was run, or the reason why it was not."""

    case: object
    results: list = field(default_factory=list)
    skipped: str | None = None

    def lines(self) -> list:
        if self.skipped:
            return [Line("", None, remark=f"not run: {self.skipped}")]
        lines = judge(self.results)
        if self.results[0].repetitions:
            lines += [bound.line(self.results[0]) for bound in self.case.bounds]
            lines += filter(None, [floor(self.results[0])])
        return lines


def new_folder(parent: Path, date: str) -> Path:
    """A folder named after the day; a second run of a day never overwrites the first."""
    for number in range(1, 1000):
        folder = parent / (date if number == 1 else f"{date}-{number}")
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            continue
    raise SystemExit(f"{parent} has a thousand runs of {date}")


def write(folder: Path, finished: list, about: dict, notes: list) -> None:
    """`about` describes machine and options; `notes` are sentences for the summary."""
    (folder / "machine.json").write_text(json.dumps(about, indent=2) + "\n")
    (folder / "versions.json").write_text(json.dumps(versions(finished), indent=2) + "\n")
    write_csv(folder / "results.csv", finished)
    (folder / "summary.md").write_text(summary(finished, about, notes))
    bars = [
        (one.case.title, line.name, line.ratio, line.target)
        for one in finished
        for line in one.lines()
        if line.ratio is not None and line.name in [result.contestant.name for result in one.results]
    ]
    (folder / "chart.svg").write_text(chart.draw(bars))


def versions(finished) -> dict:
    found = {}
    for one in finished:
        for result in one.results:
            found.update(result.info.get("versions", {}))
    return dict(sorted(found.items()))


def write_csv(path: Path, finished) -> None:
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(
            "task data variant contestant threads repetition seconds calls extrapolated_from "
            "others check figures".split()
        )
        for one in finished:
            case = one.case
            for result in one.results:
                for k, r in enumerate(result.repetitions):
                    row = [case.task, case.data.key, case.variant, result.contestant.name]
                    row += [result.info.get("threads"), k, r.seconds, r.calls, r.extrapolated]
                    row += [r.others, json.dumps(r.check), json.dumps(r.figures)]
                    out.writerow(row)


def summary(finished, about, notes) -> str:
    machine = about["machine"]
    text = [
        f"# Run of {about['date']}",
        "",
        f"{machine['processor']}, {about['threads']} threads, at most {about['repetitions']} "
        f"repetitions; the best counts. Commit {machine['commit']}.",
        "",
    ]
    warning = busy(finished)
    notes = ([warning] if warning else []) + notes
    text += [f"- {note}" for note in notes] + [""] * bool(notes)
    text += [
        "| task | contestant | best time | times gfgcn's | claimed | met | |",
        "|---|---|--:|--:|--:|---|---|",
    ]
    for one in finished:
        for k, line in enumerate(one.lines()):
            cells = [one.case.title if k == 0 else "", line.name, duration(line.best)]
            met = f"({line.met})" if warning and line.met else line.met
            cells += [times(line.ratio), times(line.target), met, line.remark.replace("|", "/")]
            text.append(f"| {' | '.join(cells)} |")
    return "\n".join(text) + "\n"


def busy(finished) -> str | None:
    """A warning where other programs ran beside the contest."""
    shares = sorted(
        r.others
        for one in finished
        for result in one.results
        for r in result.repetitions
        if r.others is not None
    )
    if not shares or shares[len(shares) // 2] <= BUSY:
        return None
    return (
        f"**The machine was busy:** other programs took {100 * shares[len(shares) // 2]:.0f} % of the "
        "processors' time in the median repetition. These times and ratios say little."
    )


def duration(seconds) -> str:
    if seconds is None:
        return ""
    if seconds < 1:
        return f"{1e3 * seconds:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 1000 else f"{seconds / 60:.0f} min"


def times(ratio) -> str:
    return "" if ratio is None else chart.times(ratio)
