"""Writes the files under `layouts`, and what their reference readers make of them.

Every file is written by the program whose format it is (networkx, SciPy), or by pandas in the layout in which a collection
is published, and is then read again by networkx, SciPy or pandas: `expected.json` is what these say. Run it here with
networkx, pandas, SciPy and pyarrow installed: python make_layouts.py
"""

import gzip
import json
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp

HERE = Path(__file__).parent / "layouts"
EXPECTED = {}

EDGES = [("a", "b", 0.5), ("b", "c", 2.0), ("c", "a", 1.0), ("d", "a", 1.0), ("e", "f", 3.0), ("f", "d", 0.25)]
NODES = {
    "a": {"height": 1.5, "colour": "red", "class": "x"},
    "b": {"height": 2.5, "colour": "green", "class": "y"},
    "c": {"height": -1.0, "colour": "red", "class": "x"},
    "d": {"height": 0.0, "colour": "blue", "class": "y"},
    "e": {"colour": "green"},
    "f": {"height": 7.0, "class": "x"},
}


def path(name):
    (HERE / name).parent.mkdir(parents=True, exist_ok=True)
    return HERE / name


def encoded(frame):
    """Features of a frame by pandas: categories one by one, missing numbers by the mean, and marked."""
    columns = {}
    for name in frame.columns:
        column = frame[name]
        missing = column.isna()
        if pd.api.types.is_numeric_dtype(column):
            columns[name] = column.fillna(column.mean()).astype(float)
        else:
            dummies = pd.get_dummies(column.astype(str).where(~missing)).astype(float)
            columns.update({f"{name}={level}": dummies[level] for level in dummies.columns})
        if missing.any():
            columns[f"{name}:missing"] = missing.astype(float)
    return pd.DataFrame(columns, index=frame.index)


def expect(name, *, ids, edges, directed, features=None, labels=None, relations=None, splits=None):
    """`edges` as (source, target, weight); `features` a frame or a matrix by rows of `ids`."""
    if features is None:
        features = pd.DataFrame(index=ids)
    if not isinstance(features, pd.DataFrame):
        features = pd.DataFrame(np.asarray(features, float), index=ids)
    rows = {
        str(id): {str(column): float(value) for column, value in row.items() if value != 0}
        for id, row in features.iterrows()
    }
    EXPECTED[name] = {
        "ids": [str(id) for id in ids],
        "directed": directed,
        "edges": sorted([str(a), str(b), float(w)] for a, b, w in edges),
        "features": rows,
        "labels": {str(k): v for k, v in (labels or {}).items()},
        "relations": {k: sorted([str(a), str(b)] for a, b in v) for k, v in (relations or {}).items()},
        "splits": splits or [],
    }


def of_networkx(name, graph, label="class"):
    frame = pd.DataFrame.from_dict(dict(graph.nodes(data=True)), orient="index").loc[list(graph)]
    frame = frame.drop(columns=[c for c in ("label",) if c in frame and label != "label"])
    labels = frame.pop(label).dropna()
    edges = [(a, b, d.get("weight", 1.0)) for a, b, d in graph.edges(data=True)]
    expect(
        name, ids=list(graph), edges=edges, directed=graph.is_directed(), features=encoded(frame),
        labels={k: [str(v)] for k, v in labels.items()},
    )


def documents():
    for kind, of in ("undirected", nx.Graph), ("directed", nx.DiGraph):
        graph = of()
        graph.add_nodes_from((id, dict(data)) for id, data in NODES.items())
        graph.add_weighted_edges_from(EDGES)
        nx.write_graphml(graph, path(f"{kind}.graphml"))
        of_networkx(f"{kind}.graphml", nx.read_graphml(path(f"{kind}.graphml")))
        nx.write_gexf(graph, path(f"{kind}.gexf"))
        of_networkx(f"{kind}.gexf", nx.read_gexf(path(f"{kind}.gexf")))
        for key in "links", "edges":
            file = path(f"{kind}_{key}.json")
            file.write_text(json.dumps(nx.node_link_data(graph, edges=key), indent=1))
            of_networkx(file.name, nx.node_link_graph(json.loads(file.read_text()), edges=key))


def edge_lists():
    graph = nx.Graph()
    graph.add_weighted_edges_from((id, other, weight) for id, other, weight in EDGES)
    ids = sorted(graph)
    for name, delimiter in ("spaces.edges", " "), ("tabs.txt", "\t"), ("commas.csv", ","), ("semicolons.csv", ";"):
        lines = ["# a comment", "% another"] + [delimiter.join(map(str, edge)) for edge in EDGES]
        path(name).write_text("\n".join(lines) + "\n")
        lines = (line for line in path(name).read_text().splitlines() if not line.startswith("%"))
        read = nx.parse_edgelist(lines, comments="#", delimiter=delimiter, data=[("weight", float)])
        expect(name, ids=ids, edges=[(a, b, d["weight"]) for a, b, d in read.edges(data=True)], directed=False)
    pairs = np.array([[0, 1], [1, 2], [2, 0], [3, 0], [4, 5]])
    for name, array in ("rows.npy", pairs), ("columns.npy", pairs.T), ("small.npy", pairs.astype("u1")):
        np.save(path(name), array)
        read = np.load(path(name))
        read = read if read.shape[1] == 2 else read.T
        expect(name, ids=range(6), edges=[(a, b, 1.0) for a, b in read], directed=False)


