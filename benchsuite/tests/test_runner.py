"""The runner's own logic, with tiny contestants that are real processes."""

import csv
import json
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from runner import chart, contest, plan, report, verdict  # noqa: E402

# Nobody is measured here, so nobody waits for a quiet processor; and a program that is about to end may take its
# time on a busy machine.
contest.PAUSE = 0
contest.PATIENCE = 120
# Only a program that hangs takes as long.
LIMIT = 120

READY = 'print(json.dumps({"ready": {"threads": 1, "versions": {"fake": "1"}}}), flush=True)\n'
LOOP = "for line in sys.stdin:\n    if line.strip() == 'quit': break\n    "


def fake(name, body, target=None, must_agree=True, ready=READY):
    """A contestant made of a few lines; `body` answers one `run`."""
    script = "import json, sys, time, os\n" + ready + LOOP + body
    return contest.Contestant(name, [sys.executable, "-c", script], target, must_agree=must_agree)


def answering(name, target=None, must_agree=True, **answer):
    body = f"print(json.dumps({answer!r}), flush=True)"
    return fake(name, body, target, must_agree)


def compete(*contestants, repetitions=2, budget=1e9):
    return contest.compete(contestants, repetitions, LIMIT, budget, {}, log=lambda _: None)


class Turns(unittest.TestCase):
    def test_forwards_and_backwards_in_turn(self):
        with tempfile.TemporaryDirectory() as folder:
            journal = Path(folder) / "journal"
            write = f"open({str(journal)!r}, 'a').write('%s '); print('{{\"seconds\": 1}}', flush=True)"
            compete(*(fake(name, write % name) for name in "abc"), repetitions=3)
            self.assertEqual(journal.read_text().split(), list("abccbaabc"))

    def test_the_best_repetition_counts(self):
        body = "line = globals().get('n', 3); n = line - 1; print(json.dumps({'seconds': line}), flush=True)"
        (result,) = compete(fake("a", body), repetitions=3)
        self.assertEqual([r.seconds for r in result.repetitions], [3, 2, 1])
        self.assertEqual(result.best, 1)

    def test_who_has_used_the_budget_sits_out(self):
        slow, quick = compete(
            answering("slow", seconds=50), answering("quick", seconds=1), repetitions=4, budget=60
        )
        self.assertEqual((len(slow.repetitions), len(quick.repetitions)), (2, 4))

    def test_threads_reach_the_contestants(self):
        body = "print(json.dumps({'seconds': int(os.environ['OMP_NUM_THREADS'])}), flush=True)"
        (result,) = contest.compete([fake("a", body)], 1, LIMIT, 60, {"OMP_NUM_THREADS": "3"})
        self.assertEqual(result.best, 3)


class Failures(unittest.TestCase):
    """A peer that fails is reported, and the others go on."""

    def failure(self, peer):
        ours, theirs, last = compete(
            answering("gfgcn", seconds=1), peer, answering("last", seconds=2)
        )
        for other in (ours, last):
            self.assertIsNone(other.failure)
            self.assertEqual(len(other.repetitions), 2)
        line = verdict.judge([ours, theirs, last])[1]
        self.assertEqual((line.ratio, line.met, line.remark), (None, "", theirs.failure))
        return theirs.failure

    def test_a_crash(self):
        said = self.failure(fake("a", "raise MemoryError('too much')", target=2))
        self.assertEqual(said, "ended with status 1: MemoryError: too much")

    def test_a_crash_before_it_is_ready(self):
        said = self.failure(fake("a", "pass", ready="import no_such_package\n"))
        self.assertIn("No module named 'no_such_package'", said)

    def test_a_program_that_is_not_there(self):
        self.assertIn("No such file", self.failure(contest.Contestant("a", ["/no/such/program"])))

    def test_hanging(self):
        run = contest.Process.run

        def impatient(process, limit):
            """A short limit that is nobody else's."""
            return run(process, 0.2 if "sleep" in process.process.args[-1] else limit)

        with mock.patch.object(contest.Process, "run", impatient), mock.patch.object(contest, "PATIENCE", 0.2):
            said = self.failure(fake("a", "time.sleep(600)"))
        self.assertEqual(said, "no answer within 0.2 s")

    def test_babble(self):
        self.assertIn("'hello'", self.failure(fake("a", "print('hello', flush=True)")))

    def test_an_answer_without_a_time(self):
        for answer in ({"check": {}}, {"seconds": "soon"}, {"seconds": 0}, {"seconds": float("nan")}):
            self.assertIn("has no time", self.failure(answering_json("a", answer)))

    def test_gfgcn_itself_failing_leaves_the_times_of_the_others(self):
        results = compete(fake("gfgcn", "sys.exit(3)"), answering("peer", 8, seconds=2))
        lines = verdict.judge(results)
        self.assertEqual((lines[1].best, lines[1].ratio, lines[1].met), (2, None, ""))


