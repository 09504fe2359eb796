"""Learning on graphs without gradient training: classes, label sets or values of nodes.

Features are filtered over the graph by a polynomial of the normalised adjacency (SGC, SSGC, DGC), and kernel ridge
regression on the result is solved in closed form, with its penalty chosen by exact leave-one-out. Unless a model is asked for,
whatever could say something about the nodes is solved so, and added up by how well it predicts nodes it has not seen.

>>> from gfgcn import GradientFreeClassifier, datasets
>>> cora = datasets.load("cora")
>>> model = GradientFreeClassifier().fit(cora.X, cora.y_train, adjacency=cora.adjacency)
>>> predicted = model.predict()
>>> predicted.shape
(2708,)
"""

from . import datasets
from ._classifier import GradientFreeClassifier
from ._devices import devices
from ._evaluate import evaluate
from ._explanation import Explanation
from ._filter import GraphFilter
from ._gfgcn import __version__
from ._graph import Graph
from ._inputs import GraphWarning
from ._on_graph import MaskSplit, OnGraph
from ._regressor import GradientFreeRegressor
from ._results import Results
from ._tune import Tuned, tune

__all__ = [
    "Explanation",
    "GradientFreeClassifier",
    "GradientFreeRegressor",
    "Graph",
    "GraphFilter",
    "GraphWarning",
    "MaskSplit",
    "OnGraph",
    "Results",
    "Tuned",
    "__version__",
    "datasets",
    "devices",
    "evaluate",
    "tune",
]
