"""What grows: one size at a time, from a graph in the middle."""

from __future__ import annotations

from dataclasses import dataclass, replace

# Neighbours of a node, on average.
DEGREE = 25
DEPTH = 4


@dataclass(frozen=True)
class Size:
    """A synthetic graph, and how many of its nodes are trained on by how many threads."""

    nodes: int = 100_000
    features: int = 64
    training: int = 1_000
    threads: int = 2

    @property
    def edges(self) -> int:
        return self.nodes * DEGREE // 2

    @property
    def graph(self) -> str:
        """A name for its file."""
        return f"growth-{self.nodes}-{self.features}"


@dataclass(frozen=True)
class Series:
    """Sizes that differ in one field."""

    field: str
    title: str
    sizes: tuple

    def at(self, size: Size) -> int:
        return getattr(size, self.field)


def series(largest: int) -> list:
    """Every series, with graphs of at most so many nodes."""
    middle = Size()

    def growing(field, title, values, **others):
        start = replace(middle, **others)
        return Series(field, title, tuple(replace(start, **{field: value}) for value in values))

    nodes = [10**power for power in range(4, 8) if 10**power <= largest]
    return [
        growing("nodes", f"nodes ({DEGREE} neighbours each)", nodes, features=16),
        growing("features", "features", [16, 64, 256, 1024]),
        growing("training", "training nodes", [250, 1_000, 4_000, 16_000], nodes=30_000, features=1024),
        growing("threads", "threads", [1, 2], nodes=min(largest, 10**6), features=16),
    ]