def answering_json(name, answer):
    return fake(name, f"print({json.dumps(answer)!r}, flush=True)")


def finished(*results):
    """Results without processes: (name, seconds, check, target, must_agree)."""
    out = []
    for name, seconds, check, target, must_agree in results:
        contestant = contest.Contestant(name, [], target, must_agree=must_agree)
        out.append(contest.Result(contestant, {}, [contest.Repetition(seconds, 1, check)]))
    return out


class Verdicts(unittest.TestCase):
    def test_ratios_and_targets(self):
        lines = verdict.judge(
            finished(
                ("gfgcn", 2.0, {}, None, True),
                ("a", 16.0, {}, 8, True),
                ("b", 15.9, {}, 8, True),
                ("c", 1.0, {}, None, True),
            )
        )
        self.assertEqual([line.ratio for line in lines], [None, 8, 7.95, 0.5])
        self.assertEqual([line.met for line in lines], ["", "yes", "no", ""])

    def test_limits(self):
        for seconds, met in [(1.04, "yes"), (1.06, "no")]:
            results = finished(("gfgcn", 1.0, {}, None, True), ("a", seconds, {}, None, True))
            results[1].contestant.limit = 1.05
            line = verdict.judge(results)[1]
            self.assertEqual(line.met, met)
            self.assertIn("claimed ≤ 1.05", line.remark)

    def test_a_peer_that_disagrees_has_no_verdict(self):
        for key, ours, theirs, agrees in [
            ("norm", 100.0, 100.009, True),
            ("norm", 100.0, 100.02, False),
            ("weights", 100.0, 100.2, False),
            ("accuracy", 80.0, 78.1, True),
            ("accuracy", 80.0, 77.9, False),
            ("norm", 100.0, float("nan"), False),
            ("penalty", 1.0, 2.0, True),
        ]:
            results = finished(
                ("gfgcn", 1.0, {key: ours}, None, True), ("a", 9.0, {key: theirs}, 8, True)
            )
            line = verdict.judge(results)[1]
            self.assertEqual(line.met, "yes" if agrees else "", (key, theirs))
            self.assertEqual("disagrees" in line.remark, not agrees)

    def test_another_model_is_compared_but_said_to_be_one(self):
        line = verdict.judge(
            finished(
                ("gfgcn", 1.0, {"accuracy": 85.0}, None, True),
                ("Adam", 30.0, {"accuracy": 80.0}, 20, False),
            )
        )[1]
        self.assertEqual((line.met, line.remark), ("yes", "not the same model: accuracy 80, gfgcn 85"))

    def test_parts_are_scaled_up_by_their_counts(self):
        repetition = contest.understand(
            {
                "seconds": 7,
                "parts": [
                    {"name": "propagations", "seconds": 3, "done": 21, "total": 21},
                    {"name": "fits", "seconds": 4, "done": 42, "total": 420},
                ],
            }
        )
        self.assertEqual(repetition.seconds, 43)
        self.assertEqual(repetition.extrapolated, "42 of 420 fits")

    def test_parts_that_were_run_in_full_are_no_extrapolation(self):
        parts = [{"name": "fits", "seconds": 4, "done": 420, "total": 420}]
        self.assertIsNone(contest.understand({"seconds": 4, "parts": parts}).extrapolated)

    def test_bounds_on_bandwidth_and_memory(self):
        (ours,) = finished(("gfgcn", 2.0, {}, None, True))
        ours.repetitions[0].figures = {
            "product_bytes": 70e9,
            "copy_bytes_per_second": 50e9,
            "peak_bytes": 320,
            "graph_bytes": 100,
            "dense_bytes": 100,
        }
        self.assertAlmostEqual(verdict.share_of_copy_bandwidth(ours), 0.7)
        self.assertAlmostEqual(verdict.dense_blocks_beyond_graph(ours), 2.2)
        bound = verdict.Bound("share", verdict.share_of_copy_bandwidth, at_least=0.6)
        self.assertEqual(bound.line(ours).met, "yes")
        bound.at_least = 0.8
        self.assertEqual(bound.line(ours).met, "no")

    def test_the_machines_limit_stands_beside_the_best_time(self):
        floor = {"seconds": 1.0, "made_of": ["3 G operations at 3 G/s"]}
        (ours,) = finished(("gfgcn", 2.0, {}, None, True))
        self.assertIsNone(verdict.floor(ours))
        ours.repetitions[0].floor = floor
        line = verdict.floor(ours)
        self.assertEqual((line.best, line.ratio, line.remark), (1.0, 0.5, "3 G operations at 3 G/s"))
        self.assertEqual(contest.understand({"seconds": 2, "floor": floor}).floor, floor)


