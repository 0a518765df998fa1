"""Tests the scripts in examples/: each is equal in the check of its task, and trains to its end.

usage: own_examples_test.py [check | run]"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "python"), str(HERE)]

import base  # noqa: E402
import packages  # noqa: E402
import run_base  # noqa: E402

# Says for each script how a job of it names its task.
SCRIPTS = {"python": "train:task", "vision": "train:task",
           "hf-causal-lm": "train:hf.model_init.args.train_set.held_out",
           "hf-classification": "train:hf.model_init.args.train_set.held_out.collate"}


class ExamplesTest(unittest.TestCase):
    def python(self, *words, **environment):
        paths = os.pathsep.join([str(base.PACKAGE), *filter(None, (os.environ.get("REKINDLE_ZOO_PACKAGES"),
                                                                   *(path for path in sys.path if "zoo" in path)))])
        done = subprocess.run([sys.executable, *words], env={**os.environ, "PYTHONPATH": paths, **environment},
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_every_script_is_here(self):
        self.assertEqual(sorted(path.parent.name for path in (ROOT / "examples").glob("*/train.py")), sorted(SCRIPTS))

    def test_check(self):
        for name, task in SCRIPTS.items():
            with self.subTest(name):
                said = self.python("-m", "rekindle.check", str(ROOT / "examples" / name), task)
                self.assertIn("equal bit for bit", " ".join(said.split()))

    def test_run(self):
        program = pathlib.Path(run_base.real_program())
        for name in SCRIPTS:
            with self.subTest(name), tempfile.TemporaryDirectory(prefix="rekindle-examples-") as folder:
                said = self.python(str(ROOT / "examples" / name / "train.py"), XDG_STATE_HOME=folder,
                                   REKINDLE_BIN=str(program.parent))
                first, last = map(float, re.search(r"loss (\S+) to ([0-9.]+)", said).groups())
                self.assertLess(last, 0.7 * first, said)
                self.assertRegex(said, r"digest [0-9a-f]{16,}, weights in /")


if __name__ == "__main__":
    try:
        packages.use(install_them=True)
    except packages.Missing as why:
        print(f"skipped: transformers and torchvision are not there: {' '.join(str(why).split())}")
        sys.exit(77)
    chosen = [f"ExamplesTest.test_{word}" for word in sys.argv[1:]]
    unittest.main(argv=[sys.argv[0], *chosen], verbosity=2)
