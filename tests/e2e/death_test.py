"""Tests that the death of a trainer with much memory is known and acted on before the kernel has freed the memory."""
import os
import select
import time
import unittest

from base import ClusterTest, Injector, small_job, wait_until
import ballast

# `HELD` is the number of bytes that each trainer holds in small pages beside its own memory.
HELD = 10**9
# `STEPS` are enough for all kills, because the job makes some hundreds of steps while a killed trainer comes back.
STEPS = 1200
KILLS = 2


class DeathTest(ClusterTest):
    def setUp(self):
        super().setUp()
        missing = ballast.missing(HELD, trainers=3)
        if missing:
            self.skipTest(missing)

    def test_a_large_trainers_death_is_told_before_its_memory_is_free(self):
        trainer = str(ballast.trainer_program(self.folder, HELD))
        names = ("n1", "n2", "n3")
        cluster = self.cluster(worker_flags={name: ["--trainer-binary", trainer] for name in names},
                               env={"REKINDLE_LOG_FORMAT": "json"})
        spec = small_job("job", self.text, steps=STEPS)
        cluster.submit(spec)
        inject = Injector(cluster, "job")
        inject.await_members(3)
        inject.await_steps(5)
        sooner = []
        for _ in range(KILLS):
            sooner.append(self.kill_one(cluster, inject, "n2"))
        self.assertGreater(max(sooner), 0, f"seconds from the agent's word to the process's end: {sooner}")
        status = self.await_end(cluster, "job")
        self.assertEqual(status["steps_redone"], 0)
        self.assert_undisturbed(status, spec)

    def kill_one(self, cluster, inject, node):
        """Kills a trainer. Returns how many seconds the process still existed after the agent knew of the death."""
        [pid] = cluster.nodes[node].pids("trainer")
        self.assertGreater(ballast.held_by(pid), HELD)
        known = len(cluster.status("job")["faults"])
        process = os.pidfd_open(pid)
        self.addCleanup(os.close, process)
        killed = time.time()
        os.kill(pid, 9)
        self.assertTrue(select.select([process], [], [], 60)[0])
        gone = time.time()
        noticed = wait_until(lambda: ballast.noticed(cluster, node, killed), 60, "the agent to notice")
        fault = inject.await_fault("trainer_killed", known)
        self.assertIn(f"killed by signal 9 (Killed) (agent of {node})", fault["reason"])
        inject.await_members(3)
        inject.await_steps(3)
        self.assertEqual(len(cluster.nodes[node].pids("trainer")), 1)
        return gone - noticed


if __name__ == "__main__":
    unittest.main()
