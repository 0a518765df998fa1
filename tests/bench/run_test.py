#!/usr/bin/python3
"""Tests that a bench is found by its name in any folder of bench/, and can import modules of all of them."""
import collections
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import _run  # noqa: E402


def run(*arguments):
    return subprocess.run(_run.command(*arguments), capture_output=True, text=True, timeout=60, cwd="/")


class Run(unittest.TestCase):
    def test_imports_from_other_rooms(self):
        done = run("replay", "--help")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("usage: scripts/bench replay", done.stdout)

    def test_no_such_bench(self):
        for name in ("none", "_traces", "../scripts/x"):
            done = run(name)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"error: there is no bench called {name}", done.stderr)

    def test_no_two_files_have_the_same_name(self):
        files = [file.name for folder in _run.folders() for file in pathlib.Path(folder).glob("*.py")]
        self.assertEqual([name for name, count in collections.Counter(files).items() if count > 1], [])


if __name__ == "__main__":
    unittest.main()
