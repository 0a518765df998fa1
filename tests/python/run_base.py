"""Holds what the tests of rekindle.run share: a stand-in for the program `rekindle`, and scripts that a user runs."""
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from base import HERE, PACKAGE

import models
import rekindle
from rekindle.peer import await_end

sys.path.append(str(HERE.parent / "harness"))
from live_processes import kill, processes_naming  # noqa: E402
from programs import build_dir  # noqa: E402

# Processes that must end have so many seconds for it.
ENDS = 60.0
SCRIPT = """
import sys
import rekindle

def task():
    raise NotImplementedError

if __name__ == "__main__":
    result = rekindle.run(task, steps=3, batch=8, workers=2, **eval(sys.argv[1]))
    print(result.digest)
"""
DONE = [{"state": "RUNNING", "step": 1, "loss": 2.5, "step_seconds": 0.1, "tokens_per_second": 80.0},
        {"state": "SUCCEEDED", "step": 3, "state_digest": "abc", "checkpoint_step": 3,
         "loss_curve": [{"step": 1, "value": 2.5}, {"step": 3, "value": 2.25}],
         "validation_curve": [{"step": 3, "value": 2.75}]}]
RUNNING = [{"state": "RUNNING", "step": 2, "loss": 2.0, "step_seconds": 0.1, "tokens_per_second": 80.0}]


def real_program():
    """Returns the program `rekindle` that was built. Skips the test where none was."""
    path = build_dir() / "bin" / "rekindle"
    if not path.exists():
        raise unittest.SkipTest(f"{path} is not built")
    return str(path)


class StandInTest(unittest.TestCase):
    """Gives each test a stand-in for the program, and a folder for state."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rekindle-run-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # A stand-in that follows a job does not see that its script was killed.
        self.addCleanup(lambda: kill(pid for pid, _ in processes_naming(str(self.folder))))
        for name in ("bin", "state", "stand_in", "project"):
            (self.folder / name).mkdir()
        program = self.folder / "bin" / "rekindle"
        stand_in = str(HERE / "rekindle_stand_in.py")
        program.write_text(f"#!{sys.executable} -IS\nimport runpy\nrunpy.run_path({stand_in!r})\n")
        program.chmod(0o755)
        environment = {"REKINDLE_BIN": str(self.folder / "bin"), "XDG_STATE_HOME": str(self.folder / "state"),
                       "STAND_IN": str(self.folder / "stand_in"), "PYTHONPATH": str(PACKAGE)}
        patched = mock.patch.dict(os.environ, environment)
        patched.start()
        self.addCleanup(patched.stop)
        self.plan(watch=DONE)

    def plan(self, **what):
        (self.folder / "stand_in" / "plan.json").write_text(json.dumps(what))

    def calls(self):
        """Returns what the stand-in has noted, and begins anew."""
        file = self.folder / "stand_in" / "calls"
        lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    def verbs(self):
        """Returns the words of the calls since the last question, without the flags that all have."""
        return [" ".join(call["words"]).removesuffix(" --endpoint 127.0.0.1:1 -o json")
                for call in self.calls() if "words" in call]

    def status(self):
        return json.loads((self.folder / "stand_in" / "job.json").read_text())["status"]

    def set_status(self, **status):
        file = self.folder / "stand_in" / "job.json"
        job = json.loads(file.read_text())
        job["status"].update(status)
        file.write_text(json.dumps(job))

    def run_task(self, task=models.perceptron, **arguments):
        """Returns the result of a run in this process, and what it has printed."""
        printed = io.StringIO()
        with contextlib.redirect_stderr(printed):
            result = rekindle.run(task, **{"steps": 3, "batch": 8, "name": "small", **arguments})
        return result, printed.getvalue()

    def submitted(self, **arguments):
        """Returns the job file that submit() has written."""
        rekindle.submit(models.perceptron, **arguments)
        return next(call["job"] for call in self.calls() if "job" in call)

    def script(self, text=SCRIPT, arguments="{}", name="train.py"):
        path = self.folder / "project" / name
        path.write_text(text)
        return [sys.executable, str(path), arguments]

    def start(self, command):
        """Starts a script whose lines on standard error can be read while it runs."""
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                                   start_new_session=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def refusal(self, text, name="train.py"):
        """Runs a script that is refused, and returns the last lines of what it says."""
        done = subprocess.run(self.script(text, name=name), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("rekindle.errors.Refused", done.stderr)
        self.assertEqual(self.calls(), [])
        return done.stderr.partition("rekindle.errors.Refused: ")[2]

    def assert_stopped(self):
        """Checks that the cluster of the last run has ended."""
        self.assertEqual(await_end([int((self.folder / "stand_in" / "up.pid").read_text())], ENDS), [])
