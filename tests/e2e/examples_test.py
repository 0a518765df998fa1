"""Tests that every job file of examples/ runs as its page says, at small size, with made-up data and `rekindle up`."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
from programs import REPO, program  # noqa: E402

# The Python `PYTHON` must have pyarrow, which make_data.py needs.
PYTHON = os.environ.get("REKINDLE_PYTHON", sys.executable)

# Each example is made small by replacements of patterns in its file.
SMALL = {
    "gpt-text": [(r"steps: 200", "steps: 12"), (r"layers: 4", "layers: 1"), (r"max_bytes: 4e6", "max_bytes: 2e5"),
                 (r"evaluate_every: 50", "evaluate_every: 6"), (r"warmup_steps: 20", "warmup_steps: 2")],
    "gpt-bf16": [(r"steps: 100", "steps: 8"), (r"layers: 6", "layers: 1"), (r"width: 256", "width: 64"),
                 (r"context: 128", "context: 32"), (r"max_bytes: 4e6", "max_bytes: 2e5"),
                 (r"evaluate_every: 25", "evaluate_every: 4"), (r"warmup_steps: 10", "warmup_steps: 2"),
                 (r"every_steps: 25", "every_steps: 4")],
    "resnet-images": [(r"steps: 100", "steps: 12"), (r"width: 16", "width: 4"),
                      (r"warmup_steps: 10", "warmup_steps: 2"), (r"evaluate_every: 50", "evaluate_every: 6")],
    "mlp-table": [],
    "gpt2-from-weights": [(r"steps: 60", "steps: 20"), (r"evaluate_every: 30", "evaluate_every: 10")],
}
DATA = {"resnet-images": "images", "mlp-table": "table", "gpt2-from-weights": "gpt2"}


class ExamplesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="rekindle-examples-"))
        cls.up = subprocess.Popen([program("rekindle"), "up", "--workers", "2", "--dir", str(cls.folder / "up"),
                                   "--port", "0",
                                   "-o", "json"], stdout=subprocess.PIPE, text=True, start_new_session=True)
        cls.endpoint = json.loads(cls.up.stdout.readline())["endpoint"]

    @classmethod
    def tearDownClass(cls):
        cls.up.send_signal(signal.SIGTERM)
        try:
            cls.up.wait(timeout=40)
        finally:
            if cls.up.poll() is None:
                os.killpg(cls.up.pid, signal.SIGKILL)
            cls.up.stdout.close()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def rekindle(self, *args, code=0):
        done = subprocess.run([program("rekindle"), *args, "--endpoint", self.endpoint], capture_output=True, text=True,
                              timeout=100)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def small(self, name, changes=()):
        """Writes the job file, made small, into a folder of its own with its data beside it. Returns its path."""
        text = (REPO / "examples" / f"{name}.yaml").read_text()
        for pattern, replacement in [*SMALL[name], *changes]:
            self.assertRegex(text, pattern)
            text = re.sub(pattern, replacement, text, count=1)
        path = self.folder / f"{name}.yaml"
        path.write_text(text)
        if name in DATA:
            subprocess.run([PYTHON, str(REPO / "examples" / "make_data.py"), DATA[name], str(self.folder / "data")],
                           check=True, stdout=subprocess.DEVNULL)
        return str(path)

    def run_example(self, name):
        self.rekindle("submit", self.small(name), "--wait")
        status = json.loads(self.rekindle("get", name, "-o", "json"))["status"]
        self.assertEqual(status["state"], "SUCCEEDED", status["reason"])
        losses = [point["value"] for point in status["loss_curve"]]
        self.assertLess(sum(losses[-3:]), sum(losses[:3]), "it learns")
        self.assertGreater(status["validation_loss"], 0)
        return status

    def test_every_file_is_run(self):
        self.assertEqual({path.stem for path in (REPO / "examples").glob("*.yaml")}, set(SMALL))
        for name in SMALL:
            self.assertTrue((REPO / "examples" / f"{name}.md").exists(), f"{name} has a page")

    def test_gpt_on_text(self):
        self.assertGreater(self.run_example("gpt-text")["validation_bits_per_byte"], 0)

    def test_bf16_with_accumulation(self):
        status = self.run_example("gpt-bf16")
        training = status["resolved_spec"]["training"]
        self.assertEqual((training["precision"], training["global_batch"], training["micro_batch"]), ("bf16", 64, 2))

    def test_resnet_on_images(self):
        self.run_example("resnet-images")

    def test_mlp_on_a_table(self):
        status = self.run_example("mlp-table")
        self.assertLess(status["validation_loss"], 0.58, "better than knowing how many are inside (0.67)")
        self.assertEqual(status["validation_bits_per_byte"], 0)

    def test_a_table_with_another_column_fails_naming_those_there(self):
        path = self.small("mlp-table", [(r"name: mlp-table", "name: wrong-column"), (r"\[x, y, day\]", "[x, z]")])
        said = self.rekindle("submit", path, "--wait", code=1)
        self.assertIn("has no one column 'z'; its first are: x, y, day, inside", said)

    def test_gpt2_from_weights(self):
        self.run_example("gpt2-from-weights")
        self.rekindle("checkpoint", "export", "gpt2-from-weights", str(self.folder / "exported"))
        header = (self.folder / "exported" / "model.safetensors").read_bytes()
        self.assertIn(b"h.1.mlp.c_proj.weight", header[:20_000])

    def test_weights_of_another_shape_are_listed_and_nothing_is_started(self):
        path = self.small("gpt2-from-weights",
                          [(r"name: gpt2-from-weights", "name: misfit"), (r"layers: 2", "layers: 1"),
                           (r"context: 64", "context: 32")])
        said = self.rekindle("submit", path, "--wait", code=1)
        self.assertIn("extra (12)", said)
        self.assertIn("wpe.weight: [64, 32] instead of [32, 32]", said)
        self.assertNotIn("misfit", self.rekindle("jobs"))


if __name__ == "__main__":
    unittest.main()
