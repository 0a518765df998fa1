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

    def snapshot(self):
        """Names, inodes and contents of what an `up` keeps: but of logs and the database, which go on, the names alone."""
        found = {}
        for path in sorted(self.dir.rglob("*")):
            if not path.is_file() or {"nodes", "checkpoints"} & set(path.relative_to(self.dir).parts):
                continue
            grows = "logs" in path.parts or path.name.startswith("state.db")
            found[str(path.relative_to(self.dir))] = (path.stat().st_ino, None if grows else path.read_bytes())
        return found

    def test_a_second_one_on_the_folder_touches_nothing(self):
        self.rekindle("submit", self.job_file("long", steps=100_000))
        wait_until(lambda: self.status("long")["step"] > 5, 60, "the job to step", poll=0.1)
        before = self.snapshot()
        self.assertIn("coordinator/endpoint", before)
        self.assertIn("logs/coordinator.log", before)
        for port in ("0", self.endpoint.rsplit(":", 1)[1]):
            second = subprocess.run([program("rekindle"), "up", "--workers", "2", "--dir", str(self.dir), "--port", port],
                                    capture_output=True, text=True, timeout=60)
            self.assertEqual(self.snapshot(), before)
            self.assertEqual(second.returncode, 1, second.stdout + second.stderr)
            self.assertIn(f"is in use by another `rekindle up` with pid {self.up.pid}", second.stderr)
        # The first one goes on, and its coordinator writes where one looks.
        step = self.status("long")["step"]
        wait_until(lambda: self.status("long")["step"] > step + 5, 30, "the job to go on", poll=0.1)
        log = self.dir / "logs" / "coordinator.log"
        size = log.stat().st_size
        self.rekindle("cancel", "long")
        wait_until(lambda: log.stat().st_size > size, 20, "its log to grow", poll=0.1)
        self.stop(self.up)
        self.assertEqual(self.up.returncode, 0)

    def test_a_coordinator_started_by_hand_keeps_its_endpoint(self):
        self.stop(self.up)
        coordinator = subprocess.Popen([program("rekindle-coordinator"), "--data", str(self.dir / "coordinator"),
                                        "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(coordinator.stderr.close)
        self.addCleanup(coordinator.wait)
        self.addCleanup(coordinator.terminate)
        wait_until(lambda: "listening" in coordinator.stderr.readline(), 20, "the coordinator to listen")
        before = self.snapshot()
        second = subprocess.run([program("rekindle"), "up", "--workers", "0", "--dir", str(self.dir), "--port", "0"],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual({**self.snapshot(), "lock": None}, {**before, "lock": None})
        self.assertEqual(second.returncode, 1, second.stdout + second.stderr)
        self.assertIn(f"is in use by a coordinator with pid {coordinator.pid}", second.stderr)


class TwoAtOnceTest(ClusterTest):
    @staticmethod
    def end(up):
        if up.poll() is None:
            up.send_signal(signal.SIGTERM)
        up.communicate(timeout=60)

    def test_one_has_the_folder(self):
        folder = pathlib.Path(self.folder) / "up"
        both = [subprocess.Popen([program("rekindle"), "up", "--workers", "1", "--dir", str(folder), "--port", "0"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
                for _ in range(2)]
        for up in both:
            self.addCleanup(self.end, up)
        loser = wait_until(lambda: next((up for up in both if up.poll() is not None), None), 30, "one to give up")
        winner = both[1 - both.index(loser)]
        self.assertEqual(loser.returncode, 1)
        self.assertIn("is in use by another `rekindle up`", loser.communicate()[1])
        self.assertIn("coordinator at", winner.stdout.readline())
        self.assertIsNone(winner.poll())
        endpoint = (folder / "coordinator" / "endpoint").read_text().strip()
        subprocess.run([program("rekindle"), "nodes", "--endpoint", endpoint], check=True, capture_output=True, timeout=60)
        winner.send_signal(signal.SIGTERM)
        winner.communicate(timeout=60)
        self.assertEqual(winner.returncode, 0)


if __name__ == "__main__":
    unittest.main()
