"""`rekindle up` as a user runs it: submit, watch, pause, resume, cancel, logs, checkpoints, and a clean stop."""
import json
import os
import pathlib
import signal
import subprocess
import unittest

from base import ClusterTest, small_job, wait_until
from cluster import program


class UpTest(ClusterTest):
    def setUp(self):
        super().setUp()
        self.dir = pathlib.Path(self.folder) / "up"
        self.up = self.start_up()

    def start_up(self):
        up = subprocess.Popen([program("rekindle"), "up", "--workers", "2", "--dir", str(self.dir), "--port", "0", "-o", "json"],
                              stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(self.stop, up)
        self.endpoint = json.loads(up.stdout.readline())["endpoint"]
        return up

    def stop(self, up):
        if up.poll() is None:
            up.send_signal(signal.SIGTERM)
            try:
                up.wait(timeout=40)
            except subprocess.TimeoutExpired:
                os.killpg(up.pid, signal.SIGKILL)
                raise
        up.stdout.close()

    def rekindle(self, *args, code=0):
        done = subprocess.run([program("rekindle"), *args, "--endpoint", self.endpoint], capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def job_file(self, name, **options):
        path = pathlib.Path(self.folder) / f"{name}.yaml"
        path.write_text(json.dumps(small_job(name, self.text, workers=2, **options)))
        return str(path)

    def status(self, name):
        return json.loads(self.rekindle("get", name, "-o", "json"))["status"]

    def test_a_job_from_submit_to_its_checkpoints(self):
        out = self.rekindle("submit", self.job_file("first", steps=40), "--wait")
        self.assertIn("SUCCEEDED", out)
        self.assertIn("first", self.rekindle("jobs"))
        self.assertIn("n1", self.rekindle("nodes"))
        self.assertIn("started", self.rekindle("events", "first"))
        self.assertIn("rekindle-trainer", self.rekindle("logs", "first"))
        listed = json.loads(self.rekindle("checkpoint", "ls", "first", "-o", "json"))["checkpoints"]
        self.assertEqual(max(c["step"] for c in listed), 40)
        self.rekindle("checkpoint", "verify", "first")
        # What `get` prints can be submitted again.
        job = json.loads(self.rekindle("get", "first", "-o", "json"))
        digest = job["status"]["state_digest"]
        again = pathlib.Path(self.folder) / "again.json"
        again.write_text(json.dumps({**job, "name": "again"}))
        self.rekindle("submit", str(again), "--wait")
        self.assertEqual(self.status("again")["state_digest"], digest)

    def test_pause_resume_and_cancel(self):
        self.rekindle("submit", self.job_file("long", steps=5000))
        wait_until(lambda: self.status("long")["step"] > 5, 60, "the job to step", poll=0.1)
        self.rekindle("pause", "long")
        wait_until(lambda: self.status("long")["state"] == "PAUSED", 20, "the pause", poll=0.1)
        step = self.status("long")["step"]
        self.rekindle("resume", "long")
        wait_until(lambda: self.status("long")["step"] > step + 5, 30, "the job to go on", poll=0.1)
        self.rekindle("cancel", "long")
        wait_until(lambda: self.status("long")["state"] == "CANCELLED", 20, "the end", poll=0.1)

    def test_a_clean_stop_and_the_same_jobs_after_it(self):
        self.rekindle("submit", self.job_file("kept", steps=400))
        wait_until(lambda: self.status("kept")["step"] > 20, 60, "the job to step", poll=0.1)
        self.stop(self.up)
        self.assertEqual(self.up.returncode, 0)
        left = subprocess.run(["pgrep", "-f", str(self.dir)], capture_output=True, text=True).stdout.split()
        self.assertEqual(left, [], "processes left behind")
        self.start_up()
        wait_until(lambda: self.status("kept")["state"] == "SUCCEEDED", 120, "the job to end", poll=0.2)


if __name__ == "__main__":
    unittest.main()
