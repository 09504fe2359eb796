"""A graph that is understood, checked and converted once, to be used many times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._gfgcn import Graph as Engine
from ._settings import Workers, flag, whole
from ._store import Store

if TYPE_CHECKING:
    from ._inputs.graphs import Edges


class Graph:
    """A graph, checked once: estimators, ``GraphFilter``, ``tune``, ``evaluate`` and the rest take it as ``adjacency`` without looking at it again.

    Plain matrices and lists of edges are checked, sorted and made symmetric in every call that they are passed to. On a large graph
    with many calls that is a good part of the time; a ``Graph`` has it behind it. It cannot be changed, can be pickled, and what uses
    it shares it.

    Parameters
    ----------
    adjacency : whatever estimators take as a graph
        A SciPy matrix, an array, an ``edge_index`` perhaps with weights, a networkx graph, a table of edges, a dict of these by
        relation; or what has a graph: a dataset of ``gfgcn.datasets``, PyTorch Geometric's ``Data`` and ``HeteroData``, a store.
    directed : bool, optional
        Whether edges have a direction. Where nobody says so, networkx and datasets know; all others are undirected.
    nodes : int or list, optional
        How many nodes there are, which a list of edges does not say, or what they are called, in the order of the rows of X.

    Examples
    --------
    >>> import numpy as np
    >>> from gfgcn import GradientFreeClassifier, Graph, datasets
    >>> cora = datasets.load("cora")
    >>> graph = Graph(cora.adjacency)
    >>> graph
    <Graph: 2708 nodes, 5278 edges>
    >>> models = [GradientFreeClassifier("sgc", depth=k).fit(cora.X, cora.y_train, adjacency=graph) for k in (2, 4)]
    """

    __slots__ = ("_directed", "_engine", "_nodes", "__weakref__")
    _directed: bool
    _engine: Engine
    _nodes: list[Any] | None

    def __init__(self, adjacency: Any, *, directed: bool | None = None, nodes: Any = None) -> None:
        directed = None if directed is None else flag("directed", directed)
        if isinstance(adjacency, Graph):
            raise TypeError("this is a Graph already, and cannot be changed; use it as it is")
        names = list(nodes) if hasattr(nodes, "__iter__") and not isinstance(nodes, str) else None
        count = None if nodes is None else whole("nodes", nodes) if names is None else len(names)
        if isinstance(adjacency, Store):
            if directed not in (None, adjacency.directed):
                raise ValueError(f"directed is {directed}, but the store has its edges the other way")
            self._become(Engine.of(adjacency.engine), adjacency.directed, names)
        else:
            found = _understood(adjacency, count, directed, names)
            rows = found.rows if count is None else count
            if rows is None:
                raise ValueError("a list of edges does not say how many nodes there are; pass nodes, their number or their names")
            self._become(found.built(rows, Workers.of(None, "cpu"), directed is None), found.directed, found.nodes or names)
        if count is not None and count != self.n_nodes:
            raise ValueError(f"the graph has {self.n_nodes} nodes, but nodes says {count}")

    def _become(self, engine: Engine, directed: bool, nodes: list[Any] | None) -> None:
        for name, value in (("_engine", engine), ("_directed", directed), ("_nodes", nodes)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Graph cannot be changed, so its {name} cannot be set; make another one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Graph cannot be changed, so its {name} cannot be deleted")

    @property
    def n_nodes(self) -> int:
        """How many nodes there are."""
        return self._engine.nodes

    @property
    def n_edges(self) -> int:
        """How many pairs of nodes are linked, whatever the direction; an edge in several relations counts once."""
        return self._engine.edges

    @property
    def directed(self) -> bool:
        """Whether edges have a direction."""
        return self._directed

    @property
    def relations(self) -> list[str]:
        """The names of the kinds of edges, where there are several."""
        return self._engine.relation_names

    @property
    def nodes(self) -> list[Any] | None:
        """What the nodes are called, if they have names."""
        return None if self._nodes is None else list(self._nodes)

    @property
    def shape(self) -> tuple[int, int]:
        """That of its adjacency matrix."""
        return self.n_nodes, self.n_nodes

    def __len__(self) -> int:
        return self.n_nodes

    def __repr__(self) -> str:
        kinds = f", relations {', '.join(self.relations)}" if self.relations else ""
        return f"<Graph: {self.n_nodes} nodes, {self.n_edges} edges{', directed' if self.directed else ''}{kinds}>"

    def __copy__(self) -> Graph:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        kinds: list[tuple[str | None, Any]] = [*self._engine.relations()] or [(None, self._engine.adjacency())]
        parts = [
            {"name": name, "as_matrix": True, "rows": rows, "columns": columns, "weights": weights}
            for name, (rows, columns, weights) in kinds
        ]
        return _restored, (parts, self._directed, self.n_nodes, self._nodes)


def _restored(parts: list[dict[str, Any]], directed: bool, count: int, nodes: list[Any] | None) -> Graph:
    graph = Graph.__new__(Graph)
    graph._become(Engine.build(parts, directed, count), directed, nodes)
    return graph


def _understood(adjacency: Any, count: int | None, directed: bool | None, names: list[Any] | None) -> Edges:
    """A graph, or that of what has one."""
    from ._inputs import unpack
    from ._inputs.graphs import Edges, edges, in_order

    if adjacency is None:
        raise ValueError("there is no graph: adjacency is None")
    given = unpack(adjacency, None, None, directed)
    if given.adjacency is not None:
        adjacency, directed = given.adjacency, given.directed
        if count is None and given.X is not None:
            count = int(given.X.shape[0])
        count = given.rows if count is None else count
    found = edges(in_order(adjacency, names), count, directed, names)
    return found if found.rows is not None or count is None else Edges(found.parts, found.nodes, found.directed, count)
