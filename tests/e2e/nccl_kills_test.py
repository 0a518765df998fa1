"""Tests that a rank which is killed while ranks exchange by NCCL costs no step and no other process.

The trainers compute on fake devices, and a library with NCCL's calls carries what they exchange. It is as unkind as
NCCL may be: every other rank does not notice that a peer has died, and hangs until its exchange is aborted.

Each kill is printed with the steps that it cost. REKINDLE_KILL_POINTS=N takes only the first N of the points at which
each world size is killed, and REKINDLE_KILL_STEPS=N trains for only N steps."""
import collections
import os
import pathlib
import unittest

from base import ClusterTest, small_job, steps_done, wait_until

STEPS = int(os.environ.get("REKINDLE_KILL_STEPS", 120))
# A job of `LONG` steps still runs when a trainer was started anew.
LONG = 800
# The others have gone on when they have made `MORE` steps after the kill.
MORE = 5
# Gradients are exchanged in buckets of so many bytes, so that a step has several of them.
BUCKET = 16384
# A rank is killed at each of these points: before, in and after joining NCCL, in the first exchange and in later ones,
# also of other buckets of one step, between the exchange and the update, in the update, and while a snapshot is split
# and copied.
POINTS = ("1 of NCCL join", "1 of NCCL joining", "1 of NCCL start", "25 of NCCL start", "26 of NCCL start",
          "27 of NCCL start", "25 of NCCL poll", "20 of backward", "20 of accumulate", "20 of squares", "20 of update",
          "2 of split", "2 of snapshot")
POINTS = POINTS[:int(os.environ.get("REKINDLE_KILL_POINTS", len(POINTS)))]

# One of the nodes `victims` has lost its trainer. `before` maps nodes to the pids that their trainers had before that.
# The joiner is not among them, nor is the only possible victim.
Killed = collections.namedtuple("Killed", "cluster spec world point victims before")


