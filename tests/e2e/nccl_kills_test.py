"""Tests that a rank which is killed while ranks exchange by NCCL costs no step and no other process.

The trainers compute on fake devices, and a library with NCCL's calls carries what they exchange. It is as unkind as
NCCL may be: every other rank does not notice that a peer has died, and hangs until its exchange is aborted."""
import pathlib
import unittest

from base import ClusterTest, small_job, steps_done, wait_until

STEPS = 80
# A rank is killed at each of these points: before, in and after joining NCCL, in the first exchange and in a later one,
# between the exchange and the update, in the update, and while a snapshot is split and copied.
POINTS = ("1 of NCCL join", "1 of NCCL joining", "1 of NCCL start", "25 of NCCL start", "25 of NCCL poll",
          "20 of backward", "20 of accumulate", "20 of squares", "20 of update", "2 of split", "2 of snapshot")


class NcclKillsTest(ClusterTest):
    def killed(self, world, victim, point, **options):
        """Runs a job of `world` trainers, of which the one on `victim` is killed at `point`.

        Returns the cluster and the job when that has happened."""
        file = pathlib.Path(self.folder) / f"happened-{world}-{point}"
        names = [f"n{rank + 1}" for rank in range(world)]
        cluster = self.cluster(nodes=names, device="fake", name=f"cluster-{world}-{point.replace(' ', '-')}",
                               worker_env={victim: {"REKINDLE_FAKE_FAULT": f"kill at {point} once in {file}"}},
                               **options)
        spec = small_job("job", self.text, steps=STEPS)
        # Two workers at least begin, so that another one has the state when a fault comes.
        cluster.submit({**spec, "spec": {**spec["spec"], "workers": {"min": 2, "max": world + 1}}})
        if victim not in names:
            wait_until(lambda: steps_done(cluster) > 5, 60, "the job to step", poll=0.01)
            cluster.add_node(victim)
        wait_until(file.exists, 60, f"the kill at {point}", poll=0.01)
        return cluster, spec

    def others(self, cluster, victim):
        return {name: node.pids("trainer") for name, node in cluster.nodes.items() if name != victim}

    def assert_survived(self, cluster, spec, others):
        status = self.await_end(cluster, "job")
        self.assertEqual(status["steps_redone"], 0, status)
        self.assert_undisturbed(status, spec)
        started = {mark["trainer"] for mark in cluster.marks() if mark["event"] == "start"}
        for name in others:
            self.assertEqual(len([trainer for trainer in started if trainer.startswith(name + "/")]), 1, started)

    def kill_at_each_point(self, world):
        for point in POINTS:
            with self.subTest(world=world, point=point):
                cluster, spec = self.killed(world, "n2", point)
                others = self.others(cluster, "n2")
                self.assert_survived(cluster, spec, others)
                cluster.stop()

    def test_two_ranks(self):
        self.kill_at_each_point(2)

    def test_three_ranks(self):
        self.kill_at_each_point(3)

    def test_four_ranks(self):
        self.kill_at_each_point(4)

    def test_the_rank_that_makes_the_id(self):
        for world in (2, 3, 4):
            with self.subTest(world=world):
                cluster, spec = self.killed(world, "n1", "1 of NCCL id")
                self.assert_survived(cluster, spec, self.others(cluster, "n1"))
                cluster.stop()

    def test_a_joiner_that_is_given_the_state(self):
        for world in (2, 3, 4):
            with self.subTest(world=world):
                cluster, spec = self.killed(world, f"n{world + 1}", "1 of NCCL start")
                others = self.others(cluster, f"n{world + 1}")
                self.assert_survived(cluster, spec, others)
                cluster.stop()

    def events(self, cluster, kind):
        return [event["text"] for event in cluster.cli("events")["events"] if event["kind"] == kind]

    def test_an_abort_that_hangs(self):
        # The rank keeps its state and goes on over its host. It starts anew when it can, and NCCL is used again.
        file = pathlib.Path(self.folder) / "hangs"
        cluster = self.cluster(device="fake", worker_env={
            "n1": {"REKINDLE_FAKE_FAULT": f"hang at 1 of NCCL abort once in {file}"}})
        spec = small_job("job", self.text, steps=10 * STEPS)
        cluster.submit(spec)
        wait_until(lambda: cluster.status("job").get("exchange") == "by NCCL" and steps_done(cluster) > 5, 60, "NCCL",
                   poll=0.01)
        cluster.nodes["n2"].kill_trainers()
        wait_until(lambda: self.events(cluster, "host_exchange"), 60, "the exchange over hosts", poll=0.01)
        self.assertIn("n1/0 cannot use NCCL any more", self.events(cluster, "host_exchange")[0])
        wait_until(lambda: cluster.status("job").get("exchange") == "by NCCL", 60, "NCCL again", poll=0.01)
        status = self.await_end(cluster, "job")
        self.assertEqual(status["steps_redone"], 0, status)
        self.assert_undisturbed(status, spec)

    def test_ranks_that_cannot_use_nccl_together(self):
        for version, why in (("22809", "n1/0 has NCCL 2.30.0 and n2/0 has 2.28.9"), ("0", "n2/0 has no NCCL")):
            with self.subTest(version=version):
                cluster = self.cluster(device="fake", name=f"cluster-{version}",
                                       worker_env={"n2": {"REKINDLE_FAKE_NCCL": version}})
                spec = small_job("job", self.text, steps=STEPS)
                cluster.submit({**spec, "spec": {**spec["spec"], "workers": {"min": 3, "max": 3}}})
                self.assert_undisturbed(self.await_end(cluster, "job"), spec)
                self.assertIn(why, "".join(self.events(cluster, "host_exchange")))
                cluster.stop()


if __name__ == "__main__":
    unittest.main()
