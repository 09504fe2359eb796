"""The page about all graphs, with a program that answers like gfgcn and is a real process."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from any_graph import graphs, measure, page  # noqa: E402

# Counts its runs; what is not called a graph is refused as gfgcn refuses it.
PROGRAM = """#!{python}
import json, pathlib, sys
runs = pathlib.Path({folder!r}) / "runs"
runs.write_text((runs.read_text() if runs.exists() else "") + " ".join(sys.argv[1:]) + "\\n")
if "graph" not in sys.argv[2]:
    sys.exit("error: there is no " + sys.argv[2])

row = lambda model, scores: {{"model": model, "scores": scores}}
rows = [row("features", [70.0, 72.0]), row("gfSSGC", [60.0, 64.0]), row("auto", [75.0, 79.0])]
print(json.dumps({{"results": rows if "features" in " ".join(sys.argv) else rows[2:]}}))
"""


class AnyGraph(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = self.folder / "gfgcn"
        self.program.write_text(PROGRAM.format(python=sys.executable, folder=folder.name))
        self.program.chmod(0o755)
        (self.folder / "graph.npz").touch()

    def laboratory(self):
        return measure.Laboratory(self.program, self.folder, self.folder / "results")

    def runs(self):
        return (self.folder / "runs").read_text().splitlines()

    def test_what_is_finished_is_not_measured_again(self):
        graph = graphs.Graph("graph", "Graph", ["--splits", "2"], "2")
        first = self.laboratory().measure(graph)
        again = self.laboratory().measure(graph)
        self.assertEqual(first.report, again.report)
        self.assertEqual(len(self.runs()), 1)
        self.assertIn(f"evaluate {self.folder}/graph.npz --splits 2 --models features,gfssgc,auto --depths 8 --json", self.runs()[0])
        self.program.write_text(self.program.read_text() + "# another version\n")
        self.laboratory().measure(graph)
        self.assertEqual(len(self.runs()), 2)

    def test_half_a_result_is_none(self):
        graph = graphs.Graph("graph", "Graph", [], "2")
        self.laboratory().measure(graph)
        kept = next((self.folder / "results").glob("*.json"))
        kept.rename(kept.with_suffix(".part"))
        self.assertIsInstance(self.laboratory().measure(graph), measure.Measured)
        self.assertEqual(len(self.runs()), 2)

    def test_gains_are_paired_and_against_the_better(self):
        result = self.laboratory().measure(graphs.Graph("graph", "Graph", [], "2"))
        self.assertEqual(page.gain(result), (6.0, 1.0))
        cells = page.line(result)
        self.assertEqual(cells[3:7], ["62.0 ± 2.0", "71.0 ± 1.0", "**77.0 ± 2.0**", "+6.0 ± 1.0"])
        self.assertEqual(page.spread(-0.01, 0.02, 1, "+"), "0.0 ± 0.0")
        without = self.laboratory().measure(graphs.Graph("graph", "Graph", [], "2", features=False))
        self.assertIsNone(page.gain(without))
        self.assertEqual(page.line(without)[3:7], ["", "", "**77.0 ± 2.0**", ""])

    def test_the_page_says_what_is_missing_and_where_it_loses(self):
        found = self.laboratory().measure(graphs.Graph("graph", "Graph", [], "2"))
        missing = self.laboratory().measure(graphs.Graph("none", "None", [], "2"))
        self.assertEqual(missing, "it is not in the data folder")
        (self.folder / "none").mkdir()
        refused = self.laboratory().measure(graphs.Graph("none", "None", [], "2"))
        self.assertEqual(refused, f"error: there is no {self.folder}/none")
        about = {"date": "2026-01-01", "commit": "c", "processor": "p", "threads": 2}
        text = page.page({0: [missing, found]}, about)
        self.assertIn("- Texas is missing: it is not in the data folder.", text)
        self.assertIn("In none of the 1 comparisons is `auto` worse", text)
        same = json.loads(json.dumps(found.report))
        same["results"][2]["scores"] = [70.0 - 1e-14, 72.0]
        text = page.page({0: [measure.Measured(found.graph, same)]}, about)
        self.assertIn("In none of the 1 comparisons is `auto` worse", text)
        worse = json.loads(json.dumps(found.report))
        worse["results"][2]["scores"] = [65.0, 66.0]
        text = page.page({0: [measure.Measured(found.graph, worse)]}, about)
        self.assertIn("by more than one standard error on: Graph (2)", text)

    def test_every_source_is_there_and_used(self):
        published = " ".join(graph.linear + graph.networks for section in graphs.SECTIONS for graph in section.graphs)
        for number in range(1, len(graphs.SOURCES) + 1):
            self.assertIn(f"[{number}]", published)
        self.assertNotIn(f"[{len(graphs.SOURCES) + 1}]", published)


if __name__ == "__main__":
    unittest.main()
