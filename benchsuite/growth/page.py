"""What is written down of a run: every point, the exponents, the picture."""

from __future__ import annotations

import csv
import io

from .fit import exponent
from .picture import draw


def table(points: list) -> str:
    """Every point, as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = ["nodes", "edges", "features", "training", "threads"]
    writer.writerow([*columns, "contestant", "seconds", "peak_bytes", "accuracy", "failure"])
    for p in points:
        size = [getattr(p.size, column) for column in columns]
        writer.writerow([*size, p.contestant, p.seconds, p.peak, p.accuracy, p.failure])
    return out.getvalue()


def lines_of(series, points: list, value) -> dict:
    """The curve of each contestant in a series."""
    curves = {}
    for p in points:
        if p.size in series.sizes and value(p):
            curves.setdefault(p.contestant, []).append((series.at(p.size), value(p)))
    return {name: sorted(curve) for name, curve in curves.items()}


def picture(everything: list, points: list) -> str:
    shown = [s for s in everything if lines_of(s, points, seconds)]
    time = [("time", s.title, "s", lines_of(s, points, seconds)) for s in shown]
    memory = [("memory", s.title, "GB", lines_of(s, points, gigabytes)) for s in shown]
    # Not every system says how much memory a program took.
    return draw([row for row in (time, memory) if row and all(lines for *_, lines in row)])


def seconds(point):
    return point.seconds


def gigabytes(point):
    return point.peak and point.peak / 1e9


def page(everything: list, points: list, about: str) -> str:
    """The exponents as Markdown, and what failed."""
    text = ["# How time and memory grow", "", about, "", "![curves](growth.svg)", ""]
    text += [
        "Exponents p of c · sizeᵖ, by least squares on the logarithms of all points of a series; every point is in "
        "[growth.csv](growth.csv).",
        "",
    ]
    text += ["| size | from | to | contestant | time | memory |", "|---|--:|--:|---|--:|--:|"]
    for series in everything:
        times, memories = (lines_of(series, points, value) for value in (seconds, gigabytes))
        for name, curve in times.items():
            cells = [series.title, f"{curve[0][0]:,}", f"{curve[-1][0]:,}", name]
            cells += [shown(exponent(c)) for c in (curve, memories.get(name, []))]
            text.append(f"| {' | '.join(cells)} |")
    failed = [p for p in points if p.failure]
    text += [""] * bool(failed)
    text += [f"- {p.contestant} at {p.size.nodes:,} nodes, {p.size.features} features: {p.failure}" for p in failed]
    return "\n".join(text) + "\n"


def shown(number) -> str:
    return "" if number is None else f"{number:.2f}".replace("-", "−")
