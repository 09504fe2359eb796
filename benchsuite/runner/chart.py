"""The ratios of a run as a picture: plain SVG, on a logarithmic scale, for light and dark pages."""

from __future__ import annotations

from html import escape
from math import ceil, floor, log10

ROW, GAP, LEFT, WIDTH, RIGHT, TOP = 20, 14, 350, 420, 70, 44

STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #333 }
  .title { font-weight: 600 } .small { fill: #666 }
  .grid { stroke: #ddd } .one { stroke: #888 } .bar { fill: #2a78b8 } .slower { fill: #b0602a }
  .target { stroke: #c22; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .small { fill: #aaa } .grid { stroke: #444 } .one { stroke: #999 }
    .bar { fill: #5aa9e6 } .slower { fill: #e09a5a } .target { stroke: #ff6b6b }
  }
"""


def draw(bars: list) -> str:
    """`bars`: (title of the case, contestant, ratio to gfgcn, claimed ratio or None)."""
    numbers = [n for _, _, ratio, target in bars for n in (ratio, target) if n]
    low = min([0, *(floor(log10(n)) for n in numbers)])
    high = max([1, *(ceil(log10(n)) for n in numbers)])

    def x(value):
        return LEFT + WIDTH * (log10(value) - low) / (high - low)

    body, y, previous = [], TOP, None
    for title, name, ratio, target in bars:
        if title != previous:
            y += GAP
            body.append(text(8, y, title, "title"))
            y += ROW
            previous = title
        start, end = sorted((x(1), x(ratio)))
        kind = "bar" if ratio >= 1 else "slower"
        body.append(text(LEFT - 8, y, name, anchor="end"))
        body.append(
            f'<rect class="{kind}" x="{start:.1f}" y="{y - 11}" width="{end - start:.1f}" height="14"/>'
        )
        # Beyond the mark of the claim, which it would cover.
        body.append(text(max(end, x(1), x(target or 1)) + 5, y, times(ratio)))
        if target:
            body.append(line(x(target), y - 13, y + 5, "target"))
        y += ROW
    grid = []
    for power in range(low, high + 1):
        grid.append(line(x(10.0**power), TOP, y - 8, "one" if power == 0 else "grid"))
        grid.append(text(x(10.0**power), TOP - 6, f"{10.0**power:g}×", "small", "middle"))
    heading = "How many times gfgcn's time the others take; red marks what is claimed"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + RIGHT} {y + 8}" '
            f'width="{LEFT + WIDTH + RIGHT}" role="img" aria-label="{escape(heading)}">',
            f"<style>{STYLE}</style>",
            text(8, 18, heading, "title"),
            *grid,
            *body,
            "</svg>\n",
        ]
    )


def times(ratio) -> str:
    """With three digits that count; whole numbers from a thousand on."""
    return f"{ratio:.0f}×" if ratio >= 1000 else f"{ratio:.3g}×"


def text(x, y, words, kind="", anchor="start") -> str:
    return f'<text x="{x:.1f}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def line(x, top, bottom, kind) -> str:
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}" class="{kind}"/>'
