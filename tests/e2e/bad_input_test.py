"""Tests that bad input gives a clear error and a non-zero exit code, and changes nothing."""
import copy
import json
import pathlib
import subprocess
import unittest

from base import ClusterTest, small_job, wait_until
from exchange import exchange
from ports import free_port, metric
from programs import program


class BadInputTest(ClusterTest):
    def setUp(self):
        super().setUp()
        self.running = self.cluster(nodes=())

    def rekindle(self, *args, endpoint=None):
        return subprocess.run([program("rekindle"), *args, "--endpoint", endpoint or self.running.endpoint],
                              capture_output=True, text=True, timeout=60)

    def refused(self, change, *expected):
        """Checks that validate and submit both refuse a changed job in the expected words, and that no job appears."""
        spec = copy.deepcopy(small_job("bad", self.text))
        change(spec)
        path = pathlib.Path(self.folder) / "bad.yaml"
        path.write_text(json.dumps(spec))
        for verb in ("validate", "submit"):
            done = self.rekindle(verb, str(path))
            self.assertNotEqual(done.returncode, 0, f"{verb} accepted it")
            for word in expected:
                self.assertIn(word, done.stderr)
        self.assertEqual(self.running.cli("jobs")["jobs"], [])

    def test_job_files(self):
        def put(section, field, value):
            return lambda job: job["spec"][section].update({field: value})
        self.refused(put("training", "stepps", 5), "spec.training.stepps", "did you mean `steps`")
        self.refused(put("training", "steps", "many"), "spec.training.steps", "whole number")
        self.refused(put("workers", "min", 13), "workers.min", "12")
        for field in ("min", "max"):
            self.refused(lambda job, f=field: job["spec"].update(workers={f: 65}, training={
                **job["spec"]["training"], "global_batch": 130, "micro_batch": 1}), f"workers.{field}", "use 1 to 64")
        self.refused(lambda j: j["spec"]["training"].update(global_batch=13, micro_batch=2), "global_batch")
        self.refused(put("data", "text", ["/nonexistent/file.txt"]), "/nonexistent/file.txt")
        self.refused(put("training", "reduce", "exakt"), "exact")
        self.refused(put("checkpoint", "store", "ftp://somewhere"), "store", "file://")

    def test_text_that_cannot_be_used(self):
        folder = pathlib.Path(self.folder)
        empty, short = folder / "empty.txt", folder / "short.txt"
        empty.write_text("")
        short.write_text("too short")
        for path in (empty, short):
            self.refused(lambda job, p=path: job["spec"]["data"].update(text=[str(p)]),
                         str(path) if path == empty else "")

    def test_a_job_file_that_is_not_there(self):
        done = self.rekindle("submit", "/nonexistent/job.yaml")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/nonexistent/job.yaml", done.stderr)

    def test_two_jobs_of_one_name(self):
        self.running.submit(small_job("twin", self.text))
        path = pathlib.Path(self.folder) / "twin.yaml"
        path.write_text(json.dumps(small_job("twin", self.text)))
        done = self.rekindle("submit", str(path))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("twin", done.stderr)
        self.assertEqual(len(self.running.cli("jobs")["jobs"]), 1)

    def test_wrong_use_is_2_and_unreachable_is_3(self):
        self.assertEqual(self.rekindle("submit").returncode, 2)
        self.assertEqual(self.rekindle("frobnicate").returncode, 2)
        done = self.rekindle("jobs", endpoint="127.0.0.1:1")
        self.assertEqual(done.returncode, 3)
        self.assertIn("rekindle up", done.stderr)

    def start_coordinator(self, *flags):
        return subprocess.run([program("rekindle-coordinator"), *flags], capture_output=True, text=True, timeout=30)

    def test_coordinators_that_cannot_start(self):
        other = str(pathlib.Path(self.folder) / "other")
        done = self.start_coordinator("--data", other, "--listen", self.running.endpoint)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("in use", done.stderr)
        done = self.start_coordinator("--data", str(self.running.dir / "coordinator"), "--listen", "127.0.0.1:0")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(str(self.running.coordinator.pid), done.stderr)
        done = self.start_coordinator("--data", other, "--listen", "0.0.0.0:0")
        self.assertNotEqual(done.returncode, 0)
        for word in ("--tls-cert", "--token-file"):
            self.assertIn(word, done.stderr)

    def test_a_store_that_cannot_be_written_does_not_stop_the_job(self):
        store = pathlib.Path(self.folder) / "store"
        store.mkdir()
        self.running.add_node("n1")
        spec = small_job("storeless", self.text, steps=300)
        spec["spec"]["checkpoint"].update(store=f"file://{store}", every_steps=10)
        self.running.submit(spec)
        wait_until(lambda: self.running.status("storeless")["checkpoint_step"] > 0, 60, "a checkpoint", poll=0.05)
        # A file is put where the job's folder was, so no process can write a checkpoint any more.
        uid = self.running.cli("get", "storeless")["uid"]
        (store / "aside").write_text("in the way")
        exchange(store / uid, store / "aside")
        # The job trains to its last step all the same, and keeps the result in memory.
        self.await_finishing(self.running, "storeless")
        exchange(store / uid, store / "aside")
        (store / "aside").unlink()
        self.running.cli("resume", "storeless")
        status = self.await_end(self.running, "storeless")
        self.assertEqual(status["checkpoint_step"], status["step"])
        self.assertGreater(status["checkpoints_failed"], 0)
        kinds = [e["kind"] for e in self.running.events("storeless")["events"]]
        self.assertIn("checkpoint_failed", kinds)

    def await_finishing(self, cluster, job):
        """Waits until all steps are made and the final state waits for its checkpoint. Returns the status."""
        return wait_until(lambda: (status := cluster.status(job))["state"] == "FINISHING" and status, 120,
                          f"job {job} to make its last step", poll=0.1)

    def assert_trains_on_without_checkpoints(self, cluster, port, spec, error):
        """Checks that the job makes all its steps, and that event and metric report the failed checkpoints."""
        spec["spec"]["checkpoint"]["every_steps"] = 10
        cluster.submit(spec)
        status = self.await_finishing(cluster, spec["name"])
        self.assertEqual(status["step"], spec["spec"]["training"]["steps"])
        self.assertGreater(status["checkpoints_failed"], 0)
        failed = [e for e in cluster.events(spec["name"])["events"] if e["kind"] == "checkpoint_failed"]
        self.assertTrue(failed)
        self.assertIn(error, failed[-1]["text"])
        self.assertGreater(metric(port, "rekindle_checkpoints_failed_total"), 0)
        return status

    def test_shared_memory_that_is_full_while_staging(self):
        port = free_port()
        cluster = self.cluster(nodes=("n1", "n2"), name="tight", coordinator_flags=["--metrics", f"127.0.0.1:{port}"],
                               checkpoint_flags=["--memory-limit", "1MiB"])
        spec = small_job("tight", self.text, steps=40)
        # With this width each node has 2.5 MiB of state, but its checkpoint service may use only 1 MiB of memory.
        spec["spec"]["model"]["width"] = 128
        self.assert_trains_on_without_checkpoints(cluster, port, spec, "memory")


if __name__ == "__main__":
    unittest.main()
