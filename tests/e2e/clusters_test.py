"""Tests that live trainers obey the cluster that started them, whoever else answers at its address."""
import shutil
import time
import unittest

from base import ClusterTest, Injector, small_job, steps_done, wait_until


class ClustersTest(ClusterTest):
    def start(self, steps=800):
        self.running = self.cluster()
        self.spec = small_job("job", self.text, steps=steps)
        self.running.submit(self.spec)
        self.inject = Injector(self.running, "job")
        self.inject.await_members(3)
        self.inject.await_steps(20)
        self.before = self.running.status("job")
        self.pids = self.running.trainer_pids()

    def assert_obeyed_by_nobody(self):
        """Checks that the nodes have called the coordinator and do not obey it, while the trainers step on."""
        log = self.running.logs / "n1-worker.log"
        wait_until(lambda: "belongs to cluster" in log.read_text(), 20, "n1 to say that it does not obey")
        since = time.monotonic()
        wait_until(lambda: time.monotonic() > since + 3, 4, "three seconds to pass", poll=0.05)
        self.inject.await_steps(10)
        self.assertEqual(self.running.trainer_pids(), self.pids)
        self.assertEqual(self.running.cli("nodes").get("nodes", []), [])

    def assert_nothing_redone(self):
        status = self.await_end(self.running, "job")
        self.assertEqual(status["generation"], self.before["generation"])
        self.assertEqual(status["steps_redone"], 0)
        self.assert_undisturbed(status, self.spec)

    def test_an_empty_folder_stops_nobody(self):
        self.start()
        self.running.swap_coordinator(aside="kept")
        self.assert_obeyed_by_nobody()
        self.running.swap_coordinator(aside="empty", back="kept")
        self.assert_nothing_redone()

    def test_another_clusters_coordinator_stops_nobody(self):
        """Tests that nobody obeys the coordinator of another cluster, which has a job of the same name."""
        self.start()
        self.running.swap_coordinator(aside="kept")
        self.running.submit(small_job("job", self.text, steps=20))
        self.assert_obeyed_by_nobody()
        self.assertEqual(self.running.status("job")["step"], 0)
        self.running.swap_coordinator(aside="other", back="kept")
        self.assert_nothing_redone()

    def test_a_node_that_is_free_again_joins_the_other_cluster(self):
        self.start()
        node = self.running.nodes["n3"]
        node.kill(wipe=False)
        done = steps_done(self.running)
        wait_until(lambda: steps_done(self.running) > done + 5, 30, "the others to go on")
        self.pids = self.running.trainer_pids()
        self.running.swap_coordinator(aside="kept")
        self.assert_obeyed_by_nobody()
        self.running.run_worker("forget-cluster", "--dir", str(node.dir))
        shutil.rmtree(self.running.shared_memory / "n3", ignore_errors=True)
        node.start()
        wait_until(lambda: [n["name"] for n in self.running.cli("nodes").get("nodes", [])] == ["n3"], 20,
                   "n3 to join the other cluster", poll=0.1)
        self.assertEqual(self.running.trainer_pids(), self.pids)


if __name__ == "__main__":
    unittest.main()
