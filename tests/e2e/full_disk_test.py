"""Tests the coordinator on a full disk: submitted jobs go on with the space that it has kept, new jobs are refused."""
import pathlib
import subprocess
import unittest

from base import ClusterTest, small_job, wait_until
from ports import free_port, metric

RESERVE = 64 << 20
PATIENCE = 60


class FullDiskTest(ClusterTest):
    def setUp(self):
        super().setUp()
        self.data = pathlib.Path(self.folder) / "cluster" / "coordinator"
        self.data.mkdir(parents=True)
        # The file system has 160 MiB, because a coordinator that has used its reserve of disk space sets it aside again
        # only if twice as much is free.
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160m", "tmpfs", str(self.data)]).returncode != 0:
            self.skipTest("cannot mount a tmpfs: not root")
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.data)], check=True)
        self.metrics = free_port()
        self.running = self.cluster(nodes=(), coordinator_flags=["--metrics", f"127.0.0.1:{self.metrics}"])

    def held(self):
        return metric(self.metrics, "rekindle_disk_reserve_bytes")

    def happened(self):
        return [e["kind"] for e in self.running.cli("events")["events"] if e["kind"].startswith("disk_reserve")]

    def fill(self, name):
        with open(self.data / name, "wb", buffering=0) as filler, self.assertRaisesRegex(OSError, "No space left"):
            while True:
                filler.write(b"x" * 4096)

    def submit(self, name):
        return self.running.submit(small_job(name, self.text), folder=self.folder)

    def change_until(self, done):
        """Pauses and resumes the job `a` until done() holds. Each change must succeed."""
        for _ in range(100):
            self.running.cli("pause", "a")
            self.running.cli("resume", "a")
            if done():
                return
        self.fail("a hundred changes needed no space")

    def test_what_was_submitted_goes_on_and_new_jobs_are_refused(self):
        self.assertEqual(self.held(), RESERVE)
        self.assertGreaterEqual((self.data / "reserve").stat().st_blocks * 512, RESERVE)
        self.submit("a")
        self.fill("filler")
        with self.assertRaisesRegex(RuntimeError, "has 0.0 % free .*free some disk space there"):
            self.submit("b")
        self.change_until(lambda: self.held() == 0)
        self.assertFalse((self.data / "reserve").exists())
        self.assertEqual(metric(self.metrics, "rekindle_state_store_commit_failures_total"), 0)
        self.assertEqual(self.happened(), ["disk_reserve_used"])

        # After a restart on a full disk the coordinator still has all changes that it has confirmed to users, but no
        # room for another reserve.
        self.running.cli("pause", "a")
        self.fill("second")
        self.running.kill_coordinator()
        (self.data / "second").unlink()
        self.fill_all_but(1 << 20)
        self.running.start_coordinator()
        self.assertEqual(self.running.status("a")["state"], "PAUSED")
        wait_until(lambda: "disk_reserve_missing" in self.happened(), PATIENCE, "the event")
        self.assertEqual(self.held(), 0)

        for filler in ("filler", "third"):
            (self.data / filler).unlink()
        wait_until(lambda: "disk_reserve_kept" in self.happened(), PATIENCE, "the reserve to be taken again", poll=0.5)
        self.assertEqual(self.held(), RESERVE)
        self.submit("b")

    def fill_all_but(self, left):
        self.fill("third")
        path = self.data / "third"
        with open(path, "r+b") as filler:
            filler.truncate(path.stat().st_size - left)

    def test_a_start_on_a_full_disk_takes_the_reserve(self):
        self.submit("a")
        self.running.kill_coordinator()
        self.fill("filler")
        self.running.start_coordinator()
        self.change_until(lambda: self.held() == 0)
        self.assertEqual(self.happened(), ["disk_reserve_used"])

    def test_without_any_space_changes_are_refused_until_there_is_some(self):
        self.submit("a")
        self.fill("filler")
        self.change_until(lambda: self.held() == 0)
        self.fill("second")

        def refused():
            try:
                self.running.cli("pause", "a")
                self.running.cli("resume", "a")
            except RuntimeError as error:
                self.assertRegex(str(error), "free some disk space")
                return True
            return False
        wait_until(refused, PATIENCE, "a change that is refused", poll=0)
        (self.data / "second").unlink()
        wait_until(lambda: self.running.try_cli("cancel", "a"), PATIENCE, "the next change")
        self.assertEqual(self.running.status("a")["state"], "CANCELLED")


if __name__ == "__main__":
    unittest.main(verbosity=2)
