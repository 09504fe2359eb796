"""Time and memory against each size, as one picture: plain SVG, logarithmic scales, for light and dark pages."""

from __future__ import annotations

from math import ceil, floor, log10

from runner.chart import text

WIDTH, HEIGHT, LEFT, TOP, GAP, BOTTOM = 250, 170, 64, 66, 84, 52

STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #333 }
  .title { font-weight: 600 } .small { fill: #666; font-size: 11px } .grid { stroke: #ddd }
  .line { fill: none; stroke-width: 2 }
  .c0 { stroke: #2a78b8; fill: #2a78b8 } .c1 { stroke: #b0602a; fill: #b0602a } .c2 { stroke: #5a8f3c; fill: #5a8f3c }
  .line.c0, .line.c1, .line.c2 { fill: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .small { fill: #aaa } .grid { stroke: #444 }
    .c0 { stroke: #5aa9e6; fill: #5aa9e6 } .c1 { stroke: #e09a5a; fill: #e09a5a } .c2 { stroke: #8fca6d; fill: #8fca6d }
  }
"""


def draw(panels: list) -> str:
    """`panels`: rows of (title, label of the x-axis, unit, {contestant: [(x, y), …]}), all rows of the same length."""
    if not panels:
        panels = [[]]
    names = list(dict.fromkeys(name for row in panels for *_, lines in row for name in lines))
    body = [text(12, 20, "How time and memory grow", "title")]
    for k, name in enumerate(names):
        x = 12 + 110 * k
        body.append(f'<line x1="{x}" x2="{x + 22}" y1="38" y2="38" class="line c{k}"/>')
        body.append(text(x + 28, 42, name))
    for i, row in enumerate(panels):
        for j, panel in enumerate(row):
            left, top = LEFT + j * (WIDTH + GAP), TOP + 22 + i * (HEIGHT + GAP)
            body += draw_panel(left, top, names, *panel)
    width = LEFT + max(1, len(panels[0])) * (WIDTH + GAP) - GAP + 24
    height = TOP + 22 + len(panels) * (HEIGHT + GAP) - GAP + BOTTOM
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" '
            'aria-label="Time and memory against the sizes of a problem">',
            f"<style>{STYLE}</style>",
            *body,
            "</svg>\n",
        ]
    )


def draw_panel(left, top, names, title, x_label, unit, lines) -> list:
    points = [point for line in lines.values() for point in line]
    x_low, x_high = span(x for x, _ in points)
    powers = [log10(y) for _, y in points]
    y_low, y_high = floor(min(powers)), max(ceil(max(powers)), floor(min(powers)) + 1)

    def x(value):
        return left + WIDTH * (log10(value) - x_low) / (x_high - x_low)

    def y(value):
        return top + HEIGHT * (y_high - log10(value)) / (y_high - y_low)

    out = [text(left, top - 10, title, "title")]
    for power in range(y_low, y_high + 1):
        at = y(10.0**power)
        out.append(f'<line x1="{left}" x2="{left + WIDTH}" y1="{at:.1f}" y2="{at:.1f}" class="grid"/>')
        out.append(text(left - 6, at + 4, f"{10.0**power:g} {unit}", "small", "end"))
    for value in sorted({x for x, _ in points}):
        out.append(text(x(value), top + HEIGHT + 16, short(value), "small", "middle"))
    out.append(text(left + WIDTH / 2, top + HEIGHT + 34, x_label, "small", "middle"))
    for name, line in lines.items():
        kind = f"c{names.index(name)}"
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in line)
        out.append(f'<polyline points="{path}" class="line {kind}"/>')
        out += [f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3" class="{kind}"/>' for a, b in line]
    return out


def span(values) -> tuple:
    """A range of powers of ten around some values, never empty."""
    powers = [log10(value) for value in values]
    low, high = min(powers), max(powers)
    return (low - 0.15, high + 0.15) if high > low else (low - 0.5, high + 0.5)


def short(value) -> str:
    for unit, size in [("M", 10**6), ("k", 10**3)]:
        if value >= size and value % size == 0:
            return f"{value // size} {unit}"
    return f"{value:g}"

