"""Tests a job whose first epoch runs without GPUs and that then moves to nodes with GPUs, without losing a step.

The nodes with GPUs have the device that stands in for one in tests."""
import unittest

from base import ClusterTest, small_job, wait_until

STEPS = 250


class FirstEpochTest(ClusterTest):
    def test_moves_when_every_sample_was_read(self):
        gpu = ["--device", "fake"]
        cluster = self.cluster(nodes=("c1", "c2", "g1", "g2"), worker_flags={"g1": gpu, "g2": gpu})
        wait_until(lambda: len(cluster.cli("nodes")["nodes"]) == 4, 20, "all nodes", poll=0.1)
        spec = small_job("job", self.text, steps=STEPS, workers=2, reduce="fp32", first_epoch="cpu")
        spec["spec"]["data"]["max_bytes"] = 50_000
        cluster.submit(spec)
        used = {}

        def over():
            status = cluster.status("job")
            for member in status["members"]:
                used.setdefault(member["node"][0], []).append(status["step"])
            return status if status["state"] in ("SUCCEEDED", "FAILED") else None
        status = wait_until(over, 120, "the job to end", poll=0.05)
        self.assertEqual(status["state"], "SUCCEEDED", status["reason"])
        self.assertGreater(status["epoch_steps"], 20)
        self.assertLess(status["epoch_steps"], 0.5 * STEPS)
        self.assertGreaterEqual(min(used["g"]), status["epoch_steps"], "no node with a GPU before")
        self.assertLess(min(used["c"]), status["epoch_steps"])
        self.assertLess(max(used["c"]), STEPS, "none without one to the end")
        self.assertEqual(status["steps_redone"], 0)
        told = [lever for lever in status["levers"] if lever["lever"] == "first_epoch"]
        self.assertGreater(told[0]["seconds_saved"], 0)
        self.assertIn("nodes without GPUs", told[0]["text"])
        drains = [f["reason"] for f in status["faults"] if f["kind"] == "drained"]
        self.assertTrue(any("the first epoch is over" in reason for reason in drains), drains)


if __name__ == "__main__":
    unittest.main()
