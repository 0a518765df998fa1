#!/usr/bin/python3
"""Tests what resampled traces keep of the real one, and that a seed determines all the rest."""
import csv
import json
import pathlib
import random
import sys
import tempfile
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "bench" / "fleet"))
import _resample  # noqa: E402

ROWS = [[f"a{i}", f"b{i}"] for i in range(103)]
WINDOW = 10


def resampled(seed):
    return _resample.resample(ROWS, WINDOW, random.Random(seed))


class Rows(unittest.TestCase):
    def test_each_row_once_whatever_the_order_of_its_zones(self):
        for seed in range(20):
            self.assertEqual(sorted(sorted(row) for row in resampled(seed)), sorted(sorted(row) for row in ROWS))

    def test_within_windows_time_and_zones_go_on(self):
        breaks = exchanged = 0
        for seed in range(20):
            rows = resampled(seed)
            for before, after in zip(rows, rows[1:]):
                follows = int(after[0][1:]) == (int(before[0][1:]) + 1) % len(ROWS) and before[0][0] == after[0][0]
                breaks += not follows
            exchanged += any(row[0][0] == "b" for row in rows) and any(row[0][0] == "a" for row in rows)
        self.assertGreater(breaks, 20)
        self.assertLessEqual(breaks, 20 * len(ROWS) // WINDOW)
        self.assertGreater(exchanged, 10)

    def test_a_seed_says_it_all(self):
        self.assertEqual(resampled(3), resampled(3))
        self.assertNotEqual(resampled(3), resampled(4))

    def test_no_seed_is_in_both_halves(self):
        self.assertFalse(set(_resample.HALVES["seen"]) & set(_resample.HALVES["unseen"]))


class Folder(unittest.TestCase):
    def test_has_each_trace_once_a_seed(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        traces = pathlib.Path(made.name)
        ticks = 2000
        (traces / "t.csv").write_text("tick,z,price_z\n" + "".join(f"{i},{i % 4},{i}\n" for i in range(ticks)))
        entry = {"file": "t.csv", "gap_seconds": 300, "ticks": {"z": ticks}, "zones": ["z"], "max_nodes": 4}
        (traces / "manifest.json").write_text(json.dumps([entry, {"file": "carbon.csv"},
                                                          {**entry, "file": "absent.csv"}]))
        folder = _resample.folder(traces, [5, 6])
        again = json.loads((folder / "manifest.json").read_text())
        self.assertEqual(len(again), 2)
        read = [list(csv.reader((folder / of["file"]).read_text().splitlines())) for of in again]
        self.assertNotEqual(read[0], read[1])
        for of, lines in zip(again, read):
            self.assertEqual((of["ticks"], of["gap_seconds"], of["max_nodes"]), ({"z": ticks}, 300, 4))
            self.assertEqual(lines[0], ["tick", "z"])
            self.assertEqual(sorted(int(nodes) for _, nodes in lines[1:]), sorted(i % 4 for i in range(ticks)))


if __name__ == "__main__":
    unittest.main()
