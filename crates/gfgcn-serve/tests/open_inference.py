"""Triton's own HTTP client speaks to the server: open_inference.py PROGRAM, where tritonclient[http] is installed."""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import tritonclient.http as triton
from tritonclient.utils import InferenceServerException

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()


class OpenInference(unittest.TestCase):
    """A model of Cora, served, and what the command line predicts with it."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(cls.folder.name)
        run = lambda *arguments: subprocess.run([PROGRAM, *arguments], cwd=path, check=True, capture_output=True)
        run("fit", "cora", "--public-split", "--depth", "2", "-o", "cora.model")
        run("predict", "cora.model", "cora", "--probabilities", "-o", "labels.csv")
        with open(path / "labels.csv", newline="") as file:
            cls.rows = list(csv.DictReader(file))
        command = [PROGRAM, "serve", "cora.model", "--port", "0", "--json", "--log", "none"]
        cls.server = subprocess.Popen(command, cwd=path, stdout=subprocess.PIPE, text=True)
        text = ""
        while "}" not in text:
            line = cls.server.stdout.readline()
            assert line, f"the server ended: {text}"
            text += line
        cls.client = triton.InferenceServerClient(json.loads(text)["address"].removeprefix("http://"))

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.server.kill()
        cls.server.wait()
        cls.server.stdout.close()
        cls.folder.cleanup()

    def expected(self, nodes, prefix):
        columns = [name for name in self.rows[0] if name.startswith(prefix)]
        return np.array([[float(self.rows[node][name]) for name in columns] for node in nodes])

    def test_it_lives_and_says_what_it_is(self):
        self.assertTrue(self.client.is_server_live())
        self.assertTrue(self.client.is_server_ready())
        self.assertTrue(self.client.is_model_ready("cora"))
        self.assertTrue(self.client.is_model_ready("cora", "1"))
        self.assertFalse(self.client.is_model_ready("citeseer"))
        self.assertEqual(self.client.get_server_metadata()["name"], "gfgcn")
        model = self.client.get_model_metadata("cora")
        self.assertEqual(model["inputs"], [{"name": "node", "datatype": "BYTES", "shape": [-1]}])
        outputs = {output["name"]: output["shape"] for output in model["outputs"]}
        self.assertEqual(outputs, {"label": [-1], "scores": [-1, 7], "probabilities": [-1, 7]})

    def test_predictions_are_those_of_the_command_line(self):
        nodes = [0, 5, 2707, 5, 1358]
        kinds = {
            "BYTES": np.array([str(node).encode() for node in nodes], dtype=object),
            "INT64": np.array(nodes, dtype=np.int64),
            "UINT16": np.array(nodes, dtype=np.uint16),
        }
        for kind, array in kinds.items():
            for binary_in in (True, False):
                for outputs in (None, True, False):
                    with self.subTest(kind=kind, binary_in=binary_in, outputs=outputs):
                        node = triton.InferInput("node", [len(nodes)], kind)
                        node.set_data_from_numpy(array, binary_data=binary_in)
                        names = ["probabilities", "label"]
                        wanted = outputs is not None and [triton.InferRequestedOutput(n, binary_data=outputs) for n in names]
                        answer = self.client.infer("cora", [node], outputs=wanted or None, request_id="7")
                        self.assertEqual(answer.get_response()["id"], "7")
                        labels = [str(l, "utf-8") if isinstance(l, bytes) else l for l in answer.as_numpy("label")]
                        self.assertEqual(labels, [self.rows[n]["label"] for n in nodes])
                        found = answer.as_numpy("probabilities")
                        np.testing.assert_array_equal(found, self.expected(nodes, "probability_"))
                        scores = answer.as_numpy("scores")
                        if outputs is None:
                            np.testing.assert_array_equal(scores, self.expected(nodes, "score_"))
                        else:
                            self.assertIsNone(scores)

    def test_mistakes_are_said(self):
        node = triton.InferInput("node", [1], "BYTES")
        node.set_data_from_numpy(np.array([b"nobody"], dtype=object))
        with self.assertRaisesRegex(InferenceServerException, "nobody"):
            self.client.infer("cora", [node])
        with self.assertRaisesRegex(InferenceServerException, "only model"):
            self.client.infer("citeseer", [node])
        other = triton.InferInput("image", [1], "BYTES")
        other.set_data_from_numpy(np.array([b"0"], dtype=object))
        with self.assertRaisesRegex(InferenceServerException, "only input"):
            self.client.infer("cora", [other])


if __name__ == "__main__":
    unittest.main()
