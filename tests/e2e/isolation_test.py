"""Tests that code of a user reaches nothing of the node, of other jobs and of the cluster, and costs them no step.

It needs root. The interpreter is mounted at a place that every user can reach, in a mount namespace of this test."""
import ctypes
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import unittest

from base import ClusterTest, small_job, steps_done, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
TASKS = ROOT / "tests" / "python" / "tasks"
PYTHON = os.environ.get("REKINDLE_PYTHON", "")
TOKEN = "a-token-that-nobody-else-has"
CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 4096, 16384, 1 << 18


def users_of(pid):
    """Returns the user id of a process, or None if it is gone."""
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except FileNotFoundError:
        return None


def processes_of(uid):
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and users_of(name) == uid]


def mount(source, target, flags):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), target.encode(), None, flags, None) != 0:
        raise OSError(ctypes.get_errno(), f"mount {source} at {target}")


class IsolationTest(ClusterTest):
    isolation = "uid+landlock"

    def setUp(self):
        # The call 444 asks the kernel for its version of Landlock.
        if self.isolation == "uid+landlock" and ctypes.CDLL(None).syscall(444, None, 0, 1) <= 0:
            self.skipTest("the kernel has no Landlock")
        super().setUp()
        # Users enter it on the way to their own folders.
        os.chmod(self.folder, 0o711)
        place = pathlib.Path(self.folder) / "python"
        place.mkdir()
        mount(str(pathlib.Path(PYTHON).parents[1]), str(place), MS_BIND | MS_REC)
        self.addCleanup(subprocess.run, ["umount", "--lazy", str(place)], check=True)
        self.python = str(place / "bin" / pathlib.Path(PYTHON).name)
        self.tasks = pathlib.Path(self.folder) / "tasks"
        self.tasks.mkdir(mode=0o755)
        for name in ("models.py", "attacks.py"):
            shutil.copy(TASKS / name, self.tasks)

    def start(self, *flags):
        flags = ["--python", self.python, "--isolation-at-most", self.isolation, "--slots", "2", *flags]
        self.running = self.cluster(nodes=("n1",), worker_flags={"n1": flags}, worker_env={"n1": {
            "PYTHONPATH": str(ROOT / "python"), "AWS_SECRET_ACCESS_KEY": "of-the-store"}})
        folder = self.node_folder()
        values = folder / "env_from"
        values.write_text(f"TEST_TOKEN={TOKEN}\n")
        values.chmod(0o600)
        wait_until(lambda: [node["isolation"] for node in self.running.cli("nodes")["nodes"]] == [self.isolation], 60,
                   "the node to show its isolation")

    def node_folder(self):
        return pathlib.Path(self.running.dir, "nodes", "n1")

    def own(self, name, task, steps=60):
        return {"name": name, "spec": {
            "seed": 3, "workers": {"min": 1, "max": 1},
            "model": {"python": f"attacks:{task}", "folder": str(self.tasks), "env_from": ["TEST_TOKEN"]},
            "training": {"steps": steps, "global_batch": 12, "micro_batch": 2, "reduce": "exact"},
            "optimizer": {"kind": "adamw", "learning_rate": 2e-3}}}

    def log(self, job):
        return [line["text"] for line in self.running.cli("logs", job)["lines"] if "text" in line]

    def write_targets(self):
        """Names what is attacked: all of the node's folder, the coordinator's, and another job's."""
        folder = self.node_folder()
        files = [str(path) for path in sorted([*folder.rglob("*"), *pathlib.Path(self.running.coordinator_data()).rglob(
            "*")]) if stat.S_ISREG(path.stat().st_mode)]
        sockets = [str(path) for path in folder.rglob("*") if stat.S_ISSOCK(path.stat().st_mode)]
        self.assertGreaterEqual(len(sockets), 2)
        code = folder.with_name(folder.name + ".code")
        node = self.running.nodes["n1"]
        pids = [*node.all_pids()]
        (self.tasks / "attacks.json").write_text(json.dumps({
            "files": [*files, str(self.running.token_file())], "sockets": sockets, "pids": pids,
            "folders": [str(folder), str(code), str(self.running.coordinator_data())]}))
        (self.tasks / "attacks.json").chmod(0o644)
        return files

    def victim(self):
        """Starts a job that must lose nothing."""
        self.running.submit(small_job("victim", self.text, steps=100_000, workers=1))
        wait_until(lambda: steps_done(self.running) > 5, 120, "the other job to step", poll=0.05)

    def assert_victim_unharmed(self):
        status = self.running.status("victim")
        self.assertEqual((status["generation"], status["steps_redone"]), (1, 0), status)
        before = status["step"]
        wait_until(lambda: self.running.status("victim")["step"] > before, 60, "the other job to step")

    def uid_of_job(self):
        """Returns the user id of the one job with code of its own, as its record on the node has it."""
        [record] = self.node_folder().glob("warm/*.json")
        return json.loads(record.read_text())["uid"]

    def test_nothing_is_reached_and_nothing_is_left(self):
        self.start()
        self.victim()
        self.assertTrue(any("/jobs/" in path for path in self.write_targets()), "the jobs' secrets")
        self.running.submit(self.own("attacker", "quick", steps=100_000))
        wait_until(lambda: "attacks done" in self.log("attacker"), 180, "the attacks")
        attacks = [line for line in self.log("attacker") if line.startswith("attack ")]
        self.assertGreater(len(attacks), 20)
        self.assertEqual([line for line in attacks if line.endswith(": nothing")], [])
        self.assertIn("value [TEST_TOKEN]", self.log("attacker"))
        uid = self.uid_of_job()
        self.assertGreaterEqual(uid, 1 << 31)
        # What ran away from the process that the trainer has rehearsed with is gone. The one that trains has its own.
        wait_until(lambda: self.running.status("attacker")["step"] > 0, 180, "the attacker to step")
        self.assertGreater(len(processes_of(uid)), 2, "the warm process, the model process and what has run away")
        self.assert_victim_unharmed()
        self.running.cli("cancel", "attacker")
        wait_until(lambda: not processes_of(uid), 30, "the job's processes to end")
        code = self.node_folder().with_name("n1.code")
        wait_until(lambda: list(code.glob("[0-9a-f]*")) == [], 30, "the job's folder to be removed")

    def test_a_full_disk_costs_the_job_that_fills_it(self):
        self.start("--code-disk", "64MiB")
        self.victim()
        self.write_targets()
        self.running.submit(self.own("attacker", "disk"))
        status = self.await_end(self.running, "attacker", state="FAILED")
        self.assertIn("the model process has closed its socket", status["reason"])
        self.assertIn("its files take more than the", self.running.nodes["n1"].log_path("worker").read_text())
        self.assert_victim_unharmed()

    def test_a_gigabyte_of_log_is_cut_and_the_job_goes_on(self):
        self.start()
        self.victim()
        self.write_targets()
        self.running.submit(self.own("attacker", "log"))
        self.await_end(self.running, "attacker")
        logs = sum(path.stat().st_blocks * 512 for path in self.node_folder().glob("logs/attacker-*.log"))
        self.assertLess(logs, 32 << 20)
        self.assertTrue(any("bytes of output were dropped" in line for line in self.log("attacker")))
        self.assert_victim_unharmed()

    def test_a_value_of_the_node_is_in_no_text(self):
        self.start()
        self.write_targets()
        self.running.submit(self.own("attacker", "secret"))
        status = self.await_end(self.running, "attacker", state="FAILED")
        self.assertIn("the token [TEST_TOKEN] is wrong", status["reason"])
        code = self.node_folder().with_name("n1.code")
        wait_until(lambda: list(code.glob("[0-9a-f]*")) == [], 30, "the job's folder to be removed")
        everything = json.dumps([status, self.running.events("attacker"), self.log("attacker")])
        self.assertNotIn(TOKEN, everything)
        for path in pathlib.Path(self.running.dir).rglob("*"):
            if path.is_file() and path.name != "env_from":
                self.assertNotIn(TOKEN.encode(), path.read_bytes(), path)

    def test_code_that_ran_away_ends_where_nobody_is_left_to_end_it(self):
        self.start()
        self.write_targets()
        self.running.submit(self.own("attacker", "quick", steps=100_000))
        wait_until(lambda: "attacks done" in self.log("attacker"), 180, "the attacks")
        uid = self.uid_of_job()
        node = self.running.nodes["n1"]
        # The warm process would end what has run away. The job's code may kill it.
        [record] = self.node_folder().glob("warm/*.json")
        os.kill(json.loads(record.read_text())["pid"], 9)
        # The kernel kills an agent whose init has ended.
        for pid in node.pids("init"):
            os.kill(pid, 9)
        wait_until(lambda: not node.pids("agent"), 30, "the agent to end")
        self.assertTrue(processes_of(uid))
        node.kill_trainers()
        wait_until(lambda: not processes_of(uid), 30, "the job's processes to end")
        wait_until(lambda: not node.pids("watch-code"), 30, "the process that has ended them to end")

    def test_the_next_agent_takes_over_what_is_there(self):
        self.start()
        self.write_targets()
        job = self.own("own", "quick", steps=100_000)
        self.running.submit(job)
        wait_until(lambda: steps_done(self.running) > 2, 180, "the job to step", poll=0.05)
        uid = self.uid_of_job()
        before = set(processes_of(uid))
        node = self.running.nodes["n1"]
        agent = node.pids("agent")
        for pid in agent:
            os.kill(pid, 9)
        wait_until(lambda: node.pids("agent") and node.pids("agent") != agent, 60, "the next agent")
        self.running.cli("nodes")
        done = steps_done(self.running)
        wait_until(lambda: steps_done(self.running) > done + 5, 60, "the job to step on")
        self.assertLessEqual(before, set(processes_of(uid)), "no process of the job was restarted")
        self.running.cli("cancel", "own")
        wait_until(lambda: not processes_of(uid), 30, "the job's processes to end")


class UidTest(IsolationTest):
    isolation = "uid"


if __name__ == "__main__":
    if os.geteuid() != 0 or not os.access(PYTHON, os.X_OK):
        print("skipped: this needs root, and an interpreter with PyTorch in REKINDLE_PYTHON")
        sys.exit(77)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        print("skipped: there can be no mount namespace here")
        sys.exit(77)
    mount("none", "/", MS_REC | MS_PRIVATE)
    unittest.main()
