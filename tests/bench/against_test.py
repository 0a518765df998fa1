#!/usr/bin/python3
"""Tests `scripts/bench NAME --against COMMIT`: a ratio above 1 is better, and both builds run."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "bench"))
import _against  # noqa: E402
from _bench_json import HIGHER, LOWER, NEITHER  # noqa: E402

# The script `PLANES` stands in for rekindle-bench-planes, but takes no time. Each build prints its own speed.
PLANES = """#!/bin/sh
for precision in exact fp16 bf16; do
  echo '{{"precision": "'$precision'", "ratio": {speed}, "split_gb_s": {speed}, "merge_gb_s": {speed}, "memcpy_gb_s": 9,
    "plane0_share": 0.5}}' | tr -d '\\n'
  echo
done
"""


def metrics(**values):
    return {name: {"value": value, "unit": "units", "better": better} for name, (better, value) in values.items()}


class Ratios(unittest.TestCase):
    def test_above_one_is_better(self):
        self.assertEqual(_against.ratio(HIGHER, 4, 2), 2)
        self.assertEqual(_against.ratio(LOWER, 4, 2), 0.5)

    def test_nothing_to_divide_by(self):
        self.assertEqual(_against.ratio(LOWER, 0, 0), 1)
        self.assertEqual(_against.ratio(LOWER, 0, 3), float("inf"))
        self.assertEqual(_against.ratio(LOWER, 3, 0), 0)

    def test_middle_half(self):
        self.assertEqual(_against.middle_half([9, 1, 2, 3, 4, 5, 6, 7, 8, 10]), (3, 8))

    def test_each_way(self):
        theirs = metrics(rate=(HIGHER, 100), seconds=(LOWER, 4), nodes=(NEITHER, 5), lost=(LOWER, 1))
        turns = [(metrics(rate=(HIGHER, 90 + i), seconds=(LOWER, 2), nodes=(NEITHER, 1), lost=(LOWER, 0)), theirs)
                 for i in range(10)]
        got = _against.compare(turns)
        self.assertEqual(list(got), ["rate", "seconds", "lost"])
        self.assertEqual(got["seconds"], {"unit": "units", "better": LOWER, "ours": 2, "theirs": 4, "ratio": 2,
                                          "middle_half": [2, 2], "no_worse": True})
        self.assertEqual((got["rate"]["ratio"], got["rate"]["middle_half"], got["rate"]["no_worse"]),
                         (0.945, [0.92, 0.97], False))
        self.assertEqual((got["lost"]["ratio"], got["lost"]["no_worse"]), (None, True))
        json.dumps(got, allow_nan=False)

    def test_no_worse_by_the_upper_end(self):
        turns = [(metrics(rate=(HIGHER, value)), metrics(rate=(HIGHER, 1))) for value in [0.9] * 7 + [1.1] * 3]
        self.assertTrue(_against.compare(turns)["rate"]["no_worse"])
        turns = [(metrics(rate=(HIGHER, value)), metrics(rate=(HIGHER, 1))) for value in [0.9] * 8 + [1.1] * 2]
        self.assertFalse(_against.compare(turns)["rate"]["no_worse"])


class Turns(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def build(self, name, speed, ends="exit 0"):
        """Makes a build whose program records that it was called."""
        program = self.folder / name / "bin" / "rekindle-bench-planes"
        program.parent.mkdir(parents=True)
        program.write_text(PLANES.format(speed=speed) + f"echo {name} >>{self.folder}/calls\n{ends}\n")
        program.chmod(0o755)
        return str(program.parent.parent)

    def play(self, ours, theirs, *options):
        return subprocess.run([sys.executable, str(REPO / "bench" / "_against.py"), "planes", "--ours", ours,
                               "--theirs", theirs, "--commit", "abc", "--report", str(self.folder / "r.json"),
                               *options],
                              capture_output=True, text=True, timeout=100,
                              env={**os.environ, "REKINDLE_BUILD": "/nowhere"})

    def test_both_in_turns(self):
        done = self.play(self.build("new", 6), self.build("old", 3), "--smoke")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result, json.loads((self.folder / "r.json").read_text()))
        self.assertEqual((result["against"], result["turns"]), ("abc", 10))
        self.assertEqual(result["metrics"]["exact_split"]["ratio"], 2)
        self.assertEqual((self.folder / "calls").read_text().split(), ["new", "old", "old", "new"] * 5)

    def test_slower_is_said(self):
        done = self.play(self.build("new", 3), self.build("old", 6))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertFalse(json.loads(done.stdout)["metrics"]["bf16_merge"]["no_worse"])

    def test_programs_that_cannot_be_measured(self):
        done = self.play(self.build("new", 3), self.build("old", 6, ends="exit 5"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: bench/checkpoint/planes.py ended with 1 on the programs of abc", done.stderr)

    def test_few_turns_say_nothing(self):
        done = self.play("a", "b", "--turns", "9")
        self.assertEqual(done.returncode, 2)
        self.assertIn("at least 10", done.stderr)


if __name__ == "__main__":
    unittest.main()
