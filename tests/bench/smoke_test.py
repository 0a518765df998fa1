#!/usr/bin/python3
"""Each bench has --smoke, which shows in seconds that it still runs and has every metric of a full run.

The values mean nothing. No peer runs, and no traces from beside the checkout are read.
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import alone

REPO = pathlib.Path(__file__).resolve().parents[2]
BENCHES = sorted(path.stem for path in (REPO / "bench").glob("*.py") if not path.name.startswith("_"))
SECONDS, HANGS = 10, 120     # What a run may take; when it is given up.
SLOW_MACHINE = 2             # Machines differ by that much: in between it is said that a run was slow.
OTHERS = 0.1                 # Of the processors, for others: beyond it the limit of time does not count.
NEED_A_GPU = {"gpu"}
SKIPPED = 77
# What a machine without a server of the tests, of which this is a part of the name, may leave out.
NEEDS_A_SERVER = "s3"
sys.path[:0] = [str(REPO / "bench"), str(REPO / "tests" / "harness")]


def run(bench, folder):
    """(what ended, its time)."""
    script = str(REPO / "bench" / f"{bench}.py")
    with alone.Watch() as watch:
        done = subprocess.run([sys.executable, script, "--smoke", "--report", f"{folder}/report.json"],
                              capture_output=True, text=True, timeout=HANGS, cwd=folder,
                              env={**os.environ, "REKINDLE_TRACES": f"{folder}/no-traces"})
    return done, watch


class Smoke(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        alone.adopt_orphans()

    def test_there_are_benches(self):
        self.assertIn("step", BENCHES)

    def play(self, bench):
        with tempfile.TemporaryDirectory() as folder:
            done, took = run(bench, folder)
            self.assertNotIn("unrecognized arguments: --smoke", done.stderr, f"bench/{bench}.py has no --smoke")
            if done.returncode == SKIPPED and bench in NEED_A_GPU:
                self.assertRegex(done.stderr, r"(?m)^skipped: \S")
                self.skipTest(done.stderr.strip().splitlines()[-1])
            self.assertEqual(done.returncode, 0, f"{bench} --smoke failed:\n{done.stderr[-3000:]}")
            report = json.loads(pathlib.Path(folder, "report.json").read_text())
            print(f"{bench}: {took.seconds:.1f} s, with {took.others:.0%} of the processors taken by others")
            if took.seconds >= SECONDS:   # The first run of a new machine reads its programs from a cold disk.
                done, took = run(bench, folder)
                print(f"{bench} once more: {took.seconds:.1f} s, with {took.others:.0%} taken by others")
        self.check(bench, report)
        if took.others < OTHERS:
            if took.seconds >= SECONDS:
                print(f"{bench}: slow, more than {SECONDS} s")
            self.assertLess(took.seconds, SLOW_MACHINE * SECONDS)

    def check(self, bench, report):
        self.assertTrue(report["smoke"])
        left_out = report.get("left_out", {})
        for name, missing in left_out.items():
            if bench not in NEED_A_GPU:
                self.assertIn(NEEDS_A_SERVER, name, missing)
            print(f"{bench}: {name} left out: {missing}")
        declared = __import__(bench).METRICS
        self.assertTrue(declared)
        self.assertEqual({*report["metrics"], *left_out}, {*declared})
        for name, metric in report["metrics"].items():
            self.assertTrue(math.isfinite(metric["value"]), name)


def add(bench):
    setattr(Smoke, f"test_{bench}", lambda self: self.play(bench))


for name_of_bench in BENCHES:
    add(name_of_bench)

if __name__ == "__main__":
    unittest.main()