class Reports(unittest.TestCase):
    def test_a_second_run_of_a_day_gets_a_folder_of_its_own(self):
        with tempfile.TemporaryDirectory() as parent:
            names = [report.new_folder(Path(parent) / "runs", "2020-01-31").name for _ in range(3)]
        self.assertEqual(names, ["2020-01-31", "2020-01-31-2", "2020-01-31-3"])

    def test_everything_is_written(self):
        case = plan.Case("product", plan.Data("cora"), [])
        results = compete(
            answering("gfgcn", seconds=1, check={"norm": 3.0}),
            answering("a <b>", 3, seconds=4, check={"norm": 3.0}),
            fake("broken", "sys.exit(1)"),
        )
        # Whatever else this machine is doing.
        for result in results:
            for repetition in result.repetitions:
                repetition.others = 0.0
        done = [report.Finished(case, results), report.Finished(case, skipped="no data")]
        about = {"date": "2020-01-31", "threads": 2, "repetitions": 2}
        about["machine"] = {"processor": "abacus", "commit": "c0ffee"}
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            report.write(folder, done, about, ["dgl did not install"])
            summary = (folder / "summary.md").read_text()
            rows = list(csv.DictReader((folder / "results.csv").read_text().splitlines()))
            xml.etree.ElementTree.parse(folder / "chart.svg")
            versions = json.loads((folder / "versions.json").read_text())
        self.assertIn("| a <b> | 4 s | 4× | 3× | yes |", summary)
        self.assertIn("ended with status 1", summary)
        self.assertIn("not run: no data", summary)
        self.assertIn("- dgl did not install", summary)
        self.assertEqual([r["contestant"] for r in rows], ["gfgcn"] * 2 + ["a <b>"] * 2)
        self.assertEqual(versions, {"fake": "1"})

    def test_a_busy_machine_is_mentioned(self):
        results = finished(("gfgcn", 1.0, {}, None, True))
        done = [report.Finished(plan.Case("product", plan.Data("cora"), []), results)]
        for share, warned in [(None, False), (0.01, False), (0.5, True)]:
            results[0].repetitions[0].others = share
            self.assertEqual(report.busy(done) is not None, warned)

    def test_a_chart_without_bars(self):
        xml.etree.ElementTree.fromstring(chart.draw([]))


class Plan(unittest.TestCase):
    def test_every_task_has_a_case_and_every_peer_a_script(self):
        cases = plan.cases(120)
        self.assertEqual({case.task for case in cases}, set(plan.TASKS))
        self.assertEqual(len({case.title for case in cases}), len(cases))
        peers = Path(__file__).resolve().parent.parent / "peers"
        for case in cases:
            names = [peer.name for peer in case.peers]
            self.assertEqual(len(set(names)), len(names), case.title)
            for peer in case.peers:
                if peer.script is not None:
                    self.assertTrue((peers / peer.script).is_file(), peer.script)


if __name__ == "__main__":
    unittest.main()
