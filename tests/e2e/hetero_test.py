"""Tests that a slowed rank gets less to compute, also after the kill of another, and that the weights do not change."""
import unittest

from base import ClusterTest, Injector, small_job, wait_until
from throttle import throttled

STEPS = 400
MICRO_BATCHES = 16


class HeteroTest(ClusterTest):
    def share_of(self, cluster, node, cuts=None):
        """Returns the node's micro-batches of a step, or all of them for a node that is not a member.

        `cuts` gets what the status says of the newest division of the micro-batches."""
        status = cluster.status("job")
        if cuts is not None:
            cuts.update(lever["text"] for lever in status["levers"] if lever["lever"] == "ranges")
        sizes = {m["node"]: m["micro_batch_end"] - m["micro_batch_begin"] for m in status["members"]}
        return sizes.get(node, MICRO_BATCHES)

    def test_ranges_follow_a_slowed_rank_through_a_kill(self):
        cluster = self.cluster()
        spec = small_job("job", self.text, steps=STEPS, global_batch=4 * MICRO_BATCHES, micro_batch=4)
        cluster.submit(spec)
        inject = Injector(cluster, "job")
        inject.await_members(3)
        inject.await_steps(12)
        with throttled(cluster.nodes["n2"], 0.2):
            generation = cluster.status("job")["generation"]
            # If the micro-batches are divided anew several times within a minute, events report only the first and the
            # newest time, so the test reads all of them from the status.
            cuts = set()
            wait_until(lambda: self.share_of(cluster, "n2", cuts) <= 3, 60, "n2 to get less", poll=0.1)
            self.assertIn("n2/0 takes", "\n".join(cuts))
            self.assertTrue(self.events(cluster, "ranges", ""))
            self.assertEqual(cluster.status("job")["generation"], generation)
            # A straggler may be named only a minute after another one was named.
            wait_until(lambda: self.events(cluster, "straggler", "n2/0 is a straggler (compute)"), 120,
                       "the straggler to be named", poll=0.2)
            row = inject.trainer_killed("n1")
            self.assertEqual(row["steps_redone"], 0)
            # The kill of n1's trainer has changed the membership, but the coordinator still knows how slow n2 is.
            self.assertLessEqual(self.share_of(cluster, "n2"), 4)
        status = self.await_end(cluster, "job")
        self.assert_undisturbed(status, spec)

    @staticmethod
    def events(cluster, kind, text):
        return [e for e in cluster.events("job")["events"] if e["kind"] == kind and text in e["text"]]


if __name__ == "__main__":
    unittest.main()
