"""Tests that the coordinator's state is copied while a job trains, and becomes a data folder again."""
import pathlib
import stat
import subprocess
import unittest

from base import Cluster, ClusterTest, Injector, small_job
from programs import program


class BackupTest(ClusterTest):
    def refused(self, *args):
        """Runs `rekindle ARGS`, which has to fail, and returns what it printed as its error."""
        done = subprocess.run([program("rekindle"), *map(str, args)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def test_a_cluster_that_trains_is_copied_and_restored(self):
        running = self.cluster(nodes=("n1",))
        running.submit(small_job("job", self.text, steps=5000))
        inject = Injector(running, "job")
        inject.await_steps(5)

        file = pathlib.Path(self.folder) / "backup"
        taken = running.cli("backup", str(file))
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        self.assertEqual(taken["file"], str(file))
        inject.await_steps(5)
        content = file.read_bytes()
        self.assertIn("is there already", self.refused("backup", file, "--endpoint", running.endpoint))
        self.assertEqual(file.read_bytes(), content)
        self.assertEqual(running.cli("backup", str(file), "--force")["cluster"], taken["cluster"])
        self.assertEqual([path.name for path in file.parent.glob("backup*")], ["backup"])

        restored = self.guarded(Cluster(pathlib.Path(self.folder) / "restored", nodes=()))
        data = restored.dir / "coordinator"
        bad = file.with_name("damaged")
        bad.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        self.assertIn(f"{bad} is damaged", self.refused("restore", bad, "--data", data))
        self.assertFalse(data.exists())

        told = running.cli("restore", str(file), "--data", str(data))
        self.assertEqual((told["cluster"], told["epoch_before"], told["epoch"]), (taken["cluster"], 1, 2))
        self.assertEqual(told["jobs"], {"RUNNING": 1})
        self.assertIn("is not empty", self.refused("restore", file, "--data", data))
        self.assertIn("is in use by", self.refused("restore", file, "--data", running.dir / "coordinator"))
        restored.start_coordinator()
        (job,) = restored.cli("jobs")["jobs"]
        self.assertEqual(job["uid"], running.cli("get", "job")["uid"])
        inject.await_steps(5)


if __name__ == "__main__":
    unittest.main()
