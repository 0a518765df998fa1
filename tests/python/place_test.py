"""Tests which tasks rekindle.run refuses because of the place where they are written."""
import subprocess
import sys
import unittest

import base  # noqa: F401

import models
import rekindle
from run_base import SCRIPT, StandInTest


class PlaceTest(StandInTest):
    def test_tasks_that_cannot_be_imported(self):
        def nested():
            raise NotImplementedError

        with self.assertRaises(rekindle.Refused) as refused:
            rekindle.run(models.perceptron(), steps=1, batch=1)
        self.assertIn("give the function that makes it, without calling it: task, and not task()",
                      refused.exception.message)
        for task in (lambda: None, nested, print, "train:task", rekindle.Task):
            with self.subTest(task), self.assertRaises(rekindle.Refused) as refused:
                rekindle.run(task, steps=1, batch=1)
            self.assertIn("    def task():\n        return rekindle.Task(", refused.exception.message)
            self.assertIn('    if __name__ == "__main__":\n        rekindle.run(task', refused.exception.message)
        self.assertEqual(self.calls(), [])

    def test_scripts_that_would_run_again(self):
        begin = "import rekindle\ndef task():\n    pass\n"
        call = "rekindle.run(task, steps=1, batch=1)\n"
        self.assertRegex(self.refusal(begin + call), "train.py calls rekindle.run in line 4 whenever it is imported")
        self.assertRegex(self.refusal(f"{begin}def main():\n    {call}main()\n"), "in line 6 whenever")
        guard = 'if __name__ == "__main__":\n'
        self.assertRegex(self.refusal(f"import rekindle\n{guard}    def task():\n        pass\n    {call}"),
                         "task is defined below if __name__")
        self.assertRegex(self.refusal(f"{begin}first = task\ndef task():\n    pass\n{guard}    " +
                                      call.replace("task", "first", 1)), "the name task in train.py stands for")
        self.assertRegex(self.refusal(f"{begin}{guard}    {call}", name="my-train.py"),
                         "my-train.py cannot be imported")
        self.assertEqual(self.refusal(begin + call).count("rekindle.run(task, steps=1000"), 1)

    def test_a_rank_refuses(self):
        """A process that has imported a task for a job does not run one itself."""
        lines = ("import rekindle\nfrom rekindle import task\n"
                 "rekindle.run(task.load('train:task', '.'), steps=1, batch=1)")
        self.script()
        done = subprocess.run([sys.executable, "-c", lines], cwd=self.folder / "project", capture_output=True,
                              text=True, check=False)
        self.assertIn("Refused: this process computes for a check or a job", done.stderr)
        self.assertEqual(self.calls(), [])

    def test_a_module_that_is_run(self):
        folder = self.folder / "project" / "deeper"
        folder.mkdir()
        (folder / "__init__.py").touch()
        (folder / "learn.py").write_text(SCRIPT)
        subprocess.run([sys.executable, "-m", "deeper.learn", "{}"], cwd=self.folder / "project", check=True,
                       capture_output=True)
        job = next(call["job"] for call in self.calls() if "job" in call)
        self.assertEqual((job["name"], job["spec"]["model"]),
                         ("deeper-learn", {"python": "deeper.learn:task", "folder": str(self.folder / "project")}))


if __name__ == "__main__":
    unittest.main()