def gzipped(file, frame):
    with gzip.GzipFile(path(file), "wb", mtime=0) as out:
        out.write(frame.to_csv(header=False, index=False).encode())


def ogb():
    random = np.random.default_rng(0)
    edges = pd.DataFrame([[0, 1], [1, 2], [3, 2], [4, 0], [4, 5]])
    features = pd.DataFrame(random.normal(size=(6, 3)).round(3))
    gzipped("ogbn_tiny/raw/edge.csv.gz", edges)
    gzipped("ogbn_tiny/raw/node-feat.csv.gz", features)
    gzipped("ogbn_tiny/raw/node-label.csv.gz", pd.DataFrame([0, 1, 0, 2, 1, 0]))
    gzipped("ogbn_tiny/raw/num-node-list.csv.gz", pd.DataFrame([6]))
    gzipped("ogbn_tiny/raw/num-edge-list.csv.gz", pd.DataFrame([5]))
    gzipped("ogbn_tiny/raw/node_year.csv.gz", pd.DataFrame([2010] * 6))
    parts = {"train": [0, 1, 3], "valid": [2], "test": [4, 5]}
    for part, nodes in parts.items():
        gzipped(f"ogbn_tiny/split/time/{part}.csv.gz", pd.DataFrame(nodes))
    read = lambda file: pd.read_csv(HERE / "ogbn_tiny" / file, header=None, compression="gzip")
    labels = read("raw/node-label.csv.gz")[0]
    expect(
        "ogbn_tiny", ids=range(6), edges=[(a, b, 1.0) for a, b in read("raw/edge.csv.gz").values], directed=False,
        features=read("raw/node-feat.csv.gz").astype(np.float32), labels={k: [str(v)] for k, v in labels.items()},
        splits=[[read(f"split/time/{part}.csv.gz")[0].tolist() for part in parts]],
    )
    sets = pd.DataFrame([[0, 1, 1], [1, 0, 0], [0, 0, 0], [1, 1, 1], [0, 0, 1], [0, 1, 0]])
    edges.to_csv(path("ogbn_sets/raw/edge.csv"), header=False, index=False)
    sets.to_csv(path("ogbn_sets/raw/node-label.csv"), header=False, index=False)
    expect(
        "ogbn_sets", ids=range(6), edges=[(a, b, 1.0) for a, b in edges.values], directed=False,
        labels={k: [str(c) for c in sets.columns[row == 1]] for k, row in sets.iterrows()},
    )


def musae():
    edges = pd.DataFrame({"id_1": [0, 1, 2, 4], "id_2": [1, 2, 3, 0]})
    lists = {"0": [3, 17], "1": [], "2": [17], "4": [5, 3, 20]}
    dense = pd.DataFrame(0.0, index=range(5), columns=[3, 5, 17, 20])
    for id, features in lists.items():
        dense.loc[int(id), features] = 1.0
    edges.to_csv(path("musae/musae_git_edges.csv"), index=False)
    path("musae/musae_git_features.json").write_text(json.dumps(lists))
    target = pd.DataFrame({"id": range(5), "name": [f"user, {k}" for k in range(5)], "ml_target": [0, 1, 0, 1, 1]})
    target.to_csv(path("musae/musae_git_target.csv"), index=False)
    read = pd.read_csv(path("musae/musae_git_target.csv"))
    plain = [(a, b, 1.0) for a, b in edges.values]
    labels = {id: [str(label)] for id, label in zip(read.id, read.ml_target)}
    expect("musae", ids=range(5), edges=plain, directed=False, features=dense, labels=labels)
    edges.set_axis(["from", "to"], axis=1).to_csv(path("twitch/musae_DE_edges.csv"), index=False)
    path("twitch/musae_DE_features.json").write_text(json.dumps(lists))
    target = pd.DataFrame(
        {"id": [900, 901, 902, 903, 904], "days": 7, "mature": [True, False, True, False, True], "views": 3,
         "partner": False, "new_id": [4, 3, 2, 1, 0]}
    )
    target.to_csv(path("twitch/musae_DE_target.csv"), index=False)
    labels = {id: [str(label)] for id, label in zip(target.new_id, target.mature)}
    expect("twitch", ids=range(5), edges=plain, directed=False, features=dense, labels=labels)
    edges.to_csv(path("karateclub/edges.csv"), index=False)
    entries = sp.coo_matrix(dense.values)
    pd.DataFrame(
        {"node_id": entries.row, "feature_id": dense.columns[entries.col], "value": entries.data}
    ).to_csv(path("karateclub/features.csv"), index=False)
    pd.DataFrame({"id": range(5), "target": [0, 1, 0, 1, 1]}).to_csv(path("karateclub/target.csv"), index=False)
    labels = {id: [str(label)] for id, label in enumerate([0, 1, 0, 1, 1])}
    expect("karateclub", ids=range(5), edges=plain, directed=False, features=dense, labels=labels)


