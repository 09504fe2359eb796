"""The graphs of docs/any-graph.md, how each is divided, and what was published about it."""

from __future__ import annotations

from dataclasses import dataclass, field

OFFICIAL = ["--official-splits"]
PAPER = ["--splits", "20"]


@dataclass(frozen=True)
class Graph:
    name: str
    """An archive or a folder of this name in the data folder, or one that comes with gfgcn."""
    title: str
    options: list[str]
    protocol: str
    metric: str = "accuracy"
    features: bool = True
    linear: str = ""
    """Published figures of linear and training-free methods."""
    networks: str = ""
    """Published figures of networks."""


@dataclass(frozen=True)
class Section:
    title: str
    text: str
    graphs: list[Graph] = field(default_factory=list)


def metric(name: str) -> list[str]:
    return ["--metric", name]


SECTIONS = [
    Section(
        "Heterophily: neighbours differ",
        "Ten official splits each, trained on the training part alone. Chameleon contains duplicate pages; its filtered version does\n"
        "not.",
        [
            Graph("texas", "Texas", OFFICIAL, "10 official", linear="HLP 87.6 [1], ASGC 85.1 [2], GOBLIN 78.4 [3]", networks="FSGNN 87.3 [4]"),
            Graph("cornell", "Cornell", OFFICIAL, "10 official", linear="HLP 84.1 [1], GOBLIN 67.6 [3]", networks="FSGNN 88.1 [4]"),
            Graph("wisconsin", "Wisconsin", OFFICIAL, "10 official", linear="HLP 86.7 [1], GOBLIN 82.4 [3]", networks="FSGNN 88.4 [4]"),
            Graph(
                "chameleon_directed",
                "Chameleon, directed",
                [*OFFICIAL, "--directed"],
                "10 official",
                linear="HLP 77.5 [1], ASGC 73.2 [2], GOBLIN 67.4 [3]",
                networks="FSGNN 78.5 [4]",
            ),
            Graph("chameleon_filtered", "Chameleon, filtered", OFFICIAL, "10 official", networks="tuned GCN 46.3 [5]"),
            Graph("chameleon_filtered_directed", "Chameleon, filtered, directed", [*OFFICIAL, "--directed"], "10 official"),
            Graph("actor", "Actor", OFFICIAL, "10 official", linear="ASGC 36.3 [2], HLP 34.6 [1], GOBLIN 25.4 [3]", networks="FSGNN 37.8 [4]"),
            Graph(
                "minesweeper",
                "Minesweeper",
                [*OFFICIAL, *metric("auc")],
                "10 official",
                metric="ROC AUC",
                networks="GCN 89.8, GAT-sep 93.9 [6], tuned GCN 97.9 [5]",
            ),
        ],
    ),
    Section(
        "Homophily: neighbours resemble each other",
        "The paper's protocol: the largest component, 20 random splits of each class into 1:1:8. Published results for these graphs\n"
        "were measured on other splits, so they are not listed.",
        [
            Graph("cora", "Cora", PAPER, "20 of 1:1:8"),
            Graph("citeseer", "Citeseer", PAPER, "20 of 1:1:8"),
            Graph("pubmed", "PubMed", PAPER, "20 of 1:1:8"),
            Graph("cora_ml", "Cora-ML", PAPER, "20 of 1:1:8"),
            Graph("amazon_computers", "Amazon Computers", PAPER, "20 of 1:1:8"),
            Graph("coauthor_physics", "Coauthor Physics", PAPER, "20 of 1:1:8"),
        ],
    ),
    Section(
        "The public split",
        "20 training nodes per class; the validation part is not used. With a single split there is no standard error.",
        [
            Graph("cora", "Cora", ["--public-split"], "public", linear="GraphAny 79.4 [7]", networks="GCN 81.5 [8]"),
            Graph("citeseer", "Citeseer", ["--public-split"], "public", linear="GraphAny 68.4 [7]", networks="GCN 70.3 [8]"),
            Graph("pubmed", "PubMed", ["--public-split"], "public", networks="GCN 79.0 [8]"),
        ],
    ),
    Section(
        "No features, label sets, values",
        "Airports are classified by how busy they are, and bloggers by the groups they belong to (as many labels are predicted as a\n"
        "blogger has). For counties, the margin of an election is predicted.",
        [
            Graph(
                "airports_brazil",
                "Airports of Brazil",
                ["--ratio", "8:0:2", "--splits", "10"],
                "10 of 8:0:2",
                features=False,
                linear="struc2vec, about 75 to 78 [9]",
            ),
            Graph(
                "airports_europe",
                "Airports of Europe",
                ["--ratio", "8:0:2", "--splits", "10"],
                "10 of 8:0:2",
                features=False,
                linear="struc2vec, about 57 to 58 [9]",
            ),
            Graph(
                "blogcatalog_multilabel",
                "BlogCatalog",
                ["--ratio", "1:0:9", "--splits", "10", *metric("micro-f1")],
                "10 of 1:0:9",
                metric="micro-F1",
                features=False,
                linear="DeepWalk 36.0 [10]",
            ),
            Graph(
                "blogcatalog_multilabel",
                "BlogCatalog",
                ["--ratio", "1:0:9", "--splits", "10", *metric("macro-f1")],
                "10 of 1:0:9",
                metric="macro-F1",
                features=False,
                linear="DeepWalk 21.3 [10]",
            ),
            Graph("county_2012_election", "County election", ["--ratio", "3:0:7", "--splits", "5"], "5 of 3:0:7", metric="R²"),
        ],
    ),
]

SOURCES = [
    "leaderboards and paper page of arXiv 2106.12807",
    "the notebook of ASGC's authors",
    "result files in GOBLIN's repository",
    "README of FSGNN",
    "*Classic GNNs are Strong Baselines*, arXiv 2406.08993",
    "`notebooks/results.ipynb` of yandex-research/heterophilous-graphs",
    "README of DeepGraphLearning/GraphAny",
    "*Semi-Supervised Classification with Graph Convolutional Networks*, arXiv 1609.02907",
    "*struc2vec*, arXiv 1704.03165; approximate, read from a figure",
    "*DeepWalk*, arXiv 1403.6652",
]
