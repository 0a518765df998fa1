"""Holds what the tests of python/rekindle share. Import it first: it finds an interpreter that has PyTorch."""

import importlib.util
import os
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "python"
TASKS = HERE / "tasks"

if importlib.util.find_spec("torch") is None:
    python = os.environ.get("REKINDLE_PYTHON")
    if not python or "REKINDLE_AGAIN" in os.environ:
        print("skipped: no interpreter with PyTorch; set REKINDLE_PYTHON")
        sys.exit(77)
    os.execve(python, [python, *sys.argv], {**os.environ, "REKINDLE_AGAIN": "1"})

sys.path[:0] = [str(PACKAGE), str(TASKS)]

import torch  # noqa: E402

from trainer import Trainer  # noqa: E402

torch.set_num_threads(1)


class ChildTest(unittest.TestCase):
    """Starts model processes, and checks at the end that none is left."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="rekindle-python-")
        self.addCleanup(self.folder.cleanup)

    def trainer(self, task, **options):
        """Returns a trainer whose model process is to load `task`."""
        trainer = Trainer(task, self.folder.name, **options)
        self.addCleanup(trainer.close)
        return trainer

    def ready(self, task, **options):
        """Returns a trainer whose model process has its weights and waits for micro-batches."""
        return self.trainer(task, **options).begin()

    def refused(self, task, *words, kind="task", **options):
        """Checks that `task` is refused with `words` in the message, and returns what the process said."""
        trainer = self.trainer(task, **options)
        failed = trainer.configure()
        self.assertEqual(failed.get("kind"), kind, failed)
        for word in words:
            self.assertIn(word, failed["message"])
        self.assertEqual(trainer.exit_code(), 3)
        return failed

    def assert_equal_gradients(self, one, other):
        self.assertEqual(set(one), set(other))
        for name, gradient in one.items():
            self.assertTrue(torch.equal(gradient, other[name]), f"{name}: {gradient} is not {other[name]}")
