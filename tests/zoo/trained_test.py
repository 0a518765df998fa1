"""Tests that a job trains each model to the same bits on one worker, and on two of which one is killed.

usage: trained_test.py [always | rotated | even | odd | part | all | NAME,...]

zoo_test.py says what the words mean. REKINDLE_ZOO_TABLE names a page, into whose table the digests are written."""
import os
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "python"), str(HERE.parent / "harness"), str(HERE)]

import base  # noqa: E402, F401

import choice  # noqa: E402
import packages  # noqa: E402
import table  # noqa: E402
from cluster import Cluster  # noqa: E402
from timelines import completions, stray_steps  # noqa: E402
from waiting import wait_until  # noqa: E402

NODES = ("a", "b")
# The micro-batches of a step, and so many steps that a job is still running when its worker is killed.
MICRO_BATCHES, STEPS, KILLED_AFTER = 8, 60, 3


def job(model, name, workers):
    return {"name": name, "spec": {
        "seed": 3, "workers": {"min": workers, "max": workers}, "model": {"python": model.spec, "folder": str(HERE)},
        "training": {"steps": STEPS, "global_batch": MICRO_BATCHES * model.micro_batch,
                     "micro_batch": model.micro_batch, "reduce": "exact"},
        "optimizer": {"kind": "adamw", "learning_rate": 1e-3}, "checkpoint": {"every_steps": 0}}}


class Trained(unittest.TestCase):
    """Has a test for each model that was chosen. All jobs are trained by one cluster."""

    rows = {}

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="rekindle-zoo-")
        cls.addClassCleanup(folder.cleanup)
        paths = os.pathsep.join(filter(None, [str(ROOT / "python"), packages.use()]))
        cls.cluster = Cluster(pathlib.Path(folder.name, "cluster"), nodes=NODES,
                              worker_flags={node: ["--python", sys.executable] for node in NODES},
                              worker_env={node: {"PYTHONPATH": paths} for node in NODES})
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def await_end(self, name):
        status = self.cluster.await_end(name)
        self.assertEqual(status["state"], "SUCCEEDED", status["reason"])
        return status

    def examined(self, model):
        name = model.name.replace("_", "-")
        self.cluster.submit(job(model, f"{name}-alone", 1))
        alone = self.await_end(f"{name}-alone")
        uid = self.cluster.submit(job(model, f"{name}-pair", 2))["uid"]

        def marks():
            return [mark for mark in self.cluster.marks() if mark["job"] == uid]
        wait_until(lambda: max(completions(marks()), default=0) >= KILLED_AFTER, 120, f"{name} to step", poll=0.01)
        self.assertTrue(self.cluster.nodes["b"].kill_trainers())
        pair = self.await_end(f"{name}-pair")
        self.assertIn("trainer_killed", [fault["kind"] for fault in pair["faults"]],
                      f"the job had ended before its worker was killed; let it make more than {STEPS} steps")
        self.assertEqual(pair["steps_redone"], 0, pair["faults"])
        self.assertEqual(stray_steps(marks()), [])
        self.assertEqual(pair["state_digest"], alone["state_digest"])
        self.rows[model.name] = {"digest": f"`{alone['state_digest'][:12]}`"}

    @classmethod
    def tearDownClass(cls):
        table.write(cls.rows)


if __name__ == "__main__":
    choice.add_tests(Trained, choice.those_that_run(choice.chosen(sys.argv[1:])))
    unittest.main(argv=sys.argv[:1], verbosity=2)
