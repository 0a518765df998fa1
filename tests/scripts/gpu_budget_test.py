"""Tests that a part of the GPU check that hangs is ended with all that it has started, and that its rows are kept."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPO / "bench"), str(REPO / "bench" / "gpu"), str(REPO / "scripts" / "lib"),
                str(REPO / "tests" / "harness")]
import gpu  # noqa: E402
import gpu_bundle  # noqa: E402
from _gpu_budget import Budget  # noqa: E402
from live_processes import processes_naming  # noqa: E402

# A part of these tests prints its rows at once. It has `SECONDS`, which is enough for that on a busy machine.
SECONDS = 5
ENDED = r"^it was ended after \d+ s$"
# `PROGRAM` starts a process in its group and one in another session, which hold its standard output. When both are
# there, it prints its rows and the begin of one more.
PROGRAM = """#!/usr/bin/python3
import json, os, pathlib, shutil, signal, sys
{before}
for start in (lambda: None, os.setsid):
    to, end = os.pipe()
    if os.fork() == 0:
        start()
        os.write(end, b"x")
        signal.pause()
    os.read(to, 1)
for row in json.loads({rows!r}):
    print(json.dumps(row))
print('{{"cut', end="", flush=True)
{after}
"""
HANG = "signal.pause()"
# What hangs in the driver does not react to SIGTERM.
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"


def write(path, rows, before="", after=HANG):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PROGRAM.format(rows=json.dumps(rows), before=before, after=after))
    path.chmod(0o755)


class WithPrograms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program = self.folder / "program"

    def assert_nothing_lives(self):
        self.assertEqual(processes_naming(str(self.folder)), [])


class Parts(WithPrograms):
    def test_a_part_that_hangs_is_ended(self):
        write(self.program, [{"row": "first"}], DEAF)
        budget = Budget({"hangs": 1, "next": 1}, 2 * SECONDS, grace=0.1)
        played = budget.play("hangs", [str(self.program)])
        self.assertRegex(played.why, ENDED)
        self.assertEqual((played.code, played.rows), (-signal.SIGKILL, [{"row": "first"}]))
        self.assert_nothing_lives()
        self.assertLess(played.seconds, 2 * SECONDS)
        after = budget.play("next", ["echo", '{"row": "second"}'])
        self.assertEqual((after.rows, after.code, after.why), ([{"row": "second"}], 0, ""))

    def test_who_holds_the_output_does_not_hold_up_the_check(self):
        write(self.program, [{"row": "first"}], after="os._exit(3)")
        played = Budget({"leaves": 1}, 60).play("leaves", [str(self.program)])
        self.assertEqual((played.rows, played.code, played.why), ([{"row": "first"}], 3, ""))
        self.assert_nothing_lives()

    def test_what_a_part_leaves_over_is_for_those_after_it(self):
        budget = Budget({"first": 1, "second": 3}, 400)
        self.assertLessEqual(budget.seconds_for("first"), 100)
        self.assertGreater(budget.seconds_for("second"), 300)

    def test_a_part_without_time_is_not_started(self):
        played = Budget({"late": 1}, 0).play("late", ["touch", str(self.program)])
        self.assertEqual((played.rows, played.why), ([], "no time was left for it"))
        self.assertFalse(self.program.exists())


class Check(WithPrograms):
    def bundle(self, kernels, training, before):
        """Makes a bundle whose programs print the rows and hang, and a PyTorch of the version that it wants."""
        build, wheels = self.folder / "build", self.folder / "wheels"
        write(build / gpu_bundle.FILES[0], kernels)
        (build / gpu_bundle.FILES[1]).write_text("")
        write(build / gpu_bundle.TRAIN, training, before)
        (wheels / "torch").mkdir(parents=True)
        (wheels / "torch" / "__init__.py").write_text("")
        (wheels / "torch" / "version.py").write_text("__version__ = '9.9.0'")
        (wheels / "torch-9.9.0.dist-info").mkdir()
        (wheels / "torch-9.9.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 9.9.0")
        needs, gpu_bundle.libraries = gpu_bundle.libraries, lambda path: {}
        self.addCleanup(setattr, gpu_bundle, "libraries", needs)
        gpu_bundle.make(build, str(wheels), self.folder / "bundle", "abc123")
        return {"PATH": os.environ["PATH"], "PYTHONPATH": str(wheels)}

    def test_the_report_has_what_was_measured_before_a_hang(self):
        file, seen = self.folder / "r.json", self.folder / "seen.json"
        rates = [{"name": name, "gb_per_s": 2400} for name in gpu.RATES]
        speed = {"train": "gpt2", "parameters": 1, "tokens_per_s": 1, "passes_seconds": 1, "step_seconds": 1}
        # Training starts after the kernels have hung. It copies the report as it is then.
        environment = self.bundle([{"gpu": "H"}, {"check": "probe", "ok": True, "detail": ""}, *rates],
                                  [speed, {"row": "ready_seconds", "value": 1}],
                                  f"shutil.copy({str(file)!r}, {str(seen)!r})")
        limit = SECONDS * gpu.LIMIT_SECONDS / gpu.SHARES["kernels"]
        done = subprocess.run([str(self.folder / "bundle" / "run"), "--report", str(file), f"--limit={limit}"],
                              capture_output=True, text=True, timeout=100, env=environment, cwd="/")
        self.assertEqual(done.returncode, 1, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(json.loads(file.read_text()), report)
        self.assertEqual(set(report["metrics"]), {*gpu.RATES, *gpu.SPEED, "ready_seconds"} - {*gpu.COMPILED},
                         done.stderr)
        for part in ("kernels", "training"):
            self.assertRegex(report["skipped"][part], ENDED)
            self.assertRegex(done.stderr, rf"(?m)^error: {part}: it was ended after")
        # This PyTorch has nothing that its programs need, so they fail at once.
        for part in gpu.PEERS:
            self.assertRegex(report["skipped"][part], r"^it (exited with 1|was ended after \d+ s)$")
        self.assertEqual(set(report["left_out"]), {*gpu.METRICS} - {*report["metrics"]})
        self.assertEqual(report["left_out"]["nccl_all_reduce_bus"], report["skipped"]["kernels"])
        self.assertNotIn("was not measured", done.stderr)
        begun = json.loads(seen.read_text())
        self.assertEqual((begun["complete"], "complete" in report), (False, False))
        self.assertEqual((set(begun["metrics"]), set(begun["skipped"])), ({*gpu.RATES}, {"kernels"}))
        self.assert_nothing_lives()


if __name__ == "__main__":
    unittest.main()
