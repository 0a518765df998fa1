"""Tests two machines of one name, with real processes: the first goes on, the second waits, a lost one is replaced."""
import shutil
import signal
import unittest

from base import ClusterTest, small_job, wait_until
from live_processes import kill
from node import Node


class AnotherBox(Node):
    """Stands for a separate machine that uses the name of the first, with a copy of its disk or an empty one."""

    def __init__(self, cluster, copy_of=None):
        super().__init__(cluster, "box")
        self.dir = cluster.dir / "nodes" / "another-box"
        self.dir.mkdir(parents=True)
        # The copy of the disk leaves out the records of the first machine's processes. Both simulated machines share
        # one process table, so the second would find the first one's processes alive.
        if copy_of is not None:
            shutil.copy(copy_of.dir / "node.json", self.dir)

    def shared_memory(self):
        return self.cluster.shared_memory / "another-box"


class NamesTest(ClusterTest):
    def started(self):
        cluster = self.cluster(nodes=("box",))
        cluster.submit(small_job("job", self.text, steps=100_000, workers=1))
        wait_until(lambda: cluster.status("job")["step"] > 5, 60, "the job to step", poll=0.1)
        return cluster, cluster.nodes["box"]

    def second(self, cluster, copy_of=None):
        node = AnotherBox(cluster, copy_of)
        self.addCleanup(node.kill)
        return node

    def events(self, cluster, kind):
        return [e for e in cluster.cli("events")["events"] if e["kind"] == kind]

    def log(self, cluster):
        return (cluster.logs / "box-worker.log").read_text()

    def assert_untouched(self, cluster, trainers, what):
        self.assertEqual(cluster.nodes["box"].pids("trainer"), trainers, what)
        step = cluster.status("job")["step"]
        wait_until(lambda: cluster.status("job")["step"] > step + 20, 30, f"the job to go on {what}", poll=0.1)
        self.assertEqual(cluster.nodes["box"].pids("trainer"), trainers, what)

    def first_goes_on(self, copied):
        cluster, first = self.started()
        trainers = first.pids("trainer")
        second = self.second(cluster, first if copied else None)
        second.start_worker()
        wait_until(lambda: second.pids("agent"), 10, "the second agent")
        self.assert_untouched(cluster, trainers, "beside a second machine of its name")
        second.worker.send_signal(signal.SIGTERM)
        self.assertEqual(second.worker.wait(timeout=30), 0)
        self.assert_untouched(cluster, trainers, "after the second machine of its name was stopped")
        self.assertEqual(second.pids("trainer"), [])
        self.assertEqual([n["state"] for n in cluster.cli("nodes")["nodes"]], ["ready"])

    def test_the_first_goes_on_beside_a_second(self):
        self.first_goes_on(copied=False)

    def test_the_first_goes_on_beside_a_copy_of_its_disk(self):
        self.first_goes_on(copied=True)

    def test_stopping_the_second_does_not_stop_the_first(self):
        cluster = self.cluster(nodes=("box",))
        first = cluster.nodes["box"]
        wait_until(lambda: cluster.cli("nodes").get("nodes"), 20, "the first one")
        second = self.second(cluster)
        second.start()
        wait_until(lambda: self.events(cluster, "node_name_in_use") + self.events(cluster, "node_replaced"), 20,
                   "the coordinator to see two", poll=0.1)
        second.worker.send_signal(signal.SIGTERM)
        second.worker.wait(timeout=60)
        cluster.submit(small_job("job", self.text, steps=100_000, workers=1))
        wait_until(lambda: first.pids("trainer") or first.worker.poll() is not None, 60, "the first one's trainer")
        self.assertIsNone(first.worker.poll(), "the first one ended with the second:\n" + self.log(cluster))
        self.assertNotIn("drained: leaving", self.log(cluster))

    def test_both_are_told_and_the_second_follows_the_first(self):
        cluster, first = self.started()
        second = self.second(cluster)
        second.start()
        wait_until(lambda: "is that of another machine" in self.log(cluster), 20, "the second one's log")
        wait_until(lambda: "another machine (at 127.0.0.1" in self.log(cluster), 20, "the first one's log")
        self.assertEqual(len(self.events(cluster, "node_name_in_use")), 1)
        self.assertIn("another machine", cluster.cli("nodes")["nodes"][0]["reason"])
        # The worker of the second machine waits and does not end, so no supervisor restarts it again and again. It gets
        # the name when the first machine is gone.
        self.assertIsNone(second.worker.poll())
        step = cluster.status("job")["step"]
        first.kill()
        wait_until(lambda: second.pids("trainer"), 30, "the second machine to be the node")
        wait_until(lambda: cluster.status("job")["step"] > step + 5, 60, "the job to go on", poll=0.1)

    def test_a_machine_that_vanished_is_replaced_at_once(self):
        cluster, first = self.started()
        first.kill()
        first.start()
        wait_until(lambda: first.pids("trainer"), 5, "the new machine of that name to be the node")
        self.assertEqual(len(self.events(cluster, "node_replaced")), 1)
        self.assertEqual(self.events(cluster, "node_name_in_use"), [])

    def test_the_first_was_frozen_and_hears_why_it_waits(self):
        cluster, first = self.started()
        frozen = first.all_pids()
        kill(frozen, signal.SIGSTOP)
        second = self.second(cluster)
        second.start()
        wait_until(lambda: second.pids("trainer"), 30, "the second machine to be the node")
        kill(frozen, signal.SIGCONT)
        wait_until(lambda: "over from this one (at 127.0.0.1" in self.log(cluster), 20, "the first one's log")
        wait_until(lambda: not first.pids("trainer"), 30, "the first machine's trainer to end")
        trainers = second.pids("trainer")
        step = cluster.status("job")["step"]
        wait_until(lambda: cluster.status("job")["step"] > step + 5, 60, "the job to go on", poll=0.1)
        self.assertEqual(second.pids("trainer"), trainers)


if __name__ == "__main__":
    unittest.main()
