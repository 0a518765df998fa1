"""Tests rekindle.run: its result, going on, beginning anew, Ctrl-C, errors of the user's code, and what it shows."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import unittest
from unittest import mock

import base  # noqa: F401

import torch

import rekindle
from rekindle.running import programs
from run_base import DONE, ENDS, RUNNING, SCRIPT, StandInTest


def first_words(verbs):
    return [verb.split()[0] for verb in verbs]


class RunTest(StandInTest):
    def test_a_run_and_its_result(self):
        result, printed = self.run_task(workers=2)
        up, get, submit, watch, export = self.verbs()
        self.assertRegex(up, rf"^up --workers 2 --dir {self.folder}/state/rekindle/run/\w+ --port 0 --web off "
                             rf"--python {re.escape(sys.executable)} -o json$")
        self.assertEqual((get, watch), ("get small", "watch uid1"))
        self.assertRegex(submit, r"^submit .*/jobs/small\.json$")
        self.assertEqual(export, f"checkpoint export uid1 {result.path}.new")
        self.assertEqual((result.name, result.uid, result.digest), ("small", "uid1", "abc"))
        self.assertEqual((result.losses, result.validation), ([(1, 2.5), (3, 2.25)], [(3, 2.75)]))
        self.assertEqual(result.checkpoint, "/nowhere/uid1/manifests/1-3-n1.json")
        self.assertIn("digest='abc', losses: 2 points, the last one (3, 2.25); validation: 1 points", repr(result))
        state = result.state_dict()
        self.assertEqual({name: tensor.tolist() for name, tensor in state.items()}, {"w": [[1.0], [2.0]], "empty": []})
        self.assertEqual(pathlib.Path(result.folder, "weights", "uid1"), pathlib.Path(result.path))
        self.assertIn("rekindle: trains job small on this machine with 2 workers; ", printed)
        self.assertIn("\nstep 1/3  loss 2.5000  80.0 samples/s  ETA 0s\n", printed)
        self.assertIn("\nstep 3/3", printed)
        self.assertIn("job small has made all its 3 steps; the digest of its state is abc", printed)
        self.assert_stopped()

    def test_a_second_run_gives_the_result_again(self):
        first, _ = self.run_task()
        self.calls()
        second, printed = self.run_task()
        self.assertEqual(second, first)
        self.assertEqual(second.state_dict()["w"].tolist(), [[1.0], [2.0]])
        self.assertEqual(first_words(self.verbs()), ["up", "get", "checkpoint"])
        self.assertIn("job small was trained before, and this is its result; fresh=True trains anew", printed)

    def test_a_paused_job_goes_on(self):
        self.run_task()
        self.set_status(state="PAUSED", step=2)
        self.calls()
        self.plan(watch=DONE, export="no checkpoint")
        result, printed = self.run_task()
        self.assertEqual(first_words(self.verbs()), ["up", "get", "resume", "watch", "checkpoint"])
        self.assertIn("job small goes on from step 2", printed)
        self.assertEqual((result.digest, result.path), ("abc", None))
        with self.assertRaisesRegex(rekindle.Refused, "could not be exported: no checkpoint"):
            result.state_dict()

    def test_a_job_whose_process_was_killed_goes_on(self):
        self.run_task()
        for state in ("PENDING", "RUNNING", "FINISHING"):
            self.set_status(state=state, step=1)
            self.calls()
            result, _ = self.run_task()
            self.assertEqual(first_words(self.verbs()), ["up", "get", "watch", "checkpoint"])
            self.assertEqual(result.digest, "abc")

    def test_a_job_that_failed_goes_on_from_its_newest_checkpoint(self):
        self.run_task()
        self.set_status(state="FAILED", step=2, checkpoint_step=1)
        self.calls()
        result, printed = self.run_task()
        self.assertEqual(first_words(self.verbs()), ["up", "get", "resume", "watch", "checkpoint"])
        self.assertEqual(result.uid, "uid1")
        self.assertIn("job small has failed before, at step 2, and goes on from its checkpoint of step 1; fresh=True "
                      "trains anew", printed)

    def test_a_job_that_failed_begins_anew_without_a_checkpoint_or_with_other_arguments(self):
        self.run_task()
        for uid, arguments, checkpoint, why in (
                ("uid2", {}, -1, ""), ("uid3", {"batch": 16}, 1, ", with other arguments (batch was 8 and is 16)")):
            self.set_status(state="FAILED", step=2, checkpoint_step=checkpoint)
            self.calls()
            result, printed = self.run_task(**arguments)
            self.assertEqual(first_words(self.verbs()), ["up", "get", "submit", "watch", "checkpoint"])
            self.assertEqual(result.uid, uid)
            self.assertIn(f"has failed before, at step 2{why}, and begins anew", printed)

    def test_other_arguments_are_not_mixed_with_an_earlier_job(self):
        self.run_task()
        for status in ({"state": "SUCCEEDED"}, {"state": "PAUSED"}):
            self.set_status(**status)
            with self.assertRaises(rekindle.Refused) as refused:
                self.run_task(batch=16, optimizer=rekindle.SGD())
            self.assertIn("batch was 8 and is 16; optimizer.kind was adamw and is sgd", refused.exception.message)
            self.assertIn("fresh=True", refused.exception.message)
            self.assert_stopped()

    def test_a_job_of_somebody_else_is_left_alone(self):
        self.run_task()
        self.set_status(state="RUNNING")
        self.calls()
        shutil.rmtree(self.folder / "state")
        for arguments in ({}, {"fresh": True}, {"cluster": "127.0.0.1:1"}, {"cluster": "127.0.0.1:1", "fresh": True}):
            with self.assertRaisesRegex(rekindle.Refused, "was not begun from this folder"):
                self.run_task(**arguments)
            self.assertIn("get small", self.verbs()[-1])

    def test_a_process_that_was_killed_while_it_submitted(self):
        self.run_task()
        self.set_status(state="RUNNING", step=1)
        [record] = self.folder.glob("state/rekindle/run/*/jobs/small.submitted.json")
        record.unlink()
        result, printed = self.run_task()
        self.assertIn("job small goes on from step 1", printed)
        self.assertEqual(result.digest, "abc")

    def test_fresh_forgets_the_earlier_job(self):
        first, _ = self.run_task()
        up = self.verbs()[0].split()
        checkpoints = pathlib.Path(up[up.index("--dir") + 1], "checkpoints")
        for status, verbs in (({"state": "SUCCEEDED"}, ["up", "get", "rm", "submit", "watch", "checkpoint"]),
                              ({"state": "RUNNING"}, ["up", "get", "cancel", "submit", "watch", "checkpoint"])):
            self.plan(watch=DONE, store=f"file://{checkpoints}")
            uid = json.loads((self.folder / "stand_in" / "job.json").read_text())["uid"]
            self.set_status(**status, resolved_spec={"checkpoint": {"store": f"file://{checkpoints}"}})
            (checkpoints / uid).mkdir(parents=True)
            result, _ = self.run_task(fresh=True, batch=16)
            self.assertEqual(first_words(self.verbs()), verbs)
            self.assertNotEqual(result.uid, uid)
            # What a job that still ran wrote stays, because its trainers may be writing.
            self.assertEqual((checkpoints / uid).exists(), status["state"] == "RUNNING")
        self.assertFalse(pathlib.Path(first.path).exists())

    def test_a_changed_file_is_told(self):
        helper, unused = (self.folder / "project" / name for name in ("helper.py", "unused.py"))
        helper.write_text("")
        command = self.script("import helper\n" + SCRIPT, arguments="{}")

        def said():
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            self.assertEqual(done.stdout, "abc\n")
            return done.stderr

        self.assertNotIn("changed", said())
        unused.write_text("# It is not imported.\n")
        self.assertNotIn("changed", said())
        helper.write_text("# Another line.\n")
        self.assertIn("helper.py has changed since job train was begun", said())
        (self.folder / "project" / "train.py").write_text("import helper, unused\n" + SCRIPT)
        self.assertIn("helper.py, train.py, unused.py have changed since job train was begun", said())

    def test_weights_go_into_a_module(self):
        result, _ = self.run_task()

        class Trained(torch.nn.Module):
            def __init__(self, rows=2):
                super().__init__()
                self.w = torch.nn.Parameter(torch.zeros(rows, 1, dtype=torch.bfloat16))
                self.empty = torch.nn.Parameter(torch.zeros(0))
                self.frozen = torch.nn.Parameter(torch.full((2,), 7.0), requires_grad=False)

        whole, inside = Trained(), Trained()
        result.load_into(whole)
        result.load_into(torch.compile(inside))
        for module in (whole, inside):
            self.assertEqual((module.w.tolist(), module.frozen.tolist()), ([[1.0], [2.0]], [7.0, 7.0]))
        with self.assertRaisesRegex(rekindle.Refused, r"trained w of the shape \[2, 1\], .* one of the shape \[3, 1\]"):
            result.load_into(Trained(3))
        with self.assertRaisesRegex(rekindle.Refused, "the module Linear has no such tensor"):
            result.load_into(torch.nn.Linear(1, 1))

    def test_values_of_the_environment(self):
        with mock.patch.dict(os.environ, {"TEST_ONE": "a b=c", "TEST_TWO": "2"}):
            result, _ = self.run_task(workers=2, env_from=["TEST_TWO", "TEST_ONE"])
        self.assertEqual([call["job"]["spec"]["model"]["env_from"] for call in self.calls() if "job" in call],
                         [["TEST_ONE", "TEST_TWO"]])
        for node in ("n1", "n2"):
            values = pathlib.Path(result.folder, "nodes", node, "env_from")
            self.assertEqual(values.read_text(), "TEST_ONE=a b=c\nTEST_TWO=2\n")
            self.assertEqual(values.stat().st_mode & 0o777, 0o600)
        with self.assertRaisesRegex(rekindle.Refused, "env_from has TEST_ONE, which is not set here"):
            self.run_task(env_from=["TEST_ONE"])
        # A job that an earlier run has left goes on beside another one, also on a node that is new.
        with mock.patch.dict(os.environ, {"TEST_TWO": "3"}):
            self.run_task(workers=3, micro_batch=2, name="other", env_from=["TEST_TWO"])
        for node in ("n1", "n2", "n3"):
            values = pathlib.Path(result.folder, "nodes", node, "env_from")
            self.assertEqual(values.read_text(), "TEST_ONE=a b=c\nTEST_TWO=3\n")

    def test_a_cluster_that_is_there(self):
        result, _ = self.run_task(cluster="127.0.0.1:1")
        self.assertEqual(first_words(self.verbs()), ["get", "submit", "watch", "checkpoint"])
        self.assertEqual(result.digest, "abc")

    def test_a_cluster_that_does_not_start(self):
        self.plan(up="the folder is too long: use a shorter folder")
        with self.assertRaisesRegex(rekindle.Refused, "did not start: the folder is too long.*set XDG_STATE_HOME"):
            self.run_task()

    def test_state_that_cannot_be_written(self):
        self.run_task()
        [jobs] = self.folder.glob("state/rekindle/run/*/jobs")
        shutil.rmtree(jobs)
        jobs.touch()
        with self.assertRaisesRegex(rekindle.Refused, "cannot be written .*set XDG_STATE_HOME"):
            self.run_task()
        jobs.unlink()
        (jobs / "new.json.new").mkdir(parents=True)
        with self.assertRaisesRegex(rekindle.Refused, r"new\.json, a part .* cannot be written \(Is a directory\)"):
            self.run_task(name="new")

    def test_weights_that_cannot_be_written(self):
        self.run_task()
        [weights] = self.folder.glob("state/rekindle/run/*/weights")
        shutil.rmtree(weights)
        weights.touch()
        result, printed = self.run_task()
        self.assertEqual((result.digest, result.path), ("abc", None))
        self.assertRegex(printed, "there are no weights of job small: .*weights: File exists")

    def test_programs_that_are_not_there(self):
        for environment, words in (({"REKINDLE_BIN": str(self.folder)}, "REKINDLE_BIN is"),
                                   ({"REKINDLE_BIN": "", "PATH": str(self.folder)}, "neither in the package nor")):
            with mock.patch.dict(os.environ, environment), self.assertRaisesRegex(rekindle.Refused, words):
                self.run_task()
        with mock.patch.dict(os.environ, {"REKINDLE_BIN": "", "PATH": str(self.folder / "bin")}):
            self.assertEqual(programs.find(), str(self.folder / "bin" / "rekindle"))


class StopTest(StandInTest):
    def read_to(self, process, words):
        """Reads the lines of a script until one has the words."""
        for line in process.stderr:
            if words in line:
                return
        self.fail(f"the script ended without a line with {words!r}: {process.wait()}")

    def assert_interrupted(self, process, words):
        self.assertIn(words, process.stderr.read())
        self.assertEqual(process.wait(ENDS), -signal.SIGINT)
        self.assert_stopped()

    def test_ctrl_c_pauses_the_job_and_the_next_run_goes_on(self):
        self.plan(watch=RUNNING)
        process = self.start(self.script())
        self.read_to(process, "step 2/3")
        process.send_signal(signal.SIGINT)
        self.assert_interrupted(process, "KeyboardInterrupt: job train has stopped after step 2; run again to go on")
        self.assertEqual(self.verbs()[-1], "pause uid1 --wait")
        self.assertEqual(self.status()["state"], "PAUSED")
        self.plan(watch=DONE)
        done = subprocess.run(self.script(), check=True, capture_output=True, text=True)
        self.assertEqual(done.stdout, "abc\n")
        self.assertEqual(first_words(self.verbs()), ["up", "get", "resume", "watch", "checkpoint"])

    def test_ctrl_c_where_the_pause_comes_too_late(self):
        self.plan(watch=RUNNING, pause="the pause came too late")
        process = self.start(self.script())
        self.read_to(process, "step 2/3")
        process.send_signal(signal.SIGINT)
        self.assert_interrupted(process, "could not be paused: the pause came too late")

    def test_a_second_ctrl_c_stops_at_once(self):
        self.plan(watch=RUNNING, pause_waits=True)
        process = self.start(self.script())
        self.read_to(process, "step 2/3")
        process.send_signal(signal.SIGINT)
        self.read_to(process, "Ctrl-C again stops at once")
        process.send_signal(signal.SIGINT)
        self.assert_interrupted(process, "KeyboardInterrupt: job train was stopped at once; run again to go on")

    def test_nothing_is_left_of_a_killed_script(self):
        self.plan(watch=RUNNING)
        process = self.start(self.script())
        self.read_to(process, "step 2/3")
        process.kill()
        process.wait(ENDS)
        self.assert_stopped()
        self.plan(watch=DONE)
        subprocess.run(self.script(), check=True, capture_output=True)

    def test_a_run_waits_for_what_is_left_of_the_one_before(self):
        self.plan(watch=RUNNING, up_lingers=True)
        process = self.start(self.script())
        self.read_to(process, "step 2/3")
        process.kill()
        process.wait(ENDS)
        left = int((self.folder / "stand_in" / "up.pid").read_text())
        self.plan(watch=DONE)
        process = self.start(self.script())
        self.read_to(process, "waits until the earlier run has saved its state")
        os.kill(left, signal.SIGTERM)
        self.assertEqual(process.wait(ENDS), 0, process.stderr.read())

    def test_two_runs_in_one_folder(self):
        self.plan(watch=RUNNING)
        process = self.start(self.script())
        self.read_to(process, "step 2/3")
        done = subprocess.run(self.script(arguments="{'name': 'other'}"), capture_output=True, text=True, check=False)
        self.assertIn(f"trained already, by process {process.pid};", done.stderr)
        process.send_signal(signal.SIGINT)
        self.assert_interrupted(process, "run again to go on")

    def test_the_cluster_dies(self):
        self.plan(watch=RUNNING, up_leaves=True)
        process = self.start(self.script())
        self.read_to(process, "step 2/3")
        os.kill(int((self.folder / "stand_in" / "up.pid").read_text()), signal.SIGKILL)
        self.assertIn("rekindle up was killed by signal 9; what it had started was stopped", process.stderr.read())
        self.assertEqual(process.wait(ENDS), 1)
        self.assertIn({"ended": "left"}, self.calls())


class FailureTest(StandInTest):
    def fails(self, **status):
        with self.assertRaises(rekindle.Failed) as failed:
            self.plan(watch=[{"state": "FAILED", "step": 2, **status}],
                      logs=[{"trainer": "n1/0", "text": "ImportError: no torch"}, {"gap": {"lines": 2}}])
            self.run_task()
        self.assert_stopped()
        return failed.exception

    def test_the_users_lines_are_raised(self):
        lines = 'Traceback (most recent call last):\n  File "train.py", line 3, in forward\nValueError: odd'
        failed = self.fails(reason="trainer n1/0: step 3, the micro-batch 1 raised ValueError: odd; mend the line "
                                   "that the traceback shows", traceback=lines)
        self.assertEqual(failed.message, "job small has failed after step 2: step 3, the micro-batch 1 raised "
                                         "ValueError: odd; mend the line that the traceback shows")
        self.assertEqual(failed.lines, lines)
        self.assertEqual(str(failed), f"{failed.message}\n{lines}")
        self.assertNotIn("logs uid1 --tail 20", self.verbs())

    def test_without_a_traceback_the_last_lines_of_the_log_are_raised(self):
        failed = self.fails(reason="trainers on n1/0 died 3 times in a row without a step: killed by signal 9")
        self.assertIn("died 3 times", failed.message)
        self.assertEqual(failed.lines, "n1/0: ImportError: no torch")
        self.assertIn("logs uid1 --tail 20", self.verbs())

    def test_a_job_that_somebody_cancels(self):
        self.plan(watch=[{"state": "CANCELLED", "step": 2}])
        with self.assertRaisesRegex(rekindle.Failed, "^job small was cancelled at step 2$"):
            self.run_task()


if __name__ == "__main__":
    unittest.main()
