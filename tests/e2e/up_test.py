"""Tests `rekindle up` as a user runs it: submit, watch, pause, resume, cancel, logs, checkpoints, and a clean stop."""
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import unittest
import urllib.error
import urllib.request

from base import ClusterTest, kill, processes_naming, small_job, wait_until
from programs import program


class UpTest(ClusterTest):
    def setUp(self):
        super().setUp()
        self.dir = pathlib.Path(self.folder) / "up"
        self.lines = ""
        self.up = self.start_up()

    def start_up(self):
        up = subprocess.Popen([program("rekindle"), "up", "--workers", "2", "--dir", str(self.dir), "--port", "0",
                               "-o", "json"],
                              stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(self.stop, up)
        said = json.loads(up.stdout.readline())
        self.endpoint, self.web = said["endpoint"], said["web"]
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
        # A job as `rekindle get` prints it can be submitted again.
        job = json.loads(self.rekindle("get", "first", "-o", "json"))
        digest = job["status"]["state_digest"]
        again = pathlib.Path(self.folder) / "again.json"
        again.write_text(json.dumps({**job, "name": "again"}))
        self.rekindle("submit", str(again), "--wait")
        self.assertEqual(self.status("again")["state_digest"], digest)

    def ask_page(self, question, token):
        request = urllib.request.Request(self.web + question, headers={"Authorization": f"Bearer {token}"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)

    def test_the_page_is_there_with_a_token_and_at_the_same_address_the_next_time(self):
        file = self.dir / "coordinator" / "web"
        address, token = file.read_text().strip().split("#token=")
        self.assertEqual((address, file.stat().st_mode & 0o777), (self.web, 0o600))
        wait_until(lambda: self.ask_page("api/summary", token)[1].get("nodes") == {"ready": 2}, 60,
                   "the page to show both nodes", poll=0.2)
        self.assertEqual(self.ask_page("api/summary", "another")[0], 401)
        self.stop(self.up)
        self.up = self.start_up()
        self.assertEqual(self.web, address)
        self.assertEqual(self.ask_page("api/summary", token)[0], 200)

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

    def test_pause_waits_until_the_job_has_stopped(self):
        # Steps take about a second, so the job would still run if `pause --wait` returned without waiting.
        self.rekindle("submit", self.job_file("slow", steps=5000, global_batch=96))
        wait_until(lambda: self.status("slow")["step"] > 0, 60, "the job to step", poll=0.1)
        waiting = subprocess.run([program("rekindle"), "pause", "slow", "--wait", "--timeout", "60s",
                                  "--endpoint", self.endpoint],
                                 capture_output=True, text=True, timeout=120)
        self.assertEqual(waiting.returncode, 0, waiting.stderr)
        # `status` does not wait, so it shows that the job had stopped when `pause --wait` returned.
        status = self.status("slow")
        self.assertEqual(status["state"], "PAUSED")
        self.assertIn(f"job slow is paused at step {status['step']} of 5000", waiting.stdout)
        self.assertEqual(status["reason"], f"paused by the user at step {status['step']}")
        self.assertEqual(status["last_event"], status["reason"])
        self.assertIn("rekindle resume slow", waiting.stdout)
        # Pausing a paused job succeeds and changes nothing.
        self.assertIn("is paused", self.rekindle("pause", "slow"))
        self.assertEqual(json.loads(self.rekindle("pause", "slow", "--wait", "-o", "json"))["status"]["state"],
                         "PAUSED")
        self.rekindle("resume", "slow")
        wait_until(lambda: self.status("slow")["step"] > status["step"], 60, "the job to go on", poll=0.1)
        # No trainer steps while all are frozen, so `pause` returns before the job has stopped, and the pause stays in
        # force.
        trainers = [pid for pid, argv in processes_naming(str(self.dir)) if argv[0].endswith("rekindle-trainer")]
        kill(trainers, signal.SIGSTOP)
        self.addCleanup(kill, trainers, signal.SIGCONT)
        taken = self.rekindle("pause", "slow")
        self.assertIn("the pause of job slow is taken: it stops at the end of a step, with a checkpoint", taken)
        status = self.status("slow")
        self.assertEqual((status["state"], status["reason"]),
                         ("RUNNING", "pausing: at the next step boundary, as the user asked"))
        late = subprocess.run([program("rekindle"), "pause", "slow", "--wait", "--timeout", "0.2s",
                               "--endpoint", self.endpoint],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(late.returncode, 1, late.stderr)
        self.assertIn("has not stopped within", late.stderr)
        kill(trainers, signal.SIGCONT)
        self.rekindle("pause", "slow", "--wait")
        self.rekindle("cancel", "slow")
        refused = subprocess.run([program("rekindle"), "pause", "slow", "--wait", "--endpoint", self.endpoint],
                                 capture_output=True, text=True, timeout=120)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("is over", refused.stderr)

    def test_a_drained_node_stays_out_until_the_next_start(self):
        both = {"n1": "ready", "n2": "ready"}
        wait_until(lambda: self.node_states() == both, 30, "both nodes", poll=0.1)
        self.rekindle("drain", "n2")
        wait_until(lambda: "n2 has been drained and stays out" in self.said(), 30, "n2 to leave", poll=0.1)
        self.assertEqual(self.node_states(), {"n1": "ready", "n2": "drained"})
        self.stop(self.up)
        self.start_up()
        wait_until(lambda: self.node_states() == both, 30, "both nodes again", poll=0.1)

    def node_states(self):
        return {node["name"]: node["state"] for node in json.loads(self.rekindle("nodes", "-o", "json"))["nodes"]}

    def said(self):
        """Returns what `up` has printed since its first line."""
        while select.select([self.up.stdout], [], [], 0)[0] and (more := os.read(self.up.stdout.fileno(), 65536)):
            self.lines += more.decode()
        return self.lines

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
        """Returns the inode and the content of each file that an `up` keeps.

        Logs and the database go on growing, so their content is left out."""
        found = {}
        for path in sorted(self.dir.rglob("*")):
            if not path.is_file() or {"nodes", "checkpoints"} & set(path.relative_to(self.dir).parts):
                continue
            grows = "logs" in path.parts or path.name.startswith("state.db")
            found[str(path.relative_to(self.dir))] = (path.stat().st_ino, None if grows else path.read_bytes())
        return found

    def assert_untouched(self, before):
        """Checks that all files are unchanged, and that only the coordinator's logs of running jobs are new."""
        after = self.snapshot()
        written = {name for name in after.keys() - before.keys() if name.startswith("coordinator/logs/")}
        self.assertEqual({name: kept for name, kept in after.items() if name not in written}, before)

    def test_a_second_one_on_the_folder_touches_nothing(self):
        self.rekindle("submit", self.job_file("long", steps=100_000))
        wait_until(lambda: self.status("long")["step"] > 5, 60, "the job to step", poll=0.1)
        before = self.snapshot()
        self.assertIn("coordinator/endpoint", before)
        self.assertIn("logs/coordinator.log", before)
        for port in ("0", self.endpoint.rsplit(":", 1)[1]):
            second = subprocess.run([program("rekindle"), "up", "--workers", "2", "--dir", str(self.dir),
                                     "--port", port],
                                    capture_output=True, text=True, timeout=60)
            self.assert_untouched(before)
            self.assertEqual(second.returncode, 1, second.stdout + second.stderr)
            self.assertIn(f"is in use by another `rekindle up` with pid {self.up.pid}", second.stderr)
        # The second `rekindle up` was refused. The first one goes on, and its coordinator still writes to the same log
        # file.
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


def end(up):
    if up.poll() is None:
        up.send_signal(signal.SIGTERM)
    up.communicate(timeout=60)


class PageAddressTest(ClusterTest):
    """Tests that `rekindle up` prints the web page's token on a terminal, but not where its output goes to a file."""

    def start(self, *flags, **options):
        folder = pathlib.Path(self.folder) / "up"
        up = subprocess.Popen([program("rekindle"), "up", "--workers", "0", "--dir", str(folder), "--port", "0",
                               *flags],
                              start_new_session=True, text=True, **options)
        self.addCleanup(end, up)
        return up, folder / "coordinator" / "web"

    @staticmethod
    def said_by(up):
        """Returns all that `up` prints before it waits."""
        said = []
        for line in up.stdout:
            said.append(line)
            if line.startswith("stop with Ctrl-C"):
                break
        return "".join(said)

    def test_a_terminal_is_told_the_token(self):
        own, its = os.openpty()
        self.addCleanup(os.close, own)
        _, file = self.start(stdout=its)
        os.close(its)
        said = b""
        while b"stop with" not in said:
            said += os.read(own, 4096)
        self.assertIn("#token=", file.read_text())
        self.assertIn(f"see it at:     {file.read_text().strip()}", said.decode())

    def test_a_file_is_not(self):
        up, file = self.start(stdout=subprocess.PIPE)
        said = self.said_by(up)
        address, token = file.read_text().strip().split("#token=")
        self.assertIn(f"see it at:     {address} (open the address in {file}", said)
        self.assertNotIn(token, said + (file.parents[1] / "logs" / "coordinator.log").read_text())

    def test_none_where_none_is_wanted(self):
        up, file = self.start("--web", "off", stdout=subprocess.PIPE)
        said = self.said_by(up)
        self.assertNotIn("see it at", said)
        self.assertFalse(file.exists())


class PageRefusedTest(ClusterTest):

    def test_what_would_be_open_to_others_does_not_start(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            in_use = f"127.0.0.1:{taken.getsockname()[1]}"
            for address, said, code in (
                    ("0.0.0.0:0", "would be open to others: give --tls-cert, --tls-key and --token-file", 2),
                    ("7080", "--web '7080' is no address", 2), (in_use, "is in use", 1)):
                done = subprocess.run([program("rekindle-coordinator"), "--data", f"{self.folder}/data",
                                       "--listen", "127.0.0.1:0",
                                       "--web", address], capture_output=True, text=True, timeout=60)
                self.assertIn(said, done.stderr)
                self.assertEqual(done.returncode, code, done.stderr)


class TwoAtOnceTest(ClusterTest):

    def test_one_has_the_folder(self):
        folder = pathlib.Path(self.folder) / "up"
        both = [subprocess.Popen([program("rekindle"), "up", "--workers", "1", "--dir", str(folder), "--port", "0"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
                for _ in range(2)]
        for up in both:
            self.addCleanup(end, up)
        loser = wait_until(lambda: next((up for up in both if up.poll() is not None), None), 30, "one to give up")
        winner = both[1 - both.index(loser)]
        self.assertEqual(loser.returncode, 1)
        self.assertIn("is in use by another `rekindle up`", loser.communicate()[1])
        self.assertIn("coordinator at", winner.stdout.readline())
        self.assertIsNone(winner.poll())
        endpoint = (folder / "coordinator" / "endpoint").read_text().strip()
        subprocess.run([program("rekindle"), "nodes", "--endpoint", endpoint], check=True, capture_output=True,
                       timeout=60)
        winner.send_signal(signal.SIGTERM)
        winner.communicate(timeout=60)
        self.assertEqual(winner.returncode, 0)


class TooLongTest(ClusterTest):
    def test_a_folder_that_is_too_long_for_sockets(self):
        folder = pathlib.Path(self.folder) / ("d" * 100)
        for workers in ("2", "0"):
            done = subprocess.run([program("rekindle"), "up", "--workers", workers, "--dir", str(folder),
                                   "--port", "0"],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn("--dir: ", done.stderr)
            self.assertIn("use a shorter folder", done.stderr)
        self.assertFalse(folder.exists())

    def test_the_longest_folder_that_will_do(self):
        room = 107 - len("/nodes/n1/checkpoint.sock")
        folder = pathlib.Path(self.folder) / ("d" * (room - len(self.folder) - 1))
        up = subprocess.Popen([program("rekindle"), "up", "--workers", "1", "--dir", str(folder), "--port", "0",
                               "-o", "json"],
                              stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(end, up)
        endpoint = json.loads(up.stdout.readline())["endpoint"]
        wait_until(lambda: '"ready"' in subprocess.run(
            [program("rekindle"), "nodes", "-o", "json", "--endpoint", endpoint], capture_output=True, text=True,
            timeout=60).stdout, 30, "the node", poll=0.1)


if __name__ == "__main__":
    unittest.main()
