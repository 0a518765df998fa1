"""Tests rekindle.run with the programs that were built, rather than with a stand-in.

usage: run_programs_test.py [RealTest | KilledTest]"""
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from unittest import mock

import base

from rekindle.peer import await_end
from run_base import StandInTest, real_program

# These are in a folder that run_base finds.
from live_processes import kill, processes, processes_naming, with_descendants
from waiting import wait_until

EXAMPLE = base.PACKAGE.parent / "examples" / "python" / "train.py"
# The example makes its first steps, and has ended, after so many seconds at the latest. What it leaves behind when it
# is killed saves its state and ends within so many.
START_SECONDS, END_SECONDS, LEFT_SECONDS = 180, 400, 30


class RealTest(StandInTest):
    """Trains with the programs that were built, where they know models of users."""

    TRAIN = """
import json
import os
import sys

import torch

import rekindle

def task():
    assert os.environ["TEST_VALUE"] == "of this run"
    module = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    data = [(point, int(point.sum() > 0)) for point in torch.randn(64, 2)]

    def loss(module, batch):
        points, classes = batch
        summed = torch.nn.functional.cross_entropy(module(points), classes, reduction="sum")
        return rekindle.Sum(summed, len(classes))

    return rekindle.Task(module, data=data, loss=loss)

if __name__ == "__main__":
    name, workers = sys.argv[1].split(":")
    result = rekindle.run(task, steps=20, batch=8, micro_batch=2, workers=int(workers), name=name, checkpoint=10,
                          optimizer=rekindle.AdamW(0.05), env_from=["TEST_VALUE"])
    print(json.dumps({"digest": result.digest, "steps": len(result.losses), "first": result.losses[0][1],
                      "last": result.losses[-1][1], "names": sorted(result.state_dict())}))
"""

    def test_two_workers_and_one_give_one_digest(self):
        program = real_program()
        told = subprocess.run([program, "up", "--help"], capture_output=True, text=True, check=True).stdout
        if "--python" not in told:
            self.skipTest(f"{program} does not train models of users")
        with mock.patch.dict(os.environ, {"REKINDLE_BIN": os.path.dirname(program), "TEST_VALUE": "of this run"}):
            results = []
            for run in ("two:2", "one:1"):
                done = subprocess.run(self.script(self.TRAIN, run), capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                results.append(json.loads(done.stdout))
        self.assertEqual(results[0], results[1])
        self.assertEqual((results[0]["steps"], results[0]["names"]),
                         (20, ["0.bias", "0.weight", "2.bias", "2.weight"]))
        self.assertLess(results[0]["last"], results[0]["first"])


class Run:
    """Is one run of the example, as a user starts it in a shell. What it writes goes to files in `folder`."""

    def __init__(self, folder, state, name):
        self.results, self.progress = folder / f"{name}.out", folder / f"{name}.err"
        with open(self.results, "wb") as results, open(self.progress, "wb") as progress:
            self.process = subprocess.Popen(
                [sys.executable, str(EXAMPLE)], stdin=subprocess.DEVNULL, stdout=results, stderr=progress,
                env={**os.environ, "XDG_STATE_HOME": str(state)}, start_new_session=True)

    def told(self):
        return f"{self.results.read_text()}{self.progress.read_text()}"

    def asked(self, verb):
        """Returns what `rekindle` answers about the job, or None while there is nothing to ask."""
        if self.process.poll() is not None:
            raise AssertionError(f"the script has ended with {self.process.returncode}: {self.told()}")
        shown = re.search(r"`rekindle watch train --endpoint (\S+)`", self.progress.read_text())
        if not shown:
            return None
        done = subprocess.run([real_program(), verb, "train", "--endpoint", shown[1], "-o", "json"],
                              capture_output=True, text=True, timeout=60, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def await_step(self, step):
        """Returns the job once it runs, has made `step` steps, and has a checkpoint that outlives its trainers."""
        def there():
            job = self.asked("get")
            status = job["status"] if job else {"state": ""}
            return status["state"] == "RUNNING" and status["step"] >= step and status["checkpoint_step"] > 0 and job
        return wait_until(there, START_SECONDS, f"step {step}", poll=0.02)

    def await_resumed(self, times):
        """Waits until the job has gone on from a checkpoint so many times. Returns the step of the last one."""
        def there():
            texts = [event["text"] for event in (self.asked("events") or {"events": []})["events"]]
            steps = [found[1] for text in texts if (found := re.search(r" from checkpoint \S+ of step (\d+)", text))]
            return steps if len(steps) >= times else None
        return int(wait_until(there, START_SECONDS, f"the job to go on for the {times}. time", poll=0.05)[-1])

    def digest(self):
        """Waits for the end of the run, and returns the digest that it prints."""
        if self.process.wait(END_SECONDS) != 0:
            raise AssertionError(f"the script has ended with {self.process.returncode}: {self.told()}")
        return re.search(r"(?m)^digest ([0-9a-f]{16,}), weights in /", self.results.read_text())[1]


class KilledTest(StandInTest):
    """Kills the script examples/python/train.py by SIGKILL while it trains with the programs that were built."""

    def setUp(self):
        super().setUp()
        patched = mock.patch.dict(os.environ, {"REKINDLE_BIN": os.path.dirname(real_program())})
        patched.start()
        self.addCleanup(patched.stop)

    def begin(self, name, state):
        run = Run(self.folder, self.folder / state, name)
        self.addCleanup(run.process.wait)
        self.addCleanup(run.process.kill)
        return run

    def kill(self, run, job, whole_tree):
        """Kills the script alone, or all that it has started as well, and checks that nothing of it lives on."""
        self.assertGreater(job["status"]["step"], 0)
        self.assertLess(job["status"]["step"], job["status"]["resolved_spec"]["training"]["steps"])
        tree = with_descendants([run.process.pid])
        names = " ".join(word for pid, words in processes() if pid in tree for word in words)
        for name in ("rekindle-coordinator", "rekindle-checkpoint", "rekindle-own-trainer"):
            self.assertIn(name, names)
        if whole_tree:
            # All processes are stopped first, so that none sees another one end, and none starts one.
            kill(tree, signal.SIGSTOP)
            while more := with_descendants(tree) - tree:
                kill(more, signal.SIGSTOP)
                tree |= more
            kill(tree)
        else:
            run.process.kill()
        self.assertEqual(run.process.wait(END_SECONDS), -signal.SIGKILL)
        self.assertEqual(run.results.read_text(), "", "the script was killed after it had trained")
        began = time.monotonic()
        self.assertEqual(await_end(tree, LEFT_SECONDS), [], "these live on after their script was killed")
        wait_until(lambda: not processes_naming(str(self.folder)), LEFT_SECONDS, "what the script had started to end")
        print(f"killed at step {job['status']['step']}: nothing of {len(tree)} processes was left after "
              f"{time.monotonic() - began:.1f} s", flush=True)

    def test_a_script_that_is_killed_twice_ends_with_the_digest_of_an_undisturbed_run(self):
        first = self.begin("first", "disturbed")
        before = first.await_step(80)
        self.kill(first, before, whole_tree=False)
        second = self.begin("second", "disturbed")
        # What a killed script leaves behind saves its state before it ends.
        self.assertGreaterEqual(second.await_resumed(1), before["status"]["step"])
        between = second.await_step(220)
        self.assertEqual(between["uid"], before["uid"])
        self.kill(second, between, whole_tree=True)
        third = self.begin("third", "disturbed")
        # Nothing was left that could have saved what came after the newest checkpoint.
        self.assertGreaterEqual(third.await_resumed(2), between["status"]["checkpoint_step"])
        self.assertEqual(third.asked("get")["uid"], before["uid"])
        digest = third.digest()
        self.assertEqual(digest, self.begin("undisturbed", "undisturbed").digest())
        wait_until(lambda: not processes_naming(str(self.folder)), LEFT_SECONDS, "the programs of both runs to end")


if __name__ == "__main__":
    unittest.main()
