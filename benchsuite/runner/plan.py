"""What is run: tasks, data, contestants, and what is claimed."""

from __future__ import annotations

from dataclasses import dataclass, field

from .verdict import Bound, dense_blocks_beyond_graph, share_of_copy_bandwidth

TASKS = {
    "product": "one product Â·X with dense float32 features",
    "train": "from filtered training features (SGC, K = 2) to weights, λ given",
    "loo": "the same, λ by exact leave-one-out over 25 values",
    "deep": "K = 128, from loaded data to predictions for all nodes",
    "whole": "one split, from loaded data to predictions for all nodes: SSGC, K = 8, λ by leave-one-out",
    "tune": "one split, from loaded data to predictions for all nodes: everything chosen by the search",
    "sweep": "3 filters × 7 depths × 20 splits, 25 λ each by leave-one-out, or on the validation nodes",
    "binding": "from arrays in memory to predictions for all nodes: called from Python, and from Rust",
    "epoch": "one epoch of training a network with K = 2 by gradient descent",
    "relearn": "one label forgotten or added, λ by leave-one-out: by the kept training, and by training anew",
    "near": "one node predicted on a loaded graph: by what is around it, and by predicting all",
    "scale": "one product on 1 M nodes, 25 M edges, 128 columns",
}


# What FLAML may take for its search, besides preparing the features.
AUTOML_SECONDS = 60


@dataclass
class Data:
    """A graph as the contestants are to see it."""

    name: str
    largest_component: bool = False
    columns: int | None = None
    splits: bool = False

    @property
    def key(self) -> str:
        parts = [self.name]
        parts += ["component"] if self.largest_component else []
        parts += [str(self.columns)] if self.columns else []
        return "-".join(parts)


@dataclass
class Peer:
    """A script of ours, or with none the engine itself with other arguments."""

    name: str
    script: str | None
    arguments: tuple = ()
    target: float | None = None
    limit: float | None = None
    must_agree: bool = True


@dataclass
class Case:
    """One task on one graph: gfgcn and its peers, all with the same arguments, and some of gfgcn's own."""

    task: str
    data: Data
    peers: list
    arguments: tuple = ()
    variant: str = ""
    bounds: list = field(default_factory=list)
    quick: bool = True
    own: tuple = ()

    @property
    def title(self) -> str:
        return " ".join(filter(None, [self.task, self.data.name, self.variant]))


