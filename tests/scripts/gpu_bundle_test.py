"""Tests scripts/gpu-check: the bundle runs without the build folder, says what it found, and makes a report of it."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPO / "bench"), str(REPO / "bench" / "gpu"), str(REPO / "scripts" / "lib"),
                str(REPO / "tests" / "harness")]
import gpu  # noqa: E402
import gpu_bundle  # noqa: E402

PROGRAM = """#!/bin/sh
cat <<'LINES'
{lines}
LINES
exit {code}
"""
GPU = {"gpu": "H", "gpus": 1}


class Bundle(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name, "bundle")
        self.addCleanup(self.folder.cleanup)

    def run_bundle(self, *arguments, environment=None):
        return subprocess.run([str(self.path / "run"), *arguments], capture_output=True, text=True, timeout=100,
                              env={"PATH": os.environ["PATH"], **(environment or {})}, cwd="/")

    def pretend(self, rows, code=0):
        """Makes a bundle whose program prints the given lines."""
        build = pathlib.Path(self.folder.name, "build")
        (build / "bin").mkdir(parents=True)
        program = build / "bin" / "rekindle-bench-gpu"
        program.write_text(PROGRAM.format(lines="\n".join(map(json.dumps, rows)), code=code))
        program.chmod(0o755)
        (build / "bin" / "librekindle_cuda.so").write_text("")
        needs, gpu_bundle.libraries = gpu_bundle.libraries, lambda path: {}
        self.addCleanup(setattr, gpu_bundle, "libraries", needs)
        gpu_bundle.make(build, "/nowhere", self.path, "abc123")

    def test_report_of_a_gpu(self):
        rates = [{"name": name, "gb_per_s": 3000 if name == "copy" else 2400} for name in gpu.RATES]
        self.pretend([GPU, {"check": "probe", "ok": True, "detail": ""}, *rates,
                      {"skipped": "nccl", "detail": "one GPU"}])
        file = pathlib.Path(self.folder.name, "r.json")
        done = self.run_bundle("--report", str(file))
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(json.loads(file.read_text()), report)
        self.assertEqual((report["bench"], report["commit"], report["ok"]), ("gpu", "abc123", True))
        self.assertEqual(report["metrics"]["update_adamw_float"]["limit"], 3000)
        self.assertNotIn("limit", report["metrics"]["copy"])
        self.assertEqual(report["checks"], {"probe": True})
        self.assertEqual(report["skipped"]["nccl"], "one GPU")
        self.assertIn("rekindle-bench-gpu-train", report["skipped"]["training"])

    def test_the_fake_device_shows_every_row(self):
        build = os.environ.get("REKINDLE_BUILD", "")
        if not pathlib.Path(build, "bin", gpu.TRAIN).exists() or not pathlib.Path(build, "bin", gpu.PROGRAM).exists():
            self.skipTest("this build has no LibTorch or no CUDA")
        done = subprocess.run([sys.executable, str(REPO / "bench" / "_run.py"), "gpu", "--device", "fake"],
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(set(report["units"]), set(gpu.METRICS))
        self.assertEqual(set(report["metrics"]), {*gpu.TRAINING, *gpu.PRODUCT} - {*gpu.COMPILED})
        for name, metric in report["metrics"].items():
            self.assertEqual(metric["unit"], report["units"][name])
        self.assertEqual(set(report["left_out"]), {*gpu.RATES, *gpu.NCCL, *gpu.COMPILED})
        self.assertTrue(all(report["checks"].values()), report["checks"])
        self.assertEqual(report["metrics"]["repeated_micro_batches_equal"]["value"], 3)
        self.assertEqual(report["metrics"]["digests_equal"]["value"], 2)

    def test_figures_of_pytorch_stand_beside_ours(self):
        report = gpu.Report("gpu", gpu.METRICS, gpu.Options("gpu", "").parse([]))
        rows = [{"train": "gpt2", "parameters": 100, "tokens_per_s": 60, "passes_seconds": 1, "step_seconds": 1},
                {"row": "speed_with_snapshots", "value": 1}, {"row": "ready_seconds", "value": 1}]
        gpu.add_training(report, rows, {"compile": 50, "eager": 40, "matmul_flops": 60000})
        gpu.add_training(report, rows, {"compile": 50, "eager": 40, "matmul_flops": 60000,
                                        "speed_with_checkpoints": 0.8, gpu.START: 4})
        metrics = report.result["metrics"]
        self.assertEqual((metrics["gpt2_beside_compile"]["value"], metrics["gpt2_beside_compile"]["unit"]),
                         (1.2, "ratio"))
        self.assertEqual((metrics["gpt2_tokens_per_second"]["ratio"], metrics["gpt2_tokens_per_second"]["limit"]),
                         (1.5, 100))
        self.assertEqual((metrics["speed_with_snapshots"]["peer"], metrics["ready_seconds"]["ratio"]), (0.8, 0.25))
        self.assertTrue(report.result["ok"])

    def test_the_documents_name_every_row(self):
        text = (REPO / "docs" / "benchmarks.md").read_text()
        for name, unit in gpu.UNITS.items():
            self.assertRegex(text, rf"(?m)^\| `{name}`[^|]*\| {unit} \|")

    def test_a_failed_check_fails_the_run(self):
        self.pretend([GPU, {"check": "squares_float", "ok": False, "detail": "squares[0]: ..."}])
        done = self.run_bundle()
        self.assertEqual(done.returncode, 1)
        self.assertIn("squares_float: squares[0]", done.stderr)
        self.assertFalse(json.loads(done.stdout)["ok"])

    def test_a_program_that_dies_fails_the_run(self):
        self.pretend([GPU], code=9)
        done = self.run_bundle()
        self.assertEqual(done.returncode, 1)
        self.assertIn("exited with 9", done.stderr)

    def test_another_folder_is_not_overwritten(self):
        self.path.mkdir()
        (self.path / "precious").write_text("x")
        with self.assertRaises(SystemExit):
            gpu_bundle.make(pathlib.Path("/nowhere"), "/nowhere", self.path, "c")
        self.assertTrue((self.path / "precious").exists())


if __name__ == "__main__":
    unittest.main()
