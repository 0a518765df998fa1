"""Tests several people on one machine: who may call a coordinator on loopback, and what a job may read.

Nothing that Rekindle writes can be read by others, whatever the umask."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import tempfile
import unittest

from base import ClusterTest, kill, processes_naming, small_job, wait_until
from programs import program

NOBODY = 65534
ROOT_ALONE = "only root can be another user, too"


def readable_by_others(*folders):
    """Returns paths in the folders, themselves included, on which the group or others have any right.

    Links have no rights of their own."""
    found = []
    for folder in map(pathlib.Path, folders):
        for path in (folder, *folder.rglob("*")):
            # A path may have been removed after it was listed.
            with contextlib.suppress(FileNotFoundError):
                mode = path.lstat().st_mode
                # Code of users, which has user ids of its own, enters NODE.code on the way to its own folders.
                allowed = 0o711 if path.suffix == ".code" and stat.S_ISDIR(mode) else 0o700
                if not stat.S_ISLNK(mode) and stat.S_IMODE(mode) & 0o077 & ~allowed:
                    found.append(f"{path} {stat.filemode(mode)}")
    return found


class UpTest(ClusterTest):
    """Runs a `rekindle up` of this user."""

    def start_up(self, umask=0o022):
        self.dir = pathlib.Path(self.folder) / "up"
        self.up = subprocess.Popen([program("rekindle"), "up", "--workers", "2", "--dir", str(self.dir), "--port", "0",
                                    "-o", "json"],
                                   stdout=subprocess.PIPE, text=True, start_new_session=True, umask=umask)
        self.addCleanup(self.stop_up)
        self.endpoint = json.loads(self.up.stdout.readline())["endpoint"]
        self.umask = umask

    def stop_up(self):
        if self.up.poll() is None:
            self.up.send_signal(signal.SIGTERM)
            self.up.wait(timeout=60)
        self.up.stdout.close()

    def rekindle(self, *args):
        done = subprocess.run([program("rekindle"), *args, "--endpoint", self.endpoint], capture_output=True, text=True,
                              timeout=120, umask=self.umask)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def job_file(self, spec, folder=None):
        path = pathlib.Path(folder or self.folder) / f"{spec['name']}.yaml"
        path.write_text(json.dumps(spec))
        path.chmod(0o644)
        return str(path)

    def trainers(self):
        return [pid for pid, argv in processes_naming(str(self.dir)) if argv[0].endswith("rekindle-trainer")]


class FilesTest(UpTest):
    def test_nothing_is_for_others_whatever_the_umask(self):
        self.start_up(umask=0)
        made = pathlib.Path(self.folder) / "made"
        made.mkdir(mode=0o700)
        spec = small_job("job", self.text, steps=300, workers=2)
        spec["spec"]["checkpoint"].update(store=f"file://{made}/store", archive_store=f"file://{made}/archive")
        self.rekindle("submit", self.job_file(spec))

        def step():
            return json.loads(self.rekindle("get", "job", "-o", "json"))["status"]["step"]
        wait_until(lambda: step() > 30, 120, "a checkpoint", poll=0.1)
        segments = [path for path in pathlib.Path("/dev/shm").glob("rekindle-*") if path.is_file()]
        self.assertTrue(segments)
        self.assertEqual(readable_by_others(*segments), [])
        kill(self.trainers()[:1])
        wait_until(lambda: json.loads(self.rekindle("get", "job", "-o", "json"))["status"]["state"] == "SUCCEEDED", 120,
                   "the job to end", poll=0.2)
        newest, older = (c["name"]
                         for c in json.loads(self.rekindle("checkpoint", "ls", "job", "-o", "json"))["checkpoints"][:2])
        self.rekindle("checkpoint", "pin", "job", newest)
        self.rekindle("checkpoint", "unpin", "job", newest)
        self.rekindle("checkpoint", "archive", "job", older)
        self.rekindle("checkpoint", "export", "job", newest, str(made / "exported"))
        self.rekindle("backup", str(made / "backup"))
        self.assertEqual(readable_by_others(self.dir, made), [])
        # Others could read no path, but that would also be so in empty folders. So Rekindle's files with these names
        # have to be there.
        there = {path.name for path in self.dir.rglob("*")} | {path.suffix for path in made.rglob("*")}
        self.assertLessEqual({"state.db", "endpoint", "token", "agent.sock", "checkpoint.sock", "peer-token", "data",
                              "logs", "coordinator.log", "n1-worker.log", ".safetensors", ".json"}, there)


@unittest.skipUnless(os.geteuid() == 0, ROOT_ALONE)
class OtherUsersTest(UpTest):
    def setUp(self):
        super().setUp()
        self.start_up()
        # The folder `theirs` belongs to another user, and has a program that this user can run.
        folder = tempfile.TemporaryDirectory(prefix="rekindle-others-")
        self.addCleanup(folder.cleanup)
        self.theirs = pathlib.Path(folder.name)
        self.theirs.chmod(0o755)
        shutil.copy(program("rekindle"), self.theirs / "rekindle")

    def as_nobody(self, *args, **env):
        return subprocess.run([self.theirs / "rekindle", *args, "--endpoint", self.endpoint], capture_output=True,
                              text=True, timeout=60, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/",
                              env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **env})

    def test_nobody_trains_on_roots_files_or_cancels_roots_jobs(self):
        self.rekindle("submit", self.job_file(small_job("roots", self.text, steps=100_000, workers=1)))
        shadow = self.job_file(small_job("shadow", "/etc/shadow"), self.theirs)
        for args in (["jobs"], ["submit", shadow], ["validate", shadow], ["cancel", "roots"], ["logs", "roots"],
                     ["backup", "/tmp/rekindle-none"]):
            refused = self.as_nobody(*args)
            self.assertEqual(refused.returncode, 1, args)
            self.assertIn("this coordinator belongs to user root; ask for its token", refused.stderr, args)
        self.assertEqual([job["name"] for job in json.loads(self.rekindle("jobs", "-o", "json"))["jobs"]], ["roots"])
        self.assertNotEqual(json.loads(self.rekindle("get", "roots", "-o", "json"))["status"]["state"], "CANCELLED")

    def test_who_was_given_the_token_names_it(self):
        token = self.theirs / "token"
        token.write_text((self.dir / "coordinator" / "token").read_text())
        token.chmod(0o600)
        os.chown(token, NOBODY, NOBODY)
        listed = self.as_nobody("nodes", "-o", "json", REKINDLE_TOKEN_FILE=str(token))
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertIn("nodes", json.loads(listed.stdout))
        # A job cannot read Rekindle's own files, whoever submits it.
        for path in (self.dir / "coordinator" / "state.db", self.dir / "nodes" / "n1" / "node.json"):
            # The node may not have written its node.json yet.
            wait_until(path.exists, 30, path)
            refused = self.as_nobody("submit", self.job_file(small_job("own", path), self.theirs),
                                     REKINDLE_TOKEN_FILE=str(token))
            self.assertEqual(refused.returncode, 1)
            self.assertIn(f"{path} is Rekindle's own", refused.stderr)


class DataRootsTest(ClusterTest):
    """Tests a coordinator and a node that have keys of their own, and lists of what jobs may read."""

    def setUp(self):
        super().setUp()
        self.data = pathlib.Path(self.folder) / "data"
        self.data.mkdir()
        self.text.rename(self.data / "text.txt")
        self.text = self.data / "text.txt"
        self.keys = {}
        for owner in ("coordinator", "node"):
            self.keys[owner] = self.data / f"{owner}-token"
            # The key's file is long enough to train on, so the job is refused only because the file is Rekindle's own.
            self.keys[owner].write_text("0123456789abcdef" * 20)
            self.keys[owner].chmod(0o600)
        self.outside = pathlib.Path(self.folder) / "outside.txt"
        self.outside.write_text("words " * 1000)
        (self.data / "link.txt").symlink_to(self.outside)
        self.running = self.cluster(
            nodes=("n1",), env={"REKINDLE_TOKEN_FILE": str(self.keys["coordinator"])},
            coordinator_flags=["--data-root", self.folder], worker_flags={"n1": ["--data-root", str(self.data)]},
            worker_env={"n1": {"REKINDLE_TOKEN_FILE": str(self.keys["node"])}})

    def refusal(self, path):
        file = pathlib.Path(self.folder) / "refused.yaml"
        file.write_text(json.dumps(small_job("refused", path)))
        done = subprocess.run(self.running.command("submit", str(file)), env=self.running.env, capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stderr

    def test_a_job_reads_what_is_listed_and_never_the_keys(self):
        self.assertIn("is outside of what jobs may read here", self.refusal("/etc/shadow"))
        self.assertIn("is outside of what jobs may read here", self.refusal("/etc/rekindle/node/*"))
        self.assertIn("Rekindle's own", self.refusal(self.keys["coordinator"]))
        self.assertIn("Rekindle's own", self.refusal(self.running.dir / "nodes" / "n1" / "**"))
        # The coordinator cannot know which paths the node refuses, so these jobs fail only on the node.
        for name, path, said in (("keys", self.keys["node"], "is Rekindle's own"),
                                 ("outside", self.outside, "is outside of what jobs may read here"),
                                 ("link", self.data / "link.txt", "leads nowhere in the folders that jobs may read")):
            self.running.submit(small_job(name, path, workers=1))
            status = self.running.await_end(name)
            self.assertEqual(status["state"], "FAILED")
            self.assertIn(said, status["reason"])
        self.running.submit(small_job("good", self.text, steps=20, workers=1))
        self.await_end(self.running, "good")


if __name__ == "__main__":
    unittest.main()