def neo4j():
    people = pd.DataFrame({
        "personId:ID(Person)": [1, 2, 3], "age:int": [30, 40, None], "member:boolean": ["true", "false", "true"],
        ":LABEL": ["Person"] * 3,
    })
    people["age:int"] = people["age:int"].astype("Int64")
    films = pd.DataFrame({"filmId:ID(Film)": [1, 2], "genre": ["drama", "comedy"], ":LABEL": ["Film"] * 2})
    acted = pd.DataFrame({
        ":START_ID(Person)": [1, 2, 3, 3], "since:int": [2001, 2002, 2003, 2004], ":END_ID(Film)": [1, 1, 2, 1],
        ":TYPE": ["ACTED_IN", "ACTED_IN", "ACTED_IN", "DIRECTED"],
    })
    knows = pd.DataFrame({":START_ID(Person)": [1, 2], ":END_ID(Person)": [2, 3], ":TYPE": ["KNOWS"] * 2})
    for name, frame in ("people", people), ("films", films), ("acted", acted), ("knows", knows):
        frame.to_csv(path(f"neo4j/{name}.csv"), index=False)
    read = {name: pd.read_csv(HERE / f"neo4j/{name}.csv") for name in ("people", "films", "acted", "knows")}
    nodes = pd.concat([
        read["films"].set_axis("Film:" + read["films"].iloc[:, 0].astype(str)).iloc[:, 1:],
        read["people"].set_axis("Person:" + read["people"].iloc[:, 0].astype(str)).iloc[:, 1:],
    ])
    labels = nodes.pop(":LABEL")
    nodes = nodes.rename(columns=lambda name: name.split(":")[0])
    nodes["member"] = nodes["member"].astype(float)
    edges = [(f"Person:{a}", f"Film:{b}", kind) for a, b, kind in read["acted"].iloc[:, [0, 2, 3]].values]
    edges += [(f"Person:{a}", f"Person:{b}", kind) for a, b, kind in read["knows"].values]
    expect(
        "neo4j", ids=list(nodes.index), edges=[(a, b, 1.0) for a, b, _ in edges], directed=True, features=encoded(nodes),
        labels={k: [v] for k, v in labels.items()},
        relations={kind: [(a, b) for a, b, other in edges if other == kind] for _, _, kind in edges},
    )


def matlab():
    adjacency = sp.csc_matrix((np.ones(8), ([0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3])), shape=(5, 5))
    info = np.array(
        [[1, 1, 200, 0, 165, 2006, 7], [1, 2, 200, 0, 0, 2006, 9], [2, 0, 210, 5, 165, 2007, 7], [1, 2, 0, 0, 166, 0, 7],
         [2, 1, 210, 0, 165, 2008, 11]], dtype="int32",
    )
    group = sp.csc_matrix(np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=float))
    for compressed in False, True:
        end = "_compressed" if compressed else ""
        save = lambda name, arrays: scipy.io.savemat(path(f"{name}{end}.mat"), arrays, do_compression=compressed)
        save("facebook100", {"A": adjacency, "local_info": info})
        save("blogcatalog", {"network": adjacency, "group": group})
        read = scipy.io.loadmat(path(f"facebook100{end}.mat"))
        names = ["status", "gender", "major", "second_major", "dorm", "year", "high_school"]
        frame = pd.DataFrame(read["local_info"], columns=names).astype(object).replace(0, None)
        gender = frame.pop("gender").dropna()
        edges = sp.coo_matrix(read["A"])
        edges = [(a, b, w) for a, b, w in zip(edges.row, edges.col, edges.data) if a < b]
        expect(
            f"facebook100{end}.mat", ids=range(5), edges=edges, directed=False, features=encoded(frame),
            labels={k: [str(v)] for k, v in gender.items()},
        )
        read = scipy.io.loadmat(path(f"blogcatalog{end}.mat"))
        sets = pd.DataFrame(read["group"].toarray())
        expect(
            f"blogcatalog{end}.mat", ids=range(5), edges=edges, directed=False,
            labels={k: [str(c + 1) for c in sets.columns[row != 0]] for k, row in sets.iterrows() if row.any()},
        )


documents()
edge_lists()
ogb()
musae()
neo4j()
matlab()
(HERE / "expected.json").write_text(json.dumps(EXPECTED, indent=1) + "\n")
