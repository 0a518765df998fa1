#!/usr/bin/python3
"""Tests that each bench has --smoke, which shows in seconds that it still runs and has every metric of a full run.

The values of a smoke run mean nothing. It runs no other system for comparison, and reads no traces from beside the
checkout.
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import _run  # noqa: E402

BENCHES = list(_run.benches())
# `SECONDS` is how long a run may take. A run is given up after `HANGS` seconds.
SECONDS, HANGS = 10, 120
# A bench that starts some twenty processes that import PyTorch, each of which takes two seconds of a processor, has
# longer.
SECONDS_OF = {"own_models": 30}
# Machines differ in speed by the factor `SLOW_MACHINE`. A run that takes up to that many times `SECONDS` passes, but is
# reported as slow.
SLOW_MACHINE = 2
# The time limit does not count where other processes take more than the share `OTHERS` of the processors.
OTHERS = 0.1
NEED_A_GPU = {"gpu"}
SKIPPED = 77
# A machine that cannot run the tests' S3 server may leave out metrics that have `NEEDS_A_SERVER` in their names.
NEEDS_A_SERVER = "s3"
# This test imports the benches, because their modules declare the metrics.
sys.path[:0] = _run.folders()


def run(bench, folder):
    """Runs a bench with --smoke. Returns (the completed process, the `alone.Watch` that measured it)."""
    with alone.Watch() as watch:
        done = subprocess.run(_run.command(bench, "--smoke", "--report", f"{folder}/report.json"),
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
        seconds = SECONDS_OF.get(bench, SECONDS)
        with tempfile.TemporaryDirectory() as folder:
            done, took = run(bench, folder)
            self.assertNotIn("unrecognized arguments: --smoke", done.stderr, f"{bench} has no --smoke")
            if done.returncode == SKIPPED and bench in NEED_A_GPU:
                self.assertRegex(done.stderr, r"(?m)^skipped: \S")
                self.skipTest(done.stderr.strip().splitlines()[-1])
            self.assertEqual(done.returncode, 0, f"{bench} --smoke failed:\n{done.stderr[-3000:]}")
            report = json.loads(pathlib.Path(folder, "report.json").read_text())
            print(f"{bench}: {took.seconds:.1f} s, with {took.others:.0%} of the processors taken by others")
            # The first run on a new machine reads its programs from a cold disk, so a slow run gets a second try.
            if took.seconds >= seconds:
                done, took = run(bench, folder)
                print(f"{bench} once more: {took.seconds:.1f} s, with {took.others:.0%} taken by others")
        self.check(bench, report)
        if took.others < OTHERS:
            if took.seconds >= seconds:
                print(f"{bench}: slow, more than {seconds} s")
            self.assertLess(took.seconds, SLOW_MACHINE * seconds)

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
