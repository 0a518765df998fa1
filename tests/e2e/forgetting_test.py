"""Tests `rekindle rm` and the limit on the number of ended jobs that are kept, with a real coordinator.

The jobs never ran, so no node is needed."""
import json
import subprocess
import unittest

from base import ClusterTest, small_job, wait_until
from programs import program


class ForgettingTest(ClusterTest):
    def rekindle(self, *args):
        return subprocess.run([program("rekindle"), *args, "--endpoint", self.running.endpoint],
                              capture_output=True, text=True, timeout=60)

    def ended(self, name):
        self.running.submit(small_job(name, self.text))
        return self.running.cli("cancel", name)["uid"]

    def names(self):
        return [job["name"] for job in self.running.cli("jobs").get("jobs", [])]

    def test_rm_forgets_a_job_that_is_over(self):
        self.running = self.cluster(nodes=())
        self.running.submit(small_job("one", self.text))
        refused = self.rekindle("rm", "one")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("`rekindle cancel one` it first", refused.stderr)
        uid = self.running.cli("cancel", "one")["uid"]
        done = self.rekindle("rm", "one")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, rf"^job one is forgotten; its checkpoints stay in file:///\S+/{uid}$")
        self.assertEqual(self.names(), [])
        again = self.rekindle("rm", "one")
        self.assertEqual(again.returncode, 1)
        self.assertIn("no job 'one'", again.stderr)

        # The name of the forgotten job is free for another job.
        uid = self.ended("one")
        answer = json.loads(self.rekindle("rm", uid, "-o", "json").stdout)
        self.assertEqual(answer["job"]["uid"], uid)
        self.assertTrue(answer["checkpoints"].endswith("/" + uid))
        self.assertIn("checkpoints stay", self.rekindle("rm", "--help").stdout)

    def test_more_than_are_kept_are_forgotten_also_after_a_restart(self):
        self.running = self.cluster(nodes=(), coordinator_flags=["--keep-jobs", "1"])
        self.ended("first")
        self.running.submit(small_job("active", self.text))
        self.assertEqual(self.names(), ["first", "active"])
        self.ended("second")
        wait_until(lambda: self.names() == ["active", "second"], 20, "the first one to be forgotten")
        self.running.kill_coordinator()
        self.running.start_coordinator()
        self.assertCountEqual(self.names(), ["active", "second"])


if __name__ == "__main__":
    unittest.main()
