"""Tests jobs of unequal priority on a pool whose machines are ordered, with real processes and `rekindle up`."""
import json
import pathlib
import subprocess
import unittest

from base import ClusterTest, small_job, wait_until
from cluster import Cluster
from programs import program


class PriorityTest(ClusterTest):
    def up(self, *pools):
        """Starts a cluster by `rekindle up`, whose only nodes are those that the pools make."""
        cluster = Cluster(pathlib.Path(self.folder) / "up", nodes=())
        self.addCleanup(cluster.stop)
        file = cluster.dir / "fleet.yaml"
        file.write_text(json.dumps({"pools": pools}))
        up = subprocess.Popen([program("rekindle"), "up", "--workers", "0", "--dir", str(cluster.dir), "--port", "0",
                               "--fleet",
                               str(file), "-o", "json"], stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(up.stdout.close)
        self.addCleanup(up.wait)
        self.addCleanup(up.terminate)
        cluster.endpoint = json.loads(up.stdout.readline())["endpoint"]
        return cluster

    def test_the_minimum_above_takes_the_node_of_the_job_below(self):
        cluster = self.up({"name": "spot", "provider": "local", "zone": "spot", "capacity": "spot", "price": 0.1,
                           "max": 2, "machines": {"poll_seconds": 0.5}})
        low = small_job("low", self.text, steps=300, workers=1)
        cluster.submit(low)
        wait_until(lambda: cluster.status("low").get("step", 0) > 3, 60, "the job below to run", poll=0.1)
        high = small_job("high", self.text, steps=30, workers=2)
        high["spec"]["priority"] = 1000
        high["spec"]["workers"]["min"] = 2
        cluster.submit(high)

        def runs():
            return cluster.status("high")["state"] != "PENDING" or cluster.status("low")["state"] == "SUCCEEDED"
        wait_until(runs, 90, "the job above to run", poll=0.1)
        below = cluster.status("low")
        self.assertEqual(below["state"], "PENDING", "the job below ran to its end while the one above waited")
        self.assertIn("preempted by job high of priority 1000", below["reason"])
        self.await_end(cluster, "high")

        status = self.await_end(cluster, "low")
        kinds = [e["kind"] for e in cluster.events("low")["events"]
                 if e["kind"] in ("preempted", "nodes_released", "resumed")]
        self.assertEqual(kinds, ["preempted", "nodes_released", "resumed"])
        self.assertEqual(sum(f["steps_redone"] for f in status.get("faults", [])), 0)
        self.assert_undisturbed(status, low)


if __name__ == "__main__":
    unittest.main()
