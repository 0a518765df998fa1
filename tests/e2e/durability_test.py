"""Where a checkpoint cannot be made durable the job goes on, an event and a metric say so, and the next checkpoint after
the fault succeeds: with real trainers, services and stores."""
import errno
import pathlib
import subprocess
import unittest

from base import ClusterTest, small_job, wait_until
from cluster import free_port, kill, metric
from fault_proxy import FaultProxy
import servers

STEPS = 4000        # More than any test waits for; a test cancels what is left.
PATIENCE = 120


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
        """A durable one that is newer than all there are."""
        before = self.step()
        wait_until(lambda: self.step() > before, PATIENCE, "the next checkpoint", poll=0.05)

    def failures(self):
        return [e["text"] for e in self.running.events("job")["events"] if e["kind"] == "checkpoint_failed"]

    def fails_and_heals(self, spoil, heal, *words):
        """From spoil() to heal() checkpoints fail, for a reason with one of `words`, and steps go on."""
        known, counted = len(self.failures()), metric(self.metrics, "rekindle_checkpoint_failures_total")
        spoil()
        wait_until(lambda: any(word in text for text in self.failures()[known:] for word in words), PATIENCE,
                   f"a checkpoint that failed for {words}", poll=0.05)
        self.assertGreater(metric(self.metrics, "rekindle_checkpoint_failures_total"), counted)
        step = self.running.status("job")["step"]
        wait_until(lambda: self.running.status("job")["step"] > step + 10, PATIENCE, "steps without checkpoints",
                   poll=0.05)
        heal()
        self.await_checkpoint()
        self.assertEqual(self.running.status("job")["state"], "RUNNING")

    def test_a_disk_that_is_read_only_then_full_then_sound(self):
        disk = pathlib.Path(self.folder) / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)]).returncode != 0:
            self.skipTest("cannot mount a tmpfs: not root")
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)], check=True)
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
        self.fails_and_heals(fill, (disk / "filler").unlink, "No space left")

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
