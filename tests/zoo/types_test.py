"""Tests that the types of python/rekindle are whole, as `mypy --strict` checks them."""
import os
import pathlib
import subprocess
import sys
import unittest

import packages

ROOT = pathlib.Path(__file__).resolve().parents[2]


class TypesTest(unittest.TestCase):
    def mypy(self, *arguments):
        """Returns (exit code, what mypy said)."""
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, *arguments],
                              cwd=ROOT / "python", env={**os.environ, "PYTHONPATH": packages.use(install_them=True)},
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_the_package(self):
        code, said = self.mypy("rekindle")
        self.assertEqual(code, 0, said)

    def test_a_type_that_is_missing_is_found(self):
        code, said = self.mypy("-c", "def f(x): return x")
        self.assertEqual(code, 1, said)
        self.assertIn("missing a type annotation", said)


if __name__ == "__main__":
    unittest.main()
