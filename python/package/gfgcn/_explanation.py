"""Why a score is what it is: sums, as tables."""

from __future__ import annotations

import html
from typing import Any, Callable

from ._results import Results

_TITLES = {
    "channels": "By channel",
    "features": "By feature, of the node and its surroundings",
    "nodes": "By node of the graph",
    "labelled": "By labelled node",
}
_DEGREES = ["how many neighbours there are, or edges start here", "how many edges end here"]


class Explanation:
    """A score taken apart in several ways, each of which adds up to it with the constant.

    Attributes
    ----------
    node : the node, or the nodes whose mean score it is
    label : the class, label or column whose score it is
    score, constant : float
    probability : float, or None of values
    channels, features, nodes, labelled : Results with the columns ``name`` and ``term``, the largest terms first; ``labelled``
        is None unless the model was fitted with ``keep_training=True``; of a search it is known on the training graph
    """

    def __init__(
        self,
        why: dict[str, Any],
        node: Any,
        label: Any,
        feature: Callable[[int], Any],
        name: Callable[[int], Any],
        labelled: Callable[[int], Any],
    ) -> None:
        self.node, self.label = node, label
        self.score, self.constant, self.probability = why["score"], why["constant"], why["probability"]
        names: dict[str, Callable[[Any], Any]] = {
            "channel": lambda text: text,
            "feature": feature,
            "link": lambda k: f"links to {name(k)}",
            "degree": lambda k: _DEGREES[k],
            "node": name,
            "labelled": labelled,
        }
        for view in _TITLES:
            terms = why[view]
            rows = None if terms is None else [{"name": names[kind](k), "term": term} for kind, k, term in terms]
            setattr(self, view, None if rows is None else Results(rows))

    channels: Results
    features: Results
    nodes: Results
    labelled: Results | None

    def _head(self) -> str:
        sure = "" if self.probability is None else f", probability {100 * self.probability:.1f} %"
        return f"{self.node}: score {self.score:.4f} of {self.label}{sure}"

    def _lists(self, top: int = 10) -> list[tuple[str, list[tuple[str, float]]]]:
        """The first terms of every view, and what the others add up to."""
        lists = []
        for view, title in _TITLES.items():
            rows = getattr(self, view)
            if rows is None:
                continue
            lines = [(str(row["name"]), row["term"]) for row in rows[:top]]
            if len(rows) > top:
                lines.append((f"{len(rows) - top} others", sum(row["term"] for row in rows[top:])))
            if self.constant:
                lines.append(("constant", self.constant))
            lists.append((title, lines))
        return lists

    def __repr__(self) -> str:
        parts = [self._head()]
        for title, lines in self._lists():
            parts += ["", title, *(f"  {term:+9.4f}  {name}" for name, term in lines)]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        tables = []
        for title, lines in self._lists():
            largest = max((abs(term) for _, term in lines), default=0.0) or 1.0
            rows = "".join(_row(name, term, largest) for name, term in lines)
            tables.append(
                f"<div><strong>{html.escape(title)}</strong><table><tbody>{rows}</tbody></table></div>"
            )
        style = "display:flex;flex-wrap:wrap;gap:2em;align-items:flex-start"
        return f"<p>{html.escape(self._head())}</p><div style='{style}'>{''.join(tables)}</div>"


def _row(name: str, term: float, largest: float) -> str:
    width = 100 * abs(term) / largest
    colour = "#3b7dd8" if term >= 0 else "#d8683b"
    bar = f"<div style='width:{width:.0f}%;height:.8em;background:{colour}'></div>"
    return (
        f"<tr><td style='text-align:left'>{html.escape(name)}</td><td>{term:+.4f}</td>"
        f"<td style='width:6em'>{bar}</td></tr>"
    )