def cases(literal_limit: float) -> list:
    """Every case; the literal scripts of the sweep are cut where they pass `literal_limit` seconds."""
    everything = []
    for data, quick in [
        (Data("cora"), True),
        (Data("citeseer"), True),
        (Data("pubmed"), True),
        (Data("coauthor-physics", columns=512), False),
    ]:
        symmetric = ("--normalization", "sym")
        everything.append(Case("product", data, products(3, 2), symmetric, quick=quick))

    pubmed = Data("pubmed", largest_component=True, splits=True)
    everything.append(
        Case(
            "train",
            pubmed,
            [
                scipy_training("dual", "float64", target=8),
                Peer("PyTorch, Adam, 200 epochs", "train_torch.py", target=20, must_agree=False),
                scipy_training("primal", "float64", target=1),
                scipy_training("dual", "float32"),
                scipy_training("primal", "float32", target=1),
            ],
            # Near what leave-one-out chooses there.
            arguments=("--lambda", "10"),
        )
    )
    sklearn = Peer("scikit-learn RidgeClassifierCV", "loo_sklearn.py", target=20)
    everything.append(Case("loo", pubmed, [sklearn]))

    citeseer = Data("citeseer", largest_component=True, splits=True)
    for name, layer in [("SGC", "SGConv"), ("SSGC", "SSGConv")]:
        claimed = name == "SGC"
        everything.append(
            Case(
                "deep",
                citeseer,
                [
                    Peer("SciPy + NumPy", "deep_scipy.py", target=20 if claimed else None),
                    Peer(
                        f"PyTorch Geometric {layer}, Adam, 200 epochs",
                        "deep_pyg.py",
                        target=150 if claimed else None,
                        must_agree=False,
                    ),
                ]
                + [Peer("scikit-network GCN", "deep_sknetwork.py", must_agree=False)] * claimed,
                arguments=("--filter", name.lower(), "--depth", "128"),
                variant=name,
                quick=claimed,
            )
        )

    for name in ["cora", "citeseer", "pubmed"]:
        data = Data(name, largest_component=True, splits=True)
        peers = [
            sweep("literal", "the paper's formulas", literal_limit, target=30),
            sweep("shared", "shared hops, smaller side", literal_limit, target=5),
            sweep("eigen", "shared hops, eigendecomposition", literal_limit, target=6),
        ]
        everything.append(Case("sweep", data, peers, quick=name == "cora"))
        # As the scripts choose λ; for comparison, without a claim.
        own, variant = ("--validation",), "λ on the validation nodes"
        eigen = sweep("eigen", "shared hops, eigendecomposition", literal_limit)
        everything.append(Case("sweep", data, [eigen], own=own, variant=variant, quick=False))

    for name in ["cora", "citeseer", "pubmed"]:
        data = Data(name, largest_component=True, splits=True)
        quick = name == "cora"
        gcn = [
            Peer(f"PyTorch Geometric GCN, 200 epochs{words}", "whole_pyg.py", ("--features", features), must_agree=False)
            for words, features in [("", "dense"), (", sparse features", "sparse")]
        ]
        everything.append(Case("whole", data, gcn, quick=quick))
        automl = Peer(f"FLAML on Â²X, {AUTOML_SECONDS} s", "tune_flaml.py", ("--seconds", str(AUTOML_SECONDS)), must_agree=False)
        everything.append(Case("tune", data, [automl, *gcn], quick=quick))

    package = Peer("gfgcn, the Python package", "binding_gfgcn.py", limit=1.05)
    everything.append(Case("binding", pubmed, [package]))

    for name in ["cora", "pubmed"]:
        data = Data(name, largest_component=True, splits=True)
        for model, target in [("gcn", 10), ("gat", 8 if name == "cora" else 6)]:
            everything.append(
                Case(
                    "epoch",
                    data,
                    [
                        pyg_epochs("PyTorch Geometric", "dense", target),
                        pyg_epochs("PyTorch Geometric, sparse features", "sparse", target),
                    ],
                    arguments=("--model", model),
                    variant=model.upper(),
                    quick=name == "cora",
                )
            )

    # Where little is propagated, solving is most of the work, and that is done either way.
    for data, depth, target, quick in [(pubmed, 8, None, True), (Data("synthetic"), 8, 10, False)]:
        anew = Peer("gfgcn, from scratch", None, ("--from-scratch",), target=target)
        for variant, arguments in [("one label less", ()), ("one label more", ("--more",))]:
            arguments = ("--depth", str(depth), *arguments)
            everything.append(Case("relearn", data, [anew], arguments, variant, quick=quick))
    # Two steps around a node: eight reach everything where nodes have fifty neighbours.
    everyone = Peer("gfgcn, all nodes", None, ("--all",))
    within = Bound("seconds", lambda line: line.best, at_most=0.05)
    everything.append(
        Case("near", Data("synthetic"), [everyone], ("--depth", "2"), "K = 2", [within], quick=False)
    )

    bounds = [
        Bound("share of the copy bandwidth", share_of_copy_bandwidth, at_least=0.6),
        Bound("dense blocks of memory beyond the graph", dense_blocks_beyond_graph, at_most=2.2),
    ]
    # By the random walk, which is what gfgcn's propagation multiplies by whatever the normalisation:
    # the degrees are applied once before and once after.
    synthetic, walk = Data("synthetic"), ("--normalization", "row")
    everything.append(
        Case("scale", synthetic, products(None, None), walk, bounds=bounds, quick=False)
    )
    # As the engine does for propagations of many products; peers keep the nodes as they come.
    everything.append(
        Case("scale", synthetic, [], ("--renumbered", *walk), "renumbered", bounds, quick=False)
    )
    return everything


def products(scipy, torch) -> list:
    return [
        Peer("SciPy CSR", "product_scipy.py", target=scipy),
        Peer("PyTorch CSR", "product_torch.py", target=torch),
    ]


def scipy_training(form, precision, target=None) -> Peer:
    arguments = ("--form", form, "--precision", precision)
    return Peer(f"SciPy, {form}, {precision}", "train_scipy.py", arguments, target)


def sweep(script, words, limit, target=None) -> Peer:
    arguments = ("--script", script, "--limit", str(limit))
    return Peer(f"SciPy + NumPy, {words}", "sweep_scipy.py", arguments, target)


def pyg_epochs(name, features, target) -> Peer:
    return Peer(name, "epoch_pyg.py", ("--features", features), target=target)
