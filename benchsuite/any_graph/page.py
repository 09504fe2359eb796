"""The page about all graphs, from what was measured."""

from __future__ import annotations

import math
import statistics

from .graphs import SECTIONS, SOURCES
from .measure import Measured

HEAD = """# Any graph

What `gfgcn fit` does without options (`auto`), beside the paper's default (gfSSGC at depth 8) and ridge regression on a node's own
features, which ignores the graph. Each split is searched and fitted anew on its training part alone; test nodes have no part in any choice.
"Gain" is by how much `auto` is better than the better of the two, with the standard error of the paired difference over the splits.

Made by `python3 benchsuite/any_graph --data FOLDER` ({date}, commit {commit}, {processor}, {threads} threads). Published figures were measured by
others, tuned by others, and trained networks choose by the validation part; numbers in brackets are sources.
"""


def page(found: dict[int, list[Measured | str]], about: dict) -> str:
    """`found` has the results of each section, in its order; what is missing is said."""
    parts = [HEAD.format(**about)]
    for number, section in enumerate(SECTIONS):
        results = found.get(number, [])
        parts.append(f"## {section.title}\n\n{section.text}\n")
        measured = [result for result in results if isinstance(result, Measured)]
        parts.append(table(measured) if measured else "Not measured.\n")
        missing = zip(section.graphs, results)
        notes = [f"- {graph.title} is not here: {why}." for graph, why in missing if isinstance(why, str)]
        parts.extend(["\n".join(notes) + "\n"] if notes else [])
    parts.append(lost(found))
    sources = [f"{number}. {source}." for number, source in enumerate(SOURCES, 1)]
    parts.append("## Sources\n\n" + "\n".join(sources) + "\n")
    return "\n".join(parts)


def table(results: list[Measured]) -> str:
    rows = [
        ["graph", "splits", "metric", "default", "features", "auto", "gain", "linear and training-free", "networks"],
        ["---"] * 9,
    ]
    rows += [line(result) for result in results]
    # A column that says nothing is left out.
    used = [k for k in range(9) if any(row[k] for row in rows[2:])]
    return "\n".join("| " + " | ".join(row[k] for k in used) + " |" for row in rows) + "\n"


def line(result: Measured) -> list[str]:
    graph = result.graph
    digits = 3 if graph.metric == "R²" else 1
    cells = [shown(result.scores(model), digits) for model in ("gfSSGC", "features")]
    difference = gain(result)
    return [
        graph.title,
        graph.protocol,
        graph.metric,
        *cells,
        f"**{shown(result.scores('auto'), digits)}**",
        "" if difference is None else spread(*difference, digits, sign="+"),
        graph.linear,
        graph.networks,
    ]


def gain(result: Measured) -> tuple[float, float | None] | None:
    """By how much `auto` is better than the better of the default and ridge on features, and its standard error."""
    own = result.scores("auto")
    others = [scores for scores in (result.scores("gfSSGC"), result.scores("features")) if scores]
    if own is None or not others:
        return None
    better = max(others, key=statistics.fmean)
    # The last bits of a percentage are rounding.
    return mean_and_error([round(a - b, 9) for a, b in zip(own, better)])


def lost(found: dict[int, list[Measured | str]]) -> str:
    """Where `auto` is worse beyond chance, in words."""
    results = [result for results in found.values() for result in results if isinstance(result, Measured)]
    gains = [(result, gain(result)) for result in results]
    worse = [
        f"{result.graph.title} ({result.graph.protocol})"
        for result, difference in gains
        if difference is not None and difference[1] is not None and difference[0] < -difference[1]
    ]
    compared = sum(difference is not None for _, difference in gains)
    if worse:
        verdict = f"`auto` is worse than the better of the two by more than one standard error on: {', '.join(worse)}."
    else:
        verdict = f"On none of {compared} is `auto` worse than the better of the two by more than one standard error."
    return f"## Where it loses\n\n{verdict}\n{LOST}"


LOST = """
Against published figures: tuned networks are ahead on Cornell, on filtered Chameleon, on Actor and on Minesweeper, where
depth and non-linearity pay; HLP, which is linear, is ahead on Texas and Cornell. Everything here was fitted in closed form, with nothing tuned by hand and
no validation part.
"""


def mean_and_error(values: list[float]) -> tuple[float, float | None]:
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
    return statistics.fmean(values), error


def shown(scores: list[float] | None, digits: int) -> str:
    return "" if scores is None else spread(*mean_and_error(scores), digits)


def spread(mean: float, error: float | None, digits: int, sign: str = "") -> str:
    text = f"{mean:{sign}.{digits}f}"
    if float(text) == 0:
        text = f"{0:.{digits}f}"
    return text if error is None else f"{text} ± {error:.{digits}f}"
