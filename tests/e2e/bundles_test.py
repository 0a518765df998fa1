"""Tests that the folder of a user's script travels with its job: to the nodes, into its store, and back from there."""
import json
import os
import pathlib
import shutil
import stat
import subprocess
import unittest

from base import Cluster, ClusterTest, steps_done, wait_until
from programs import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("REKINDLE_PYTHON", "")
TRAIN = """
import torch
import rekindle
from parts import width

def task():
    model = torch.nn.Linear(3, width())
    data = [{"x": torch.full((3,), i / 10), "y": torch.full((2,), i / 5)} for i in range(24)]
    return rekindle.Task(model, data=data, loss=lambda m, b: rekindle.Sum(
        ((m(b["x"]) - b["y"]) ** 2).sum(), len(b["y"])))

if __name__ == "__main__":
    rekindle.run(task, steps=STEPS, batch=12, micro_batch=2, workers=(1, 2), name="job", checkpoint=10)
"""


class BundlesTest(ClusterTest):
    def start(self, nodes=("n1", "n2"), **more):
        env = {"PYTHONPATH": str(ROOT / "python")}
        return self.cluster(nodes=nodes, worker_flags={node: ["--python", PYTHON] for node in nodes},
                            worker_env={node: env for node in nodes}, **more)

    def project(self, steps=60):
        folder = pathlib.Path(self.folder) / "project"
        folder.mkdir()
        (folder / "train.py").write_text(TRAIN.replace("STEPS", str(steps)))
        (folder / "parts.py").write_text("def width():\n    return 2\n")
        (folder / ".env").write_text("SECRET=1\n")
        (folder / "big.log").write_text("x\n")
        (folder / ".gitignore").write_text("*.log\n")
        return folder

    def submit(self, cluster, project, *flags):
        """Runs `rekindle submit train.py`, as a user does."""
        words = cluster.command("submit", str(project / "train.py"), "--python", PYTHON, *flags)
        env = {**os.environ, "PYTHONPATH": str(ROOT / "python"),
               "REKINDLE_BIN": str(pathlib.Path(program("rekindle")).parent)}
        return subprocess.run(words, capture_output=True, text=True, timeout=120, env=env)

    def submitted(self, cluster, project):
        done = self.submit(cluster, project)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def bundle_folder(self, cluster, node, address):
        return cluster.nodes[node].dir / "bundles" / address

    def test_the_folder_of_a_script_trains_on_nodes_that_do_not_have_it(self):
        cluster = self.start()
        project = self.project()
        job = self.submitted(cluster, project)
        address = job["status"]["resolved_spec"]["model"]["bundle"]
        # What is changed after the submission does not reach the job.
        shutil.rmtree(project)
        self.assertTrue(self.await_end(cluster, "job")["state_digest"])
        unpacked = self.bundle_folder(cluster, "n1", address)
        self.assertEqual(sorted(path.name for path in unpacked.iterdir() if path.name != "__pycache__"),
                         [".gitignore", "parts.py", "train.py"])
        self.assertEqual(stat.S_IMODE((unpacked / "train.py").stat().st_mode), 0o444)

    def test_a_dry_run_lists_what_is_sent_and_asks_nobody(self):
        project = self.project()
        done = subprocess.run([program("rekindle"), "submit", str(project / "train.py"), "--dry-run", "-o", "json",
                               "--endpoint", "127.0.0.1:1"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual([file["name"] for file in told["files"]], [".gitignore", "parts.py", "train.py"])
        self.assertEqual(told["withheld"], [".env"])

    def test_what_cannot_be_sent_is_refused_before_anything_is_submitted(self):
        cluster = self.start(("n1",))
        project = self.project()
        (project / "link").symlink_to("/etc/passwd")
        self.assertIn("link is a link that leads out of the folder", self.submit(cluster, project).stderr)
        (project / "link").unlink()
        with open(project / "model.bin", "wb") as file:
            file.truncate(300 << 20)
        refused = self.submit(cluster, project).stderr
        self.assertIn("model.bin (300.0 MB)", refused)
        self.assertIn(".rekindleignore", refused)
        (project / ".rekindleignore").write_text("model.bin\n")
        self.assertEqual(cluster.cli("jobs").get("jobs", []), [])
        self.submitted(cluster, project)

    def test_code_that_was_changed_on_a_node_is_not_run(self):
        cluster = self.start(("n1",))
        job = self.submitted(cluster, self.project(steps=4000))
        address = job["status"]["resolved_spec"]["model"]["bundle"]
        wait_until(lambda: steps_done(cluster) > 3, 120, "steps", poll=0.05)
        content = (self.bundle_folder(cluster, "n1", address) / "parts.py").read_bytes()
        cluster.nodes["n1"].kill(wipe=False)
        unpacked = self.bundle_folder(cluster, "n1", address)
        unpacked.chmod(0o755)
        (unpacked / "parts.py").chmod(0o644)
        (unpacked / "parts.py").write_text("def width():\n    return 1\n")
        before = steps_done(cluster)
        cluster.nodes["n1"].start()
        wait_until(lambda: steps_done(cluster) > before, 120, "more steps", poll=0.05)
        self.assertEqual((unpacked / "parts.py").read_bytes(), content)

    def test_a_bundle_that_a_node_cannot_get_is_told(self):
        cluster = self.start(("n1",))
        job = self.submitted(cluster, self.project(steps=4000))
        address = job["status"]["resolved_spec"]["model"]["bundle"]
        wait_until(lambda: cluster.status("job")["checkpoint_step"] > 0, 120, "a checkpoint", poll=0.1)
        kept = cluster.coordinator_data() / "bundles" / address
        aside = kept.with_name("aside")
        kept.rename(aside)
        cluster.nodes["n1"].kill(wipe=True)
        cluster.nodes["n1"].start()
        wait_until(lambda: "does not have the bundle" in cluster.status("job")["reason"], 120, "the reason", poll=0.1)
        told = [event["text"] for event in cluster.cli("events", "job")["events"] if event["kind"] == "not_started"]
        self.assertEqual(len(told), 1, told)
        self.assertIn("node n1 cannot start a trainer: the coordinator does not have the bundle", told[0])
        aside.rename(kept)
        wait_until(lambda: cluster.status("job")["state"] == "RUNNING", 120, "that it runs", poll=0.1)
        self.assertNotIn("cannot start", cluster.status("job")["reason"])
        cluster.cli("cancel", "job", "--discard")

    def test_backup_and_recover_bring_the_code_back(self):
        cluster = self.start(("n1",))
        job = self.submitted(cluster, self.project(steps=4000))
        address = job["status"]["resolved_spec"]["model"]["bundle"]
        wait_until(lambda: cluster.status("job")["checkpoint_step"] > 0, 120, "a checkpoint", poll=0.1)
        backup = pathlib.Path(self.folder) / "backup"
        cluster.cli("backup", str(backup))
        store = job["status"]["resolved_spec"]["checkpoint"]["store"]
        for verb in (["restore", str(backup)], ["recover", "--store", store]):
            with self.subTest(verb[0]):
                made = self.guarded(Cluster(pathlib.Path(self.folder) / verb[0], nodes=()))
                data = made.dir / "coordinator"
                cluster.cli(*verb, "--data", str(data))
                self.assertEqual([path.name for path in (data / "bundles").iterdir()], [address])
        cluster.cli("cancel", "job", "--discard")


if __name__ == "__main__":
    if not PYTHON:
        print("skipped: no interpreter with PyTorch; set REKINDLE_PYTHON")
    else:
        unittest.main()
