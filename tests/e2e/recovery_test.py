"""Tests recovery with real processes and real kills: the final weights are always those of an undisturbed run."""
import os
import random
import time
import unittest

from base import ClusterTest, Injector, small_job, steps_done, wait_until
from timelines import completions


# `STEPS` are enough for every fault on a fast machine. All jobs make so many, so one undisturbed run serves all tests.
STEPS = 1000


class RecoveryTest(ClusterTest):
    def started(self):
        cluster = self.cluster()
        spec = small_job("job", self.text, steps=STEPS)
        cluster.submit(spec)
        inject = Injector(cluster, "job")
        inject.await_members(len(cluster.nodes))
        inject.await_steps(8)
        return cluster, spec, inject

    def test_killed_trainers_and_a_killed_coordinator_cost_no_completed_step(self):
        cluster, spec, inject = self.started()
        for node in ("n1", "n2"):
            others = {n: cluster.nodes[n].pids("trainer") for n in cluster.nodes if n != node}
            row = inject.trainer_killed(node)
            self.assertEqual(row["steps_redone"], 0)
            self.assertIn("killed by signal 9", row["reason"])
            # Training pauses only briefly, because a closed socket or the agent reports the death, so nobody has to
            # wait until silence proves it.
            self.assertLess(row["pause_seconds"], 1)
            self.assertEqual({n: cluster.nodes[n].pids("trainer") for n in others}, others)
        self.lose_coordinator(cluster, inject)
        status = self.await_end(cluster, "job")
        self.assertEqual(status["steps_redone"], 0)
        self.assert_undisturbed(status, spec)

    def test_a_vanished_node_and_a_frozen_trainer(self):
        cluster, spec, inject = self.started()
        # The node of rank 0 vanishes, because the loss of rank 0 must cost no more than that of another rank.
        first = cluster.status("job")["members"][0]["node"]
        row = inject.node_killed(first)
        self.assertEqual(row["steps_redone"], 0)
        self.assertEqual(len(cluster.status("job")["members"]), 2)
        inject.node_added("n4")
        row = inject.trainer_frozen("n4")
        self.assertEqual(row["steps_redone"], 0)
        # The others notice a frozen trainer at the collective deadline, which is 2 s in this job.
        self.assertLessEqual(row["pause_seconds"], 2 + row["normal_step_seconds"] + 0.5)
        self.assert_undisturbed(self.await_end(cluster, "job"), spec)

    def lose_coordinator(self, cluster, inject):
        generation = cluster.status("job")["generation"]
        row = inject.coordinator_killed()
        self.assertEqual(cluster.status("job")["generation"], generation)
        self.assertLess(row["pause_seconds"], 0.5)
        # If a trainer dies while the coordinator is away, survivors wait, and go on within a second of its return.
        cluster.kill_coordinator()
        cluster.nodes["n1"].kill_trainers()
        wait_until(lambda: not self.stepping(cluster), 10, "the survivors to wait")
        cluster.start_coordinator()
        returned = cluster.listening_since
        first = wait_until(lambda: [t for t in completions(cluster.marks()).values() if t > returned], 10, "a step",
                           poll=0.01)
        self.assertLess(min(first) - returned, 1.0)

    @staticmethod
    def stepping(cluster):
        marks = [m for m in cluster.marks() if m["event"] == "step"]
        return time.monotonic() - marks[-1]["t"] < 0.5

    def test_agent_and_checkpoint_service_are_killed_alone_and_a_node_is_drained(self):
        cluster, spec, inject = self.started()
        trainers = cluster.nodes["n1"].pids("trainer")
        inject.agent_killed("n1")
        inject.checkpoint_killed("n2")
        wait_until(lambda: cluster.nodes["n1"].pids("agent"), 10, "the agent to be restarted")
        self.assertEqual(cluster.nodes["n1"].pids("trainer"), trainers)
        row = inject.drained("n2")
        self.assertEqual((row["steps_redone"], row["micro_batches_redone"]), (0, 0))
        row = inject.node_added("n4")
        self.assertEqual((row["steps_redone"], row["micro_batches_redone"]), (0, 0))
        status = self.await_end(cluster, "job")
        self.assertEqual(status["micro_batches_redone"], 0)
        self.assert_undisturbed(status, spec)

    def test_all_killed_resumes_from_the_newest_checkpoint(self):
        cluster, spec, inject = self.started()
        wait_until(lambda: cluster.status("job")["checkpoint_step"] > 0, 60, "a checkpoint", poll=0.1)
        row = inject.all_killed()
        self.assertLessEqual(row["steps_redone"], spec["spec"]["checkpoint"]["every_steps"] + 5)
        self.assert_undisturbed(self.await_end(cluster, "job"), spec)

    def test_a_random_series(self):
        seed = int(os.environ.get("REKINDLE_SEED", random.randrange(2**31)))
        print(f"REKINDLE_SEED={seed}")
        rng = random.Random(seed)
        cluster, spec, inject = self.started()
        added = 0
        for _ in range(3):
            kind = rng.choice(["trainer", "coordinator", "agent", "checkpoint", "node"])
            node = rng.choice(sorted(cluster.nodes))
            print(f"fault: {kind} {node}")
            if kind == "coordinator":
                inject.coordinator_killed()
            elif kind == "node":
                inject.node_killed(node)
                added += 1
                inject.node_added(f"x{added}")
            else:
                getattr(inject, f"{kind}_killed")(node)
        self.assertGreater(steps_done(cluster), 0)
        self.assert_undisturbed(self.await_end(cluster, "job"), spec)


if __name__ == "__main__":
    unittest.main()
