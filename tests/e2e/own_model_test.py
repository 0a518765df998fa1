"""Tests that a user's own model survives what the models of Rekindle survive, with the same digest.

The model is a module in `tests/python/tasks`. It runs in the interpreter that REKINDLE_PYTHON names, beside each
trainer."""
import os
import pathlib
import signal
import sys
import unittest

from base import ClusterTest, kill, steps_done, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("REKINDLE_PYTHON", "")
STEPS = 60


def children_of(pid):
    """Returns {pid: the words of its command} of a process's children."""
    children = {}
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            words = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            children[int(child)] = [word.decode() for word in words]
    return children


class OwnModelTest(ClusterTest):
    def start(self, nodes=("n1", "n2", "n3")):
        env = {"PYTHONPATH": str(ROOT / "python")}
        return self.cluster(nodes=nodes, name=f"cluster-{len(nodes)}",
                            worker_flags={node: ["--python", PYTHON] for node in nodes},
                            worker_env={node: env for node in nodes})

    def job(self, task, workers=3, steps=STEPS):
        return {"name": "job", "spec": {
            "seed": 3, "workers": {"min": 1, "max": workers},
            "model": {"python": task, "folder": str(ROOT / "tests" / "python" / "tasks")},
            "training": {"steps": steps, "global_batch": 12, "micro_batch": 2, "reduce": "exact"},
            "optimizer": {"kind": "adamw", "learning_rate": 2e-3}, "checkpoint": {"every_steps": 15}}}

    def undisturbed(self, task, steps=STEPS):
        cluster = self.start(("only",))
        cluster.submit(self.job(task, workers=1, steps=steps))
        digest = self.await_end(cluster, "job")["state_digest"]
        cluster.stop()
        return digest

    def model_processes(self, cluster, node):
        """Returns the pids of the model processes on a node."""
        return [pid for trainer in cluster.nodes[node].pids("trainer")
                for pid, words in children_of(trainer).items() if "rekindle.child" in words]

    def await_steps(self, cluster, more=5):
        before = steps_done(cluster)
        wait_until(lambda: steps_done(cluster) >= before + more, 120, "more steps", poll=0.01)

    def test_the_digest_is_that_of_one_worker_whatever_dies(self):
        cluster = self.start()
        cluster.submit(self.job("models:deep", steps=200))
        wait_until(lambda: steps_done(cluster) > 5, 120, "the job to step", poll=0.05)
        # A model process dies, and one is frozen. That costs no step and no other process.
        trainers = {node: cluster.nodes[node].pids("trainer") for node in cluster.nodes}
        kill(self.model_processes(cluster, "n1"))
        self.await_steps(cluster)
        kill(self.model_processes(cluster, "n2"), signal.SIGSTOP)
        self.await_steps(cluster)
        self.assertEqual({node: cluster.nodes[node].pids("trainer") for node in cluster.nodes}, trainers)
        self.assertEqual(cluster.status("job")["generation"], 1)
        # A trainer dies with its model process, and a node with everything.
        cluster.nodes["n3"].kill_trainers()
        self.await_steps(cluster)
        cluster.nodes["n2"].kill()
        status = self.await_end(cluster, "job")
        self.assertEqual(status["steps_redone"], 0, status)
        self.assertEqual(status["state_digest"], self.undisturbed("models:deep", steps=200))

    def test_buffers_and_noise_do_not_depend_on_the_workers(self):
        for task in ("models:mixed", "models:noisy", "models:memory"):
            with self.subTest(task):
                cluster = self.start(("n1", "n2"))
                cluster.submit(self.job(task, workers=2))
                status = self.await_end(cluster, "job")
                self.assertEqual(status["state_digest"], self.undisturbed(task))
                cluster.stop()

    def test_an_exception_ends_the_job_with_the_users_line(self):
        cluster = self.start(("n1",))
        cluster.submit(self.job("failing:raises_on_two", workers=1))
        status = self.await_end(cluster, "job", state="FAILED")
        self.assertIn("two samples are too few", status["reason"])
        self.assertIn("failing.py", status["reason"])

    def test_nothing_lives_on_when_a_trainer_is_killed(self):
        cluster = self.start(("n1",))
        cluster.submit(self.job("models:deep", workers=1, steps=100_000))
        wait_until(lambda: steps_done(cluster) > 2, 120, "the job to step", poll=0.05)
        [model] = self.model_processes(cluster, "n1")
        everything = [model, *children_of(model)]
        self.assertGreater(len(everything), 1, "the data processes")
        cluster.nodes["n1"].kill_trainers()
        wait_until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in everything), 2,
                   "the processes of the killed trainer to end", poll=0.02)


if __name__ == "__main__":
    if not os.access(PYTHON, os.X_OK):
        print("skipped: no interpreter with PyTorch; set REKINDLE_PYTHON")
        sys.exit(77)
    unittest.main()
