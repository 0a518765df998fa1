"""Tests the cost levers smoke test, plateau and early stop with real processes, on one worker and on two."""
import unittest

from base import ClusterTest, small_job


class LeversTest(ClusterTest):
    def job(self, name, workers):
        job = small_job(name, self.text, steps=4000, workers=workers, evaluate_every=5, smoke_test=True)
        job["spec"]["optimizer"] = {"kind": "lion", "learning_rate": 1e-3}
        job["spec"]["schedule"] = {"kind": "plateau", "warmup_steps": 2, "patience": 0, "min_delta": 0.05}
        # No patience is set, so the job stops early after 3 evaluations that bring no gain.
        job["spec"]["early_stop"] = {"min_delta": 0.05}
        return job

    def test_a_job_stops_early_at_the_same_state_on_any_number_of_workers(self):
        cluster = self.cluster(nodes=("n1", "n2"))
        ends = []
        for workers in (2, 1):
            name = f"levers{workers}"
            cluster.submit(self.job(name, workers))
            ends.append(self.await_end(cluster, name))
        status = ends[0]
        self.assertEqual(status["state_digest"], ends[1]["state_digest"])
        self.assertLess(status["step"], 4000)
        self.assertIn(f"stopped early at step {status['step']} of 4000: 3 evaluations in a row", status["reason"])
        levers = {lever["lever"]: lever for lever in status["levers"]}
        # The status may list the lever `ranges` or not, because two workers on a busy machine may differ in speed.
        levers.pop("ranges", None)
        self.assertEqual(sorted(levers), ["early_stop", "plateau", "smoke_test"])
        self.assertEqual(levers["early_stop"]["steps_saved"], 4000 - status["step"])
        self.assertGreater(levers["early_stop"]["seconds_saved"], 0)
        self.assertLess(status["learning_rate"], 1e-3)
        kinds = [event["kind"] for event in cluster.events("levers2")["events"]]
        self.assertLess(kinds.index("smoke_test"), kinds.index("plateau"))


if __name__ == "__main__":
    unittest.main()
