"""The demo's faults, all of them in one job, in each mode of training that has another path through a step: the final weights
are those of an undisturbed run in the same mode."""
import unittest

from base import ClusterTest, Injector, small_job

KINDS = ["trainer_killed", "coordinator_killed", "trainer_frozen", "agent_killed", "checkpoint_killed", "node_killed", "drained",
         "node_added", "node_added", "all_killed"]


class ModesTest(ClusterTest):
    def disturb(self, **training):
        spec = small_job("job", self.text, steps=1500, workers=4, **training)
        cluster = self.cluster()
        cluster.submit(spec)
        inject = Injector(cluster, "job")
        inject.every_fault()
        self.assertEqual([row["kind"] for row in inject.rows], KINDS)
        for row in inject.rows[:-1]:
            self.assertEqual(row["steps_redone"], 0, row)
        self.assertLessEqual(inject.rows[-1]["steps_redone"], spec["spec"]["checkpoint"]["every_steps"] + 5)
        self.assert_undisturbed(self.await_end(cluster, "job"), spec)

    def test_bf16(self):
        self.disturb(precision="bf16")


if __name__ == "__main__":
    unittest.main()
