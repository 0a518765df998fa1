"""Tests that a user's own model survives what the models of Rekindle survive, with the same digest.

The model is a module in `tests/python/tasks`. It runs in the interpreter that REKINDLE_PYTHON names, beside each
trainer."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

from base import ClusterTest, kill, steps_done, wait_until
from jobs import TASKS, own_job
from model_processes import children_of, model_processes, warm_processes
from programs import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("REKINDLE_PYTHON", "")
STEPS = 60


class OwnModelTest(ClusterTest):
    # `started` counts the clusters of a test, each of which has a folder of its own.
    started = 0
    # The digests of undisturbed runs by task and steps. Several tests compare theirs with the same one.
    digests = {}

    def start(self, nodes=("n1", "n2", "n3")):
        self.started += 1
        cluster = self.cluster(nodes=nodes, name=f"cluster-{self.started}",
                               worker_flags={node: ["--python", PYTHON, "--isolation-at-most", "none"]
                                             for node in nodes},
                               worker_env={node: {"PYTHONPATH": str(ROOT / "python")} for node in nodes})
        for node in nodes:
            self.give_values(cluster, node)
        return cluster

    def give_values(self, cluster, node):
        """Writes what jobs take from the node's environment."""
        values = cluster.nodes[node].dir / "env_from"
        values.touch(mode=0o600)
        values.write_text(f"TEST_STARTS={self.folder}\n")

    def job(self, task, workers=3, steps=STEPS):
        made = own_job("job", task, steps, workers)
        made["spec"]["model"]["env_from"] = ["TEST_STARTS"]
        made["spec"]["checkpoint"] = {"every_steps": 15}
        return made

    def undisturbed(self, task, steps=STEPS):
        if (task, steps) not in self.digests:
            cluster = self.start(("only",))
            cluster.submit(self.job(task, workers=1, steps=steps))
            self.digests[task, steps] = self.await_end(cluster, "job")["state_digest"]
            cluster.stop()
        return self.digests[task, steps]

    def await_steps(self, cluster, more=5):
        before = steps_done(cluster)
        wait_until(lambda: steps_done(cluster) >= before + more, 120, "more steps", poll=0.01)

    def test_the_digest_is_that_of_one_worker_whatever_dies(self):
        cluster = self.start()
        cluster.submit(self.job("models:deep", steps=200))
        wait_until(lambda: steps_done(cluster) > 5 and len(cluster.status("job")["members"]) == 3, 120,
                   "three workers to step", poll=0.05)
        generation = cluster.status("job")["generation"]
        # A model process dies, and one is frozen. That costs no step and no other process.
        trainers = {node: cluster.nodes[node].pids("trainer") for node in cluster.nodes}
        kill(model_processes(cluster.nodes["n1"]))
        self.await_steps(cluster)
        kill(model_processes(cluster.nodes["n2"]), signal.SIGSTOP)
        self.await_steps(cluster)
        self.assertEqual({node: cluster.nodes[node].pids("trainer") for node in cluster.nodes}, trainers)
        self.assertEqual(cluster.status("job")["generation"], generation)
        # A trainer dies with its model process, and a node with everything.
        cluster.nodes["n3"].kill_trainers()
        self.await_steps(cluster)
        cluster.nodes["n2"].kill()
        status = self.await_end(cluster, "job")
        self.assertEqual(status["steps_redone"], 0, status)
        self.assertEqual(status["state_digest"], self.undisturbed("models:deep", steps=200))

    def test_every_kind_of_state_keeps_its_bits(self):
        """Half the moments of the dead worker are nowhere else with shards, so its step is computed again there."""
        for name, changes in (("sharded", {"training": {"optimizer_state": "sharded", "precision": "bf16"}}),
                              ("muon", {"optimizer": {"kind": "muon"}})):
            digests = set()
            for nodes in (("n1", "n2"), ("only",)):
                with self.subTest(name, nodes=nodes):
                    cluster = self.start(nodes)
                    job = self.job("models:deep", workers=len(nodes), steps=100)
                    for section, fields in changes.items():
                        job["spec"][section].update(fields)
                    cluster.submit(job)
                    if len(nodes) > 1:
                        wait_until(lambda: steps_done(cluster) > 5 and len(cluster.status("job")["members"]) == 2, 120,
                                   "two workers to step", poll=0.05)
                        kill(model_processes(cluster.nodes["n1"]))
                        self.await_steps(cluster)
                        cluster.nodes["n2"].kill_trainers()
                    digests.add(self.await_end(cluster, "job")["state_digest"])
                    cluster.stop()
            self.assertEqual(len(digests), 1, name)

    def test_a_process_that_is_replaced_slowly_is_waited_for(self):
        cluster = self.start(("n1", "n2"))
        cluster.submit(self.job("starting:slow_again", workers=2, steps=400))
        wait_until(lambda: steps_done(cluster) > 5 and len(cluster.status("job").get("members", [])) == 2, 120,
                   "two workers to step", poll=0.05)
        generation = cluster.status("job")["generation"]
        # The new process starts three times as slowly as the shortest deadline between ranks allows.
        kill(model_processes(cluster.nodes["n1"]))
        wait_until(lambda: any("replacing the child" in member.get("note", "")
                               for member in cluster.status("job")["members"]), 10, "the note of the rank", poll=0.02)
        self.await_steps(cluster)
        # The steps may come with the report of the other node.
        wait_until(lambda: not any(member.get("note", "") for member in cluster.status("job")["members"]), 10,
                   "the end of the note", poll=0.02)
        status = cluster.status("job")
        self.assertEqual(status["generation"], generation, status)
        self.assertEqual(self.await_end(cluster, "job")["state_digest"], self.undisturbed("models:deep", steps=400))

    def test_a_process_that_ends_before_it_is_ready_does_not_fail_the_job(self):
        cluster = self.start(("n1",))
        cluster.submit(self.job("starting:ends_once", workers=1))
        self.await_end(cluster, "job")
        self.assertGreater((pathlib.Path(self.folder) / "all").stat().st_size, 1, "it has ended once")

    def test_a_trainer_whose_model_is_not_ready_can_be_told_to_end(self):
        cluster = self.start(("n1",))
        cluster.submit(self.job("starting:never_ready", workers=1))
        wait_until(lambda: (pathlib.Path(self.folder) / "all").exists(), 120, "the task to start", poll=0.05)
        wait_until(lambda: "n1/0 starts: calls starting:never_ready" in cluster.status("job")["reason"], 30,
                   "the job to say what its worker does", poll=0.05)
        [trainer] = cluster.nodes["n1"].pids("trainer")
        [model] = model_processes(cluster.nodes["n1"])
        os.kill(trainer, signal.SIGTERM)
        wait_until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in (trainer, model)), 3,
                   "the trainer and its process to end", poll=0.02)

    def test_buffers_and_noise_do_not_depend_on_the_workers(self):
        for task in ("models:mixed", "models:noisy", "models:memory"):
            with self.subTest(task):
                cluster = self.start(("n1", "n2"))
                cluster.submit(self.job(task, workers=2))
                status = self.await_end(cluster, "job")
                self.assertEqual(status["state_digest"], self.undisturbed(task))
                cluster.stop()

    def test_what_does_not_fit_the_job_is_refused_before_anything_is_trained(self):
        cluster = self.start(("n1",))
        for name, task, words in (("groups", "refused:option_of_a_group", "learning_rate"),
                                  ("drawn", "failing:draws", "the buffer queue")):
            with self.subTest(name):
                job = self.job(task, workers=1)
                job["name"] = name
                cluster.submit(job)
                status = self.await_end(cluster, name, state="FAILED")
                self.assertIn(words, status["reason"])
                self.assertEqual(steps_done(cluster), 0)

    def test_an_exception_ends_the_job_with_the_users_line(self):
        cluster = self.start(("n1",))
        cluster.submit(self.job("failing:raises_on_two", workers=1))
        status = self.await_end(cluster, "job", state="FAILED")
        self.assertIn("two samples are too few", status["reason"])
        self.assertNotIn("\n", status["reason"])
        self.assertIn("failing.py", status["traceback"])
        self.assertNotIn("site-packages", status["traceback"])
        shown = subprocess.run([program("rekindle"), "get", "job", "--endpoint", cluster.endpoint], env=cluster.env,
                               capture_output=True, text=True, timeout=60).stdout
        self.assertRegex(shown, r"(?m)^    .*failing\.py")

    def test_a_failed_job_goes_on_when_its_code_is_mended(self):
        folder = pathlib.Path(self.folder) / "tasks"
        shutil.copytree(TASKS, folder, ignore=shutil.ignore_patterns("__pycache__"))
        good = (folder / "models.py").read_text()
        # The module of the job raises an error once the job has a checkpoint.
        broken = good + "\n\ndef entropy(module, batch):\n    raise ValueError('not yet mended')\n"
        cluster = self.start(("n1",))
        job = self.job("models:deep", workers=1, steps=400)
        job["spec"]["model"]["folder"] = str(folder)
        cluster.submit(job)
        wait_until(lambda: cluster.status("job")["checkpoint_step"] >= 15, 120, "a checkpoint", poll=0.05)
        (folder / "models.py").write_text(broken)
        # The warm process has imported the module as it was, and goes with the trainer.
        kill(warm_processes(cluster.nodes["n1"]))
        cluster.nodes["n1"].kill_trainers()
        failed = self.await_end(cluster, "job", state="FAILED")
        self.assertIn("not yet mended", failed["reason"])
        (folder / "models.py").write_text(good)
        wait_until(lambda: cluster.try_cli("resume", "job"), 60, "the failed job's trainer to have ended")
        status = self.await_end(cluster, "job")
        self.assertGreaterEqual(status["checkpoint_step"], failed["checkpoint_step"])
        self.assertEqual(status["state_digest"], self.undisturbed("models:deep", steps=400))

    def test_a_node_without_a_python_for_it_gets_none_of_the_job(self):
        cluster = self.cluster(nodes=("plain", "able"), worker_flags={"able": ["--python", PYTHON]},
                               worker_env={"able": {"PYTHONPATH": str(ROOT / "python")}})
        self.give_values(cluster, "able")
        wait_until(lambda: len(cluster.cli("nodes")["nodes"]) == 2, 30, "both nodes")
        nodes = {node["name"]: node for node in cluster.cli("nodes")["nodes"]}
        self.assertEqual(nodes["able"]["interpreter"]["problem"], "")
        self.assertRegex(nodes["able"]["interpreter"]["torch"], r"^\d+\.\d+")
        self.assertEqual({node["allow_code"] for node in nodes.values()}, {"on"})
        cluster.submit(self.job("models:deep", workers=2, steps=20))
        self.await_end(cluster, "job")
        self.assertEqual({mark["trainer"].split("/")[0] for mark in cluster.marks() if mark["event"] == "step"},
                         {"able"})

    def test_what_keeps_a_trainer_from_its_start_is_told(self):
        cluster = self.start(("n1",))
        (cluster.nodes["n1"].dir / "env_from").unlink()
        cluster.submit(self.job("models:deep", workers=1))
        status = self.await_end(cluster, "job", state="FAILED")
        self.assertIn("the job takes TEST_STARTS from this node", status["reason"])

    def test_code_is_refused_where_nobody_has_allowed_it(self):
        cluster = self.cluster(nodes=("n1",), coordinator_flags=["--allow-code", "off"])
        with self.assertRaisesRegex(RuntimeError, "this coordinator takes no code of users: start "
                                                  "rekindle-coordinator with --allow-code on"):
            cluster.submit(self.job("models:deep"))
        cluster.stop()
        cluster = self.cluster(nodes=("n1",), name="second", worker_flags={"n1": ["--allow-code", "off"]})
        wait_until(lambda: cluster.cli("nodes")["nodes"], 30, "the node")
        with self.assertRaisesRegex(RuntimeError, "no node can run it .node n1: it runs no code of users"):
            cluster.submit(self.job("models:deep"))

    def test_data_that_differ_between_nodes_are_noticed_before_the_first_step(self):
        cluster = self.start(("n1", "n2"))
        files = self.give_files_of_its_own(cluster, "n2")
        files.joinpath("odd").touch()
        spec = self.job("reading:other_on_one_machine", workers=2)
        spec["spec"]["workers"]["min"] = 2
        cluster.submit(spec)
        wait_until(lambda: "its task gives other samples or another number of them" in cluster.status("job")["reason"],
                   120, "the difference to be told", poll=0.05)
        files.joinpath("odd").unlink()
        # The trainers read their data again, and the job goes on by itself.
        self.await_end(cluster, "job")

    def test_data_that_change_on_one_node_are_noticed_within_a_step(self):
        cluster = self.start(("n1", "n2"))
        files = self.give_files_of_its_own(cluster, "n2")
        spec = self.job("reading:task", workers=2, steps=100_000)
        spec["spec"]["workers"]["min"] = 2
        cluster.submit(spec)
        wait_until(lambda: steps_done(cluster) > 5, 120, "the job to step", poll=0.02)
        files.joinpath("shift").write_text("1")
        written = steps_done(cluster)
        status = self.await_end(cluster, "job", state="FAILED")
        self.assertRegex(status["reason"], r"data\[\d+\] was read twice, by two workers if there are several")
        # Samples that were loaded ahead are still the old ones.
        self.assertLess(steps_done(cluster), written + 200, status)

    def give_files_of_its_own(self, cluster, node):
        """Gives the jobs of a node another folder for their files. Returns it."""
        files = pathlib.Path(self.folder) / f"files-of-{node}"
        files.mkdir()
        (cluster.nodes[node].dir / "env_from").write_text(f"TEST_STARTS={files}\n")
        return files

    def test_nothing_lives_on_when_a_trainer_is_killed(self):
        cluster = self.start(("n1",))
        cluster.submit(self.job("models:deep", workers=1, steps=100_000))
        wait_until(lambda: steps_done(cluster) > 2, 120, "the job to step", poll=0.05)
        [model] = model_processes(cluster.nodes["n1"])
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
