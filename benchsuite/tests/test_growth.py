"""The growth chart: exponents, splits, and what is written down."""

import csv
import io
import sys
import unittest
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from growth import fit, measure, page, sizes  # noqa: E402


class Exponents(unittest.TestCase):
    def test_a_power_has_its_exponent(self):
        for power in [-1, 0, 0.5, 1, 3]:
            points = [(x, 7.0 * x**power) for x in (10, 100, 5000, 10**7)]
            self.assertAlmostEqual(fit.exponent(points), power)

    def test_one_size_has_none(self):
        self.assertIsNone(fit.exponent([(10, 1.0)]))
        self.assertIsNone(fit.exponent([]))


class Sizes(unittest.TestCase):
    def test_a_series_differs_in_one_field(self):
        for series in sizes.series(10**7):
            others = {f for f in ("nodes", "features", "training", "threads") if f != series.field}
            for field in others:
                self.assertEqual(len({getattr(size, field) for size in series.sizes}), 1)
            self.assertEqual(len({series.at(size) for size in series.sizes}), len(series.sizes))

    def test_graphs_can_be_kept_small(self):
        everything = sizes.series(10**5)
        self.assertEqual(max(size.nodes for series in everything for size in series.sizes), 10**5)

    def test_parts_of_a_split_have_no_node_in_common(self):
        for series in sizes.series(10**5):
            for size in series.sizes:
                parts = measure.split(size)
                nodes = [node for part in parts.values() for node in part]
                self.assertEqual(len(parts["train"]), size.training)
                self.assertEqual(len(nodes), len(set(nodes)))
                self.assertTrue(0 <= min(nodes) and max(nodes) < size.nodes)


class Pages(unittest.TestCase):
    def setUp(self):
        self.everything = sizes.series(10**6)
        self.points = []
        for series in self.everything:
            for size in series.sizes:
                # Time in proportion to the nodes, memory to their square root.
                point = measure.Point("gfgcn", size, size.nodes / 1e5, int(1e6 * size.nodes**0.5), 80.0)
                self.points.append(point)
                self.points.append(measure.Point("other", size, failure="too <large>"))

    def test_the_table_has_every_point(self):
        rows = list(csv.DictReader(io.StringIO(page.table(self.points))))
        self.assertEqual(len(rows), len(self.points))
        self.assertEqual(rows[1]["failure"], "too <large>")
        self.assertEqual(int(rows[0]["edges"]), int(rows[0]["nodes"]) * 25 // 2)

    def test_the_page_has_exponents_and_failures(self):
        text = page.page(self.everything, self.points, "about")
        self.assertIn("| nodes (25 neighbours each) | 10,000 | 1,000,000 | gfgcn | 1.00 | 0.50 |", text)
        self.assertIn("other at 10,000 nodes, 16 features: too <large>", text)

    def test_the_picture_is_well_formed(self):
        root = xml.etree.ElementTree.fromstring(page.picture(self.everything, self.points))
        lines = root.iter("{http://www.w3.org/2000/svg}polyline")
        self.assertEqual(len(list(lines)), 2 * len(self.everything))

    def test_without_memory_there_is_time(self):
        for point in self.points:
            point.peak = None
        root = xml.etree.ElementTree.fromstring(page.picture(self.everything, self.points))
        lines = root.iter("{http://www.w3.org/2000/svg}polyline")
        self.assertEqual(len(list(lines)), len(self.everything))
        xml.etree.ElementTree.fromstring(page.picture(self.everything, []))


if __name__ == "__main__":
    unittest.main()
