"""A table of results: a list of rows that prints itself."""

from __future__ import annotations

import html
from typing import Any, Iterable


# Rows that are shown; all of them are there.
_SHOWN = 20


class Results(list):  # type: ignore[type-arg]
    """Rows as dicts; ``pandas.DataFrame(results)`` is a data frame of them.

    >>> from gfgcn import Results
    >>> Results([{"model": "gfSGC", "accuracy": 81.25}, {"model": "gfDGC", "accuracy": 83.5}])
    model  accuracy
    gfSGC     81.25
    gfDGC      83.5
    """

    def __init__(self, rows: Iterable[dict[str, Any]] = (), hidden: Iterable[str] = ()) -> None:
        super().__init__(rows)
        self._hidden = frozenset(hidden)

    @property
    def columns(self) -> list[str]:
        """The names of the columns that are shown, in the order in which rows first have them."""
        names = dict.fromkeys(name for row in self for name in row)
        return [name for name in names if name not in self._hidden]

    def _cells(self) -> list[list[str]]:
        return [[_shown(row.get(name)) for name in self.columns] for row in self[:_SHOWN]]

    def _rest(self) -> str:
        return f"… and {len(self) - _SHOWN} more" if len(self) > _SHOWN else ""

    def __repr__(self) -> str:
        if not self:
            return "no results"
        cells = [self.columns, *self._cells()]
        widths = [max(len(row[k]) for row in cells) for k in range(len(self.columns))]
        lines = []
        for row in cells:
            first, *others = zip(row, widths)
            words = [first[0].ljust(first[1]), *(word.rjust(width) for word, width in others)]
            lines.append("  ".join(words).rstrip())
        return "\n".join([*lines, self._rest()]).rstrip()

    def _repr_html_(self) -> str:
        def row(cells: list[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(row(cells, "td") for cells in self._cells())
        table = f"<table><thead>{row(self.columns, 'th')}</thead><tbody>{body}</tbody></table>"
        return f"{table}<p>{self._rest()}</p>" if self._rest() else table


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
