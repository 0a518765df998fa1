"""Tests that cmake/write_commit.cmake finds the commit of a build, and rewrites nothing where it has not changed."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "write_commit.cmake"


class Commit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source, self.output = pathlib.Path(folder.name, "source"), pathlib.Path(folder.name, "commit.cc")
        self.source.mkdir()

    def git(self, *args):
        return subprocess.run(["git", "-c", "user.name=test", "-c", "user.email=test@example.com",
                               "-C", str(self.source), *args],
                              check=True, capture_output=True, text=True, timeout=60).stdout.strip()

    def write(self, *flags):
        """Runs write_commit.cmake. Returns the values in the file that it writes, and whether it touched the file."""
        before = self.output.stat().st_mtime_ns if self.output.exists() else None
        subprocess.run(["cmake", f"-DSOURCE={self.source}", f"-DOUTPUT={self.output}", *flags, "-P", str(SCRIPT)],
                       check=True, capture_output=True, timeout=60)
        text = self.output.read_text()
        values = [line.split('"')[1] for line in text.splitlines() if line.startswith("const char")]
        return values, self.output.stat().st_mtime_ns != before

    def commit(self, text):
        (self.source / "file").write_text(text)
        self.git("add", "file")
        self.git("commit", "-q", "-m", text)
        return self.git("rev-parse", "--short=12", "HEAD")

    @unittest.skipUnless(shutil.which("git"), "no git here")
    def test_a_checkout(self):
        self.git("init", "-q")
        commit = self.commit("one")
        self.git("tag", "v9.9.9")
        date = self.git("show", "--no-patch", "--format=%cs", "HEAD")
        self.assertEqual(self.write(), ([commit, date], True))
        self.assertEqual(self.write(), ([commit, date], False))
        (self.source / "file").write_text("changed")
        self.assertEqual(self.write()[0][0], f"{commit}-dirty")
        (self.source / "stray").write_text("not of the sources")
        other = self.commit("two")
        self.assertEqual(self.write(), ([other, date], True))

    def test_sources_without_a_repository(self):
        self.assertEqual(self.write()[0], ["unknown", ""])
        self.assertEqual(self.write("-DCOMMIT=0123456789ab")[0], ["0123456789ab", ""])
        self.assertEqual(self.write('-DCOMMIT=";system("')[0], ["unknown", ""])

    @unittest.skipUnless(shutil.which("git"), "no git here")
    def test_sources_within_the_checkout_of_something_else(self):
        self.git("init", "-q")
        self.commit("one")
        self.source /= "unpacked"
        self.source.mkdir()
        self.assertEqual(self.write()[0], ["unknown", ""])


if __name__ == "__main__":
    unittest.main()
