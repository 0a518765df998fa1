"""Holds what the end-to-end tests share: a small job, a cluster in a temporary folder, digests without faults."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
from cluster import Cluster  # noqa: E402,F401
from faults import Injector, steps_done  # noqa: E402,F401
from jobs import small_job, text_file  # noqa: E402,F401
from live_processes import end_all, kill, processes, processes_naming  # noqa: E402,F401
from timelines import stray_steps  # noqa: E402,F401
from waiting import wait_until  # noqa: E402,F401

# DIGESTS maps a spec to the digest of its undisturbed run, once this test program has made that run.
DIGESTS = {}


class ClusterTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="rekindle-e2e-")
        self.text = text_file(self.folder)
        # Cleanups run in reverse order, so the folder is removed after each cluster was stopped.
        self.addCleanup(self.remove_folder)

    def remove_folder(self):
        left = processes_naming(self.folder)
        end_all([pid for pid, _ in left], 60)
        outcome = getattr(self._outcome, "result", None)
        failed = outcome and any(t is self for t, _ in [*outcome.failures, *outcome.errors])
        if left or failed or os.environ.get("REKINDLE_KEEP"):
            print(f"{self.id()}: logs and timelines are in {self.folder}", file=sys.stderr)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.assertEqual(left, [], "these still ran when the test had ended")

    def cluster(self, nodes=("n1", "n2", "n3"), name="cluster", **options):
        return self.guarded(Cluster(pathlib.Path(self.folder) / name, nodes=nodes, **options)).start()

    def guarded(self, cluster):
        """Stops the cluster at the end of the test, and then checks that only one generation stepped at a time."""
        self.addCleanup(lambda: self.assertEqual(stray_steps(cluster.marks()), []))
        self.addCleanup(cluster.stop)
        return cluster

    def await_end(self, cluster, job, seconds=300, state="SUCCEEDED"):
        status = cluster.await_end(job, seconds)
        self.assertEqual(status["state"], state, status["reason"])
        return status

    def undisturbed_digest(self, spec):
        """Returns the digest of `spec` when one worker trains it without faults on the CPU, in a cluster of its own.

        The key in DIGESTS leaves out paths, which differ from test to test. The text of the data is always the
        same."""
        key = json.dumps({name: part for name, part in spec["spec"].items()
                          if name not in ("data", "checkpoint", "workers")})
        if key not in DIGESTS:
            with Cluster(pathlib.Path(self.folder) / "undisturbed", nodes=("only",), device="cpu") as cluster:
                cluster.start()
                cluster.submit({**spec, "name": "undisturbed"})
                DIGESTS[key] = self.await_end(cluster, "undisturbed")["state_digest"]
        return DIGESTS[key]

    def assert_undisturbed(self, status, spec):
        self.assertTrue(status["state_digest"])
        self.assertEqual(status["state_digest"], self.undisturbed_digest(spec))


class TakenOverTest(ClusterTest):
    """Tests that a coordinator with older records takes over the live trainers.

    `running` is the cluster, and `pids` are its trainers."""

    def events(self, kind):
        return [event["text"] for event in self.running.cli("events")["events"] if event["kind"] == kind]

    def await_event(self, kind):
        return wait_until(lambda: self.events(kind), 60, f"an event {kind}", poll=0.1)

    def assert_goes_on(self):
        done = steps_done(self.running)
        wait_until(lambda: steps_done(self.running) > done + 10, 60, "the trainers to step", poll=0.02)
        self.assertEqual(self.running.trainer_pids(), self.pids)

    def await_superseded(self):
        def said():
            done = subprocess.run(self.running.command("jobs"), capture_output=True, text=True, timeout=60)
            return "superseded by" in done.stderr
        wait_until(said, 60, "the coordinator of before to say that it is superseded", poll=0.1)
