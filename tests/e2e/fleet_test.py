"""Tests the planner with real processes: two clouds on this machine, with prices of their own.

The job moves to the cloud that becomes cheaper, and back when that cloud takes its machines away. `rekindle events`
tells the story."""
import pathlib
import signal
import unittest

from base import ClusterTest, small_job, steps_done, wait_until
from fleet import FleetCluster, local_pool

# The job is cancelled at the end. recovery_test.py tests that a change of members leaves the result as it is.
STEPS = 20_000


class FleetTest(ClusterTest):
    def started(self, *pools, **goals):
        cluster = FleetCluster(pathlib.Path(self.folder) / "cluster", pools)
        self.addCleanup(cluster.stop)
        cluster.start()
        spec = small_job("job", self.text, steps=STEPS, workers=2, global_batch=48)
        # A start of the job takes little time here, so a move to a cheaper pool soon saves more than it costs.
        spec["spec"]["estimate"] = {"step_seconds": 0.5, "start_seconds": 2}
        spec["spec"]["goals"] = goals
        cluster.submit(spec)
        return cluster

    def pools_of_members(self, cluster):
        pools = {node["name"]: node["pool"] for node in cluster.cli("nodes")["nodes"]}
        return sorted(pools.get(m["node"], "") for m in cluster.status("job").get("members", []))

    def await_pools(self, cluster, pools, what):
        wait_until(lambda: self.pools_of_members(cluster) == pools, 60, what, poll=0.2)
        done = steps_done(cluster)
        wait_until(lambda: steps_done(cluster) > done + 3, 60, "steps there", poll=0.1)

    def test_moves_to_the_cheaper_cloud_and_back(self):
        steady = local_pool("steady", 1.0, 2)
        cluster = self.started(local_pool("other", 2.0, 2), steady, capacity="spot")
        self.await_pools(cluster, ["steady", "steady"], "the job to run where it costs less")
        cluster.write_fleet([local_pool("other", 0.4, 2), steady])
        cluster.coordinator.send_signal(signal.SIGHUP)
        self.await_pools(cluster, ["other", "other"], "the job to move to what is cheaper now")
        cluster.market("other", 0, notice=20)
        self.await_pools(cluster, ["steady", "steady"], "the job to be back")
        status = cluster.status("job")
        self.assertEqual(sum(f["steps_redone"] for f in status["faults"]), 0, status["faults"])
        story = "\n".join(e["text"] for e in cluster.cli("events")["events"])
        for sentence in ("steady has spot capacity", "other costs 0.400 an hour", "the market of pool other shrank"):
            self.assertIn(sentence, story)
        cluster.cli("cancel", "job")


if __name__ == "__main__":
    unittest.main()
