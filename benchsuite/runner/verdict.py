"""From times to statements: ratios, whether results agree, whether targets are met."""

from __future__ import annotations

from dataclasses import dataclass

# How far results may lie apart: (relative, absolute). Products are sums in single precision in
# another order; λ chosen by leave-one-out and on validation nodes gives other models, whose
# accuracies on a thousand nodes differ by about a point.
TOLERANCES = {"norm": (1e-4, 0.0), "weights": (1e-3, 0.0), "accuracy": (0.0, 2.0)}


@dataclass
class Line:
    """What the summary says about one contestant of a case."""

    name: str
    best: float | None
    ratio: float | None = None
    target: float | None = None
    # yes, no, or empty where nothing is claimed or nothing can be said
    met: str = ""
    remark: str = ""


def judge(results) -> list:
    """One line per contestant, gfgcn first; the ratios are to the first."""
    ours = results[0]
    lines = []
    for result in results:
        line = Line(result.contestant.name, result.best, target=result.contestant.target)
        remarks = []
        if result.failure:
            remarks.append(result.failure)
        elif result is not ours and ours.best:
            line.ratio = result.best / ours.best
            difference = disagreement(ours, result)
            if difference and result.contestant.must_agree:
                remarks.append(f"disagrees: {difference}")
            elif line.target is not None:
                line.met = "yes" if line.ratio >= line.target else "no"
            elif result.contestant.limit is not None:
                line.met = "yes" if line.ratio <= result.contestant.limit else "no"
                remarks.append(f"{line.ratio:.3f} (claimed ≤ {result.contestant.limit:g})")
            if difference and not result.contestant.must_agree:
                remarks.append(f"not the same model: {difference}")
        if result.repetitions and result.repetitions[0].extrapolated:
            remarks.append(f"extrapolated from {result.repetitions[0].extrapolated}")
        line.remark = "; ".join(remarks)
        lines.append(line)
    return lines


def disagreement(ours, theirs) -> str | None:
    """How the results of two contestants differ, where by more than the tolerance."""
    mine, other = ours.repetitions[0].check, theirs.repetitions[0].check
    for key, (relative, absolute) in TOLERANCES.items():
        if key in mine and key in other:
            allowed = absolute + relative * abs(mine[key])
            # Written so that a NaN disagrees.
            if not abs(mine[key] - other[key]) <= allowed:
                return f"{key} {other[key]:.6g}, gfgcn {mine[key]:.6g}"
    return None


@dataclass
class Bound:
    """A claim about gfgcn alone, computed from its best time and its figures."""

    text: str
    value: callable
    at_least: float | None = None
    at_most: float | None = None

    def line(self, ours) -> Line:
        value = self.value(ours)
        met = (self.at_least is None or value >= self.at_least) and (
            self.at_most is None or value <= self.at_most
        )
        sign, bound = ("≥", self.at_least) if self.at_most is None else ("≤", self.at_most)
        remark = f"{value:.2f} (claimed {sign} {bound:g})"
        return Line(self.text, None, met="yes" if met else "no", remark=remark)


def floor(ours) -> Line | None:
    """The least time that the machine allows gfgcn, by limits that were measured in the same run."""
    floors = [r.floor for r in ours.repetitions if r.floor]
    if not floors:
        return None
    least = min(floors, key=lambda floor: floor["seconds"])
    line = Line("the machine's limit", least["seconds"], remark=", ".join(least["made_of"]))
    line.ratio = line.best / ours.best
    return line


def share_of_copy_bandwidth(ours) -> float:
    """The bytes of a product per second, as a share of what copying achieved in the same run."""
    figures = [r.figures for r in ours.repetitions]
    copy = max(f["copy_bytes_per_second"] for f in figures)
    return figures[0]["product_bytes"] / ours.best / copy


def dense_blocks_beyond_graph(ours) -> float:
    """The peak memory without the graph, in dense blocks of nodes × columns."""
    figures = [r.figures for r in ours.repetitions]
    return max((f["peak_bytes"] - f["graph_bytes"]) / f["dense_bytes"] for f in figures)
