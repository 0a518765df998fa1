"""Tests the scripts in examples/: each is equal in the check of its task, and trains to its end.

Two of them also train on a cluster that suffers every fault of the demo, to the digest of an undisturbed run.

usage: own_examples_test.py [every_script_is_here | check | run | faults_of_vision | faults_of_hf]..."""
import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "python"), str(HERE.parent / "harness"), str(HERE.parent / "chaos"), str(HERE)]

import base  # noqa: E402
import oracle  # noqa: E402
import packages  # noqa: E402
import run_base  # noqa: E402
from cluster import Cluster  # noqa: E402
from faults import KINDS, Injector, steps_done  # noqa: E402
from live_processes import processes_naming  # noqa: E402
from rekindle.running import describing  # noqa: E402

# Says for each script how a job of it names its task.
SCRIPTS = {"python": "train:task", "vision": "train:task",
           "hf-causal-lm": "train:hf.model_init.args.train_set.held_out",
           "hf-classification": "train:hf.model_init.args.train_set.held_out.collate"}
# Says for each script that is disturbed how its job differs from what the script asks for. The job makes steps while
# new nodes start, so it has about half as many again as were done when the last fault was over. A step of the ResNet
# is made smaller here, and one of the Llama larger, so that few steps are enough.
DISTURBED = {"vision": {"steps": 180, "global_batch": 16, "micro_batch": 4},
             "hf-causal-lm": {"steps": 260, "global_batch": 192}}
WORKERS, EVERY_STEPS = 3, 15
# A new node has so many seconds to start its trainer and to join, on a machine that does other things as well.
PATIENCE = 300


class ExamplesTest(unittest.TestCase):
    def python(self, *words, **environment):
        done = subprocess.run([sys.executable, *words], env={**os.environ, "PYTHONPATH": self.paths(), **environment},
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def paths(self):
        """Returns where a Python finds the package rekindle, and what only the examples need."""
        return os.pathsep.join([str(base.PACKAGE), *filter(None, (os.environ.get("REKINDLE_ZOO_PACKAGES"),
                                                                  *(path for path in sys.path if "zoo" in path)))])

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

    def test_faults_of_vision(self):
        self.suffers("vision")

    def test_faults_of_hf(self):
        self.suffers("hf-causal-lm")

    def suffers(self, name):
        """Trains a script's job through every fault, and once without any, and compares the digests."""
        run_base.real_program()
        with self.folder() as folder:
            job = self.job(name, folder)
            began = time.monotonic()
            found, rows, reached = self.disturbed(job, folder)
            ended = time.monotonic()
            digest = self.undisturbed(job, folder)
            self.assertEqual([row["kind"] for row in rows], KINDS)
            for row in rows[:-1]:
                self.assertEqual(row["steps_redone"], 0, row)
            # The checkpoint before the newest one may be the newest that is durable.
            self.assertLessEqual(rows[-1]["steps_redone"], 2 * EVERY_STEPS, rows[-1])
            self.assertEqual(list(oracle.judge(found._replace(digest=digest))), [])
            self.assertEqual(processes_naming(str(folder)), [], "these still ran when the clusters had ended")
            print(f"{name}: {len(rows)} faults, the last one over at step {reached} of {DISTURBED[name]['steps']}; "
                  f"{ended - began:.0f} s, and {time.monotonic() - ended:.0f} s undisturbed; both have the digest "
                  f"{digest}", flush=True)

    @contextlib.contextmanager
    def folder(self):
        """Gives a folder, which is kept if the test fails in it."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="rekindle-examples-"))
        try:
            yield folder
        except BaseException:
            print(f"{self.id()}: logs and timelines are in {folder}", file=sys.stderr)
            raise
        shutil.rmtree(folder, ignore_errors=True)

    def cluster(self, folder):
        """Returns a cluster of three nodes. What is said of other nodes holds for those that are added later."""
        nodes = [f"n{number}" for number in range(1, 6)]
        return Cluster(folder, nodes=nodes[:WORKERS],
                       worker_flags={node: ["--python", sys.executable] for node in nodes},
                       worker_env={node: {"PYTHONPATH": self.paths()} for node in nodes})

    def job(self, name, folder):
        """Returns the job that `rekindle submit` makes of a script, with what differs here."""
        described = folder / f"{name}.json"
        self.python(str(ROOT / "examples" / name / "train.py"), **{describing.VARIABLE: str(described)})
        job = json.loads(described.read_text())
        self.assertEqual(job["spec"]["model"]["python"], SCRIPTS[name])
        job["spec"]["training"].update(DISTURBED[name])
        job["spec"]["workers"] = {"min": 1, "max": WORKERS}
        job["spec"]["checkpoint"] = {"every_steps": EVERY_STEPS, "keep_last": 2}
        return job

    def disturbed(self, job, folder):
        """Trains a job through all faults.

        Returns what the oracle judges, what the faults cost, and the step after the last one."""
        begun = {}
        with self.cluster(folder / "disturbed") as cluster:
            cluster.start()
            job = cluster.submit(job)
            inject = Injector(cluster, job["uid"], lambda kind, _: begun.setdefault(kind, time.monotonic()), PATIENCE)
            inject.every_fault()
            reached = steps_done(cluster)
            self.await_end(cluster, job["uid"])
            job, events = cluster.cli("get", job["uid"]), cluster.events(job["uid"])["events"]
        # The frozen trainer goes on before the next fault begins.
        silences = [({"n2"}, begun["trainer_frozen"], begun["agent_killed"])]
        return oracle.Found(marks=cluster.marks(), events=events, jobs={job["uid"]: job}, costs={}, silences=silences,
                            damaged=False, prices=collections.Counter(), uncounted=0, digest=""), inject.rows, reached

    def undisturbed(self, job, folder):
        """Returns the digest of a job when as many workers train it from its begin to its end."""
        job["spec"]["workers"]["min"] = WORKERS
        with self.cluster(folder / "undisturbed") as cluster:
            cluster.start()
            status = self.await_end(cluster, cluster.submit(job)["uid"])
        self.assertEqual({mark["world"] for mark in cluster.marks() if mark["event"] == "step"}, {WORKERS})
        self.assertEqual(status["faults"], [])
        self.assertTrue(status["state_digest"])
        return status["state_digest"]

    def await_end(self, cluster, job):
        status = cluster.await_end(job)
        self.assertEqual(status["state"], "SUCCEEDED", status["reason"])
        return status


if __name__ == "__main__":
    try:
        packages.use(install_them=True)
    except packages.Missing as why:
        print(f"skipped: transformers and torchvision are not there: {' '.join(str(why).split())}")
        sys.exit(77)
    chosen = [f"ExamplesTest.test_{word}" for word in sys.argv[1:]]
    unittest.main(argv=[sys.argv[0], *chosen], verbosity=2)
