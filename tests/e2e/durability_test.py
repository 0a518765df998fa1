"""Tests checkpoints that cannot be made durable, with real trainers, services and stores.

The job goes on, an event and a metric report the failure, and the next checkpoint after the fault succeeds."""
import errno
import os
import pathlib
import subprocess
import unittest

from base import ClusterTest, small_job, wait_until
from fault_proxy import FaultProxy
from live_processes import kill
from ports import free_port, metric
import servers

# No test waits until its job has made all `STEPS`. It cancels the job before.
STEPS = 4000
PATIENCE = 120
# Checkpoint services leave `KEPT_SHARE` percent of a small disk free.
KEPT_SHARE = 5
# `KEPT` is part of a checkpoint service's message when it refuses a save to keep a share of the disk free.
KEPT = "kept for what is small"


def free(disk):
    space = os.statvfs(disk)
    return space.f_bavail * space.f_frsize


def total(disk):
    space = os.statvfs(disk)
    return space.f_blocks * space.f_frsize


class DurabilityTest(ClusterTest):
    def started(self, store, when=None, **options):
        self.metrics = free_port()
        self.running = self.cluster(coordinator_flags=["--metrics", f"127.0.0.1:{self.metrics}"], **options)
        spec = small_job("job", self.text, steps=STEPS)
        spec["spec"]["checkpoint"].update(store=store)
        spec["spec"]["checkpoint"].pop("every_steps")
        spec["spec"]["checkpoint"].update(when or {"every_steps": 10})
        self.running.submit(spec)
        self.await_checkpoint()

    def step(self):
        return self.running.status("job")["checkpoint_step"]

    def await_checkpoint(self):
        """Waits until a checkpoint is durable that is newer than all others."""
        before = self.step()
        wait_until(lambda: self.step() > before, PATIENCE, "the next checkpoint", poll=0.05)

    def failures(self):
        return [e["text"] for e in self.running.events("job")["events"] if e["kind"] == "checkpoint_failed"]

    def await_failures(self, more):
        known = len(self.failures())
        wait_until(lambda: len(self.failures()) >= known + more, PATIENCE, f"{more} saves that fail", poll=0.05)

    def fails_and_heals(self, spoil, heal, *words):
        """Checks that from spoil() to heal() checkpoints fail, for a reason with one of `words`, while steps go on."""
        known, counted = len(self.failures()), metric(self.metrics, "rekindle_checkpoints_failed_total")
        spoil()
        wait_until(lambda: any(word in text for text in self.failures()[known:] for word in words), PATIENCE,
                   f"a checkpoint that failed for {words}", poll=0.05)
        wait_until(lambda: metric(self.metrics, "rekindle_checkpoints_failed_total") > counted, PATIENCE,
                   "the metric of failed checkpoints to grow", poll=0.05)
        step = self.running.status("job")["step"]
        wait_until(lambda: self.running.status("job")["step"] > step + 10, PATIENCE, "steps without checkpoints",
                   poll=0.05)
        heal()
        self.await_checkpoint()
        self.assertEqual(self.running.status("job")["state"], "RUNNING")

    def small_disk(self, size):
        disk = pathlib.Path(self.folder) / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]).returncode != 0:
            self.skipTest("cannot mount a tmpfs: not root")
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)], check=True)
        return disk

    def test_a_disk_that_is_read_only_then_full_then_sound(self):
        disk = self.small_disk("16m")
        self.started(f"file://{disk}", nodes=("n1",))

        def remount(mode):
            subprocess.run(["mount", "-o", f"remount,{mode}", str(disk)], check=True)
        self.fails_and_heals(lambda: remount("ro"), lambda: remount("rw"), "Read-only")

        def fill():
            with open(disk / "filler", "wb", buffering=0) as filler:
                try:
                    while True:
                        filler.write(b"x" * 4096)
                except OSError as error:
                    self.assertEqual(error.errno, errno.ENOSPC)
        self.fails_and_heals(fill, (disk / "filler").unlink, "No space left", KEPT)

    def test_a_disk_that_is_nearly_full_keeps_its_rest(self):
        disk = self.small_disk("32m")
        self.started(f"file://{disk}", nodes=("n1",))
        self.await_checkpoint()

        def shards():
            return {path.name for path in disk.glob("*/shards/*")}
        whole = max(c["bytes"] for c in self.running.cli("checkpoint", "ls", "job")["checkpoints"])

        def fill():
            """Fills the disk until only half a checkpoint fits. The service frees space, so fill() runs repeatedly."""
            with open(disk / "filler", "ab") as filler:
                filler.write(b"x" * max(0, free(disk) - KEPT_SHARE * total(disk) // 100 - int(whole) // 2))
        known = len(self.failures())
        wait_until(lambda: fill() or any(KEPT in text for text in self.failures()[known:]), PATIENCE,
                   "a save that is refused", poll=0.2)
        # Saves that began before the service refused the first one may still write. They have ended when two more saves
        # have failed.
        self.await_failures(2)
        left, there = free(disk), shards()
        self.await_failures(3)
        self.assertEqual(shards(), there, "nothing of what was refused is there")
        self.assertGreaterEqual(free(disk), left - (64 << 10))
        oldest = min(self.running.cli("checkpoint", "ls", "job")["checkpoints"], key=lambda c: c["step"])
        before = self.step()
        self.running.cli("checkpoint", "rm", "job", oldest["name"])
        wait_until(lambda: self.step() > before, PATIENCE, "the next checkpoint", poll=0.05)
        self.assertEqual(self.running.status("job")["state"], "RUNNING")

    def test_a_final_save_that_is_refused_is_tried_until_there_is_room(self):
        disk = self.small_disk("16m")
        self.running = self.cluster(nodes=("n1",))
        spec = small_job("job", self.text, steps=100)
        spec["spec"]["checkpoint"].update(store=f"file://{disk}")
        self.running.submit(spec)
        wait_until(lambda: self.step() > 0, PATIENCE, "a checkpoint", poll=0.05)
        with open(disk / "filler", "wb") as filler:
            filler.write(b"x" * (free(disk) - (256 << 10)))
        wait_until(lambda: self.running.status("job")["state"] == "FINISHING", PATIENCE, "all steps", poll=0.05)
        self.assertIn(KEPT, wait_until(lambda: self.running.status("job")["reason"], PATIENCE, "why", poll=0.05))
        (disk / "filler").unlink()
        # `rekindle resume` makes a waiting save begin at once, rather than at the end of the pause between tries.
        self.running.cli("resume", "job")
        self.assertEqual(self.await_end(self.running, "job")["checkpoint_step"], 100)

    def test_errors_on_close_and_on_sync(self):
        plan = pathlib.Path(self.folder) / "plan"
        plan.write_text("")
        self.started(f"file://{self.folder}/store", nodes=("n1",), checkpoint_program="checkpoint_faulty_service",
                     env={"REKINDLE_TEST_FILE_FAULTS": str(plan)})
        for kind, code, words in (("close", errno.EIO, "Input/output"), ("close", errno.ENOSPC, "No space left"),
                                  ("close", errno.EDQUOT, "quota"), ("sync", errno.EIO, "Input/output")):
            with self.subTest(kind=kind, code=code):
                self.fails_and_heals(lambda k=kind, c=code: plan.write_text(f"fail {k} {c}\n"),
                                     lambda: plan.write_text(""), words)

    def test_a_bucket_that_does_not_answer_and_kills_at_its_requests(self):
        try:
            server = self.enterContext(servers.S3(f"{self.folder}/s3"))
        except servers.Missing as why:
            self.skipTest(str(why))
        proxy = self.enterContext(FaultProxy(server.port))
        self.started(server.uri("durable", proxy.port), when={"every_seconds": 3},
                     nodes=("n1", "n2"), env=server.env)
        self.fails_and_heals(lambda: proxy.spoil("status", times=None, status=403, code="ExpiredToken"), proxy.heal,
                             "ExpiredToken", "xpired", "403")
        nodes = list(self.running.nodes.values())
        for role, method, path in (("trainer", "PUT", "manifests/"), ("checkpoint", "PUT", "manifests/"),
                                   ("both", "POST|PUT", "shards/"), ("both", "PUT", "manifests/"),
                                   ("both", "DELETE", "")):
            with self.subTest(role=role, path=path):
                struck = []

                def strike(role=role, struck=struck):
                    for node in nodes:
                        kill([pid for r in ("trainer", "checkpoint") if role in (r, "both") for pid in node.pids(r)])
                    struck.append(True)
                    return role == "trainer"
                proxy.spoil("call", method=method, path=path, before=strike)
                wait_until(lambda: struck, PATIENCE, f"a {method} of {path}", poll=0.02)
                proxy.heal()
                for node in nodes if role != "trainer" else ():
                    node.kill_checkpoint()
                    node.start_checkpoint()
                step = self.running.status("job")["step"]
                wait_until(lambda: self.running.status("job")["step"] > step, PATIENCE, "the job to go on", poll=0.05)
                self.await_checkpoint()
        skipped = [e["text"] for e in self.running.events("job")["events"] if e["kind"] == "checkpoint_skipped"]
        self.assertEqual(skipped, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