class NcclKillsTest(ClusterTest):
    def killed(self, world, victims, point, joiner=None):
        """Runs a job of `world` trainers. The first of `victims` that comes to `point` is killed there.

        A joiner arrives when the job has begun to step. Returns when the kill has happened."""
        file = pathlib.Path(self.folder) / f"happened-{world}-{point}"
        fault = {"REKINDLE_FAKE_FAULT": f"kill at {point} once in {file}"}
        names = [f"n{rank + 1}" for rank in range(world)]
        cluster = self.cluster(nodes=names, device="fake", name=f"cluster-{world}-{point.replace(' ', '-')}",
                               env={"REKINDLE_FAKE_BUCKET": str(BUCKET)}, worker_env=dict.fromkeys(victims, fault))
        spec = small_job("job", self.text, steps=STEPS)
        # Two workers at least begin, so that another one has the state when a fault comes.
        cluster.submit({**spec, "spec": {**spec["spec"], "workers": {"min": 2, "max": world + 1}}})
        # The trainer of the only possible victim may be gone before this test sees it.
        others = [name for name in names if victims != [name]]
        before = self.trainers(cluster, others)
        if joiner:
            wait_until(lambda: steps_done(cluster) > MORE, 60, "the job to step", poll=0.01)
            cluster.add_node(joiner)
        wait_until(file.exists, 60, f"the kill at {point}", poll=0.01)
        return Killed(cluster, spec, world, point, victims, before)

    def trainers(self, cluster, names):
        """Returns {node: the pids of its trainers} when each of the nodes has a trainer."""
        def pids():
            return {name: cluster.nodes[name].pids("trainer") for name in names}
        wait_until(lambda: all(pids().values()), 60, f"trainers on {sorted(names)}", poll=0.01)
        return pids()

    def await_steps(self, cluster):
        done = steps_done(cluster)
        wait_until(lambda: steps_done(cluster) > done + MORE, 60, "the others to go on", poll=0.01)

    def assert_survived(self, killed):
        """Expects that no step is lost, and that all trainers but the killed one go on."""
        [dead] = self.await_death(killed)
        self.await_steps(killed.cluster)
        others = {name: pids for name, pids in killed.before.items() if name != dead}
        self.assertEqual({name: killed.cluster.nodes[name].pids("trainer") for name in others}, others)
        status = self.await_end(killed.cluster, "job")
        print(f"kill at {killed.point} of {killed.world} ranks: {status['steps_redone']} steps lost", flush=True)
        self.assertEqual(status["steps_redone"], 0, status)
        self.assert_undisturbed(status, killed.spec)
        started = {mark["trainer"] for mark in killed.cluster.marks() if mark["event"] == "start"}
        for name in killed.cluster.nodes.keys() - {dead}:
            self.assertEqual(len([trainer for trainer in started if trainer.startswith(name + "/")]), 1, started)
        killed.cluster.stop()

    def await_death(self, killed):
        """Returns the nodes whose trainers were killed."""
        if len(killed.victims) == 1:
            return killed.victims
        return wait_until(lambda: [name for name in killed.victims if set(killed.before[name]).isdisjoint(
            killed.cluster.nodes[name].pids("trainer"))], 60, "the killed trainer to be gone", poll=0.01)

    def kill_at_each_point(self, world):
        for point in POINTS:
            with self.subTest(world=world, point=point):
                self.assert_survived(self.killed(world, ["n2"], point))

    def test_two_ranks(self):
        self.kill_at_each_point(2)

    def test_three_ranks(self):
        self.kill_at_each_point(3)

    def test_four_ranks(self):
        self.kill_at_each_point(4)

    def test_the_rank_that_makes_the_id(self):
        for world in (2, 3, 4):
            with self.subTest(world=world):
                self.assert_survived(self.killed(world, ["n1"], "1 of NCCL id"))

    def test_a_joiner_that_is_given_the_state(self):
        for world in (2, 3, 4):
            with self.subTest(world=world):
                joiner = f"n{world + 1}"
                self.assert_survived(self.killed(world, [joiner], "1 of NCCL start", joiner=joiner))

    def test_the_rank_that_gives_a_joiner_the_state(self):
        # Only the rank that gives comes to this point. It has sent the weights, and not yet the first moment.
        for world in (2, 3, 4):
            with self.subTest(world=world):
                names = [f"n{rank + 1}" for rank in range(world)]
                self.assert_survived(self.killed(world, names, "2 of send by NCCL", joiner=f"n{world + 1}"))

    def events(self, cluster, kind):
        return [event["text"] for event in cluster.cli("events")["events"] if event["kind"] == kind]

    def await_host_exchange(self, cluster):
        return wait_until(lambda: self.events(cluster, "host_exchange"), 120, "the exchange over hosts", poll=0.1)

    def faulty(self, faults):
        """Starts a job that needs a trainer on each node of `faults`, {node: "FAULT at COUNT of POINT"}."""
        return self.together({name: {"REKINDLE_FAKE_FAULT": f"{fault} once in {self.folder}/happened-{name}"}
                              for name, fault in faults.items()})

    def together(self, worker_env, name="cluster"):
        """Starts a job that needs a trainer on each node of `worker_env`. Returns the cluster and the job."""
        cluster = self.cluster(nodes=list(worker_env), device="fake", name=name, worker_env=worker_env)
        spec = small_job("job", self.text, steps=STEPS)
        workers = len(worker_env)
        cluster.submit({**spec, "spec": {**spec["spec"], "workers": {"min": workers, "max": workers}}})
        return cluster, spec

    def assert_ends_undisturbed(self, cluster, spec):
        status = self.await_end(cluster, "job")
        self.assertEqual(status["steps_redone"], 0, status)
        self.assert_undisturbed(status, spec)

    def test_a_join_that_cannot_be_made(self):
        # This stands for any error with which NCCL ends a join, such as that of a /dev/shm that is too small. Rank 0
        # cannot make the id in the first generation, so that no rank joins. In the second one the other rank cannot
        # join.
        cluster, spec = self.faulty({"n1": "fail at 1 of NCCL id", "n2": "fail at 1 of NCCL join"})
        told = self.await_host_exchange(cluster)
        self.assertEqual(len(told), 1, told)
        self.assertIn("NCCL failed in 2 generations in a row, and no rank was to blame", told[0])
        self.assertIn("NCCL: joining failed: injected", told[0])
        self.assert_ends_undisturbed(cluster, spec)

    def test_a_collective_that_hangs_on_all_ranks(self):
        cluster, spec = self.faulty(dict.fromkeys(("n1", "n2", "n3"), "hang at 20 of NCCL start"))
        before = self.trainers(cluster, cluster.nodes)
        told = self.await_host_exchange(cluster)
        self.assertEqual(len(told), 1, told)
        self.assertIn("NCCL failed in 2 generations in a row, and no rank was to blame", told[0])
        self.assertIn("every peer answers and has come to the operation", told[0])
        self.await_steps(cluster)
        self.assertEqual(self.trainers(cluster, cluster.nodes), before)
        self.assert_ends_undisturbed(cluster, spec)

    def test_two_ranks_that_share_a_gpu(self):
        env = {"REKINDLE_FAKE_GPU": "GPU-1"}
        cluster, spec = self.together({"n1": env, "n2": env}, "cluster-without-leave")
        self.assert_ends_undisturbed(cluster, spec)
        self.assertIn("n1/0 and n2/0 share the GPU GPU-1, which their NCCL does not allow",
                      "".join(self.events(cluster, "host_exchange")))
        cluster.stop()
        env = {**env, "NCCL_MULTI_RANK_GPU_ENABLE": "1"}
        cluster, spec = self.together({"n1": env, "n2": env}, "cluster-with-leave")
        wait_until(lambda: steps_done(cluster) > 0, 60, "the job to step", poll=0.01)
        self.assertEqual(cluster.status("job").get("exchange"), "by NCCL")
        self.assert_ends_undisturbed(cluster, spec)
        self.assertEqual(self.events(cluster, "host_exchange"), [])

    def test_an_abort_that_hangs(self):
        # The rank keeps its state and goes on over its host. It starts anew when it can, and NCCL is used again.
        file = pathlib.Path(self.folder) / "hangs"
        cluster = self.cluster(device="fake", worker_env={
            "n1": {"REKINDLE_FAKE_FAULT": f"hang at 1 of NCCL abort once in {file}"}})
        spec = small_job("job", self.text, steps=LONG)
        cluster.submit(spec)
        wait_until(lambda: cluster.status("job").get("exchange") == "by NCCL" and steps_done(cluster) > MORE, 60,
                   "NCCL", poll=0.01)
        cluster.nodes["n2"].kill_trainers()
        self.assertIn("n1/0 cannot use NCCL any more", self.await_host_exchange(cluster)[0])
        wait_until(lambda: cluster.status("job").get("exchange") == "by NCCL", 60, "NCCL again", poll=0.01)
        self.assert_ends_undisturbed(cluster, spec)

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
