"""Tests which ranks may step, with real processes and networks that are cut. Leases last seconds here.

No rank of an older generation steps once a newer one does. A silence that is shorter than a lease changes nothing."""
import contextlib
import pathlib
import signal
import sqlite3
import time
import unittest

from base import Cluster, ClusterTest, Injector, kill, small_job, steps_done, stray_steps, wait_until
from relay import Relay

LEASE = 3
FLAGS = [f"--lease-seconds={LEASE}", f"--lease-save-seconds={LEASE}", f"--lease-step-seconds={LEASE}"]
# A job of `TO_THE_END` steps runs for longer than a lease and a save together, so it is not over before its lease ends.
TO_THE_END = 700
# A job goes on elsewhere within `LONGEST` seconds. First its members must be silent for a while. Then their lease ends,
# and the time for a step and for a save passes.
LONGEST = 60


class LeaseTest(ClusterTest):
    def start(self, trained_on=("n1", "n2"), spare="n3", steps=20_000):
        """Starts a job on some nodes, each behind a network of its own that can be cut, and a spare node for it."""
        names = (*trained_on, spare)
        self.running = self.guarded(Cluster(pathlib.Path(self.folder) / "cluster", nodes=names,
                                            coordinator_flags=FLAGS))
        self.running.start_coordinator()
        self.relays = {}
        for name in names:
            self.running.endpoint_for[name] = self.relay(name)
            self.running.nodes[name].start()
        wait_until(lambda: [n["state"] for n in self.running.cli("nodes").get("nodes", [])] == ["ready"] * len(names),
                   LONGEST, "the nodes to register", poll=0.1)
        self.spec = small_job("job", self.text, steps=steps, workers=len(trained_on))
        self.running.submit(self.spec)
        self.inject = Injector(self.running, "job", patience=LONGEST)
        self.inject.await_members(len(trained_on))
        self.assertEqual({m["node"] for m in self.running.status("job")["members"]}, set(trained_on))
        self.inject.await_steps(30)
        self.generation = self.running.status("job")["generation"]

    def relay(self, name):
        self.relays[name] = Relay(self.running.endpoint)
        self.addCleanup(self.relays[name].close)
        return self.relays[name].endpoint

    def generation_now(self):
        return self.running.status("job")["generation"]

    def await_next_generation(self):
        wait_until(lambda: self.generation_now() > self.generation, LONGEST, "the job to go on elsewhere", poll=0.1)
        wait_until(lambda: any(m["event"] == "step" and m["generation"] > self.generation
                               for m in self.running.marks()),
                   LONGEST, "the newer generation to step", poll=0.1)

    def gaps(self, since):
        times = sorted(m["t"] for m in self.running.marks() if m["event"] == "step" and m["t"] > since)
        return max((b - a for a, b in zip(times, times[1:])), default=0)

    def standing(self):
        return [m for m in self.running.marks() if m["event"] == "standing"]

    def assert_nothing_strayed(self):
        self.assertEqual(stray_steps(self.running.marks()), [])

    def test_members_that_are_cut_off_stop_before_others_go_on(self):
        self.start(steps=TO_THE_END)
        for name in ("n1", "n2"):
            self.relays[name].cut()
        self.await_next_generation()
        # n1 and n2 are still cut off, and n3 steps in a newer generation. They have not gone on stepping beside it.
        self.assert_nothing_strayed()
        self.assertTrue(self.standing())
        for name in ("n1", "n2"):
            self.relays[name].heal()
        status = self.await_end(self.running, "job")
        self.assert_nothing_strayed()
        self.assert_undisturbed(status, self.spec)

    def test_a_cut_that_heals_in_time_is_not_noticed(self):
        self.start()
        since = time.monotonic()
        for name in ("n1", "n2"):
            self.relays[name].cut()
        wait_until(lambda: time.monotonic() > since + LEASE / 2, LEASE, "half a lease to pass", poll=0.05)
        for name in ("n1", "n2"):
            self.relays[name].heal()
        self.inject.await_steps(20)
        wait_until(lambda: time.monotonic() > since + 2 * LEASE, 2 * LEASE, "two leases to pass", poll=0.05)
        self.assertEqual(self.standing(), [])
        self.assertEqual(self.generation_now(), self.generation)

    def test_one_that_is_heard_is_enough(self):
        self.start()
        self.relays["n2"].cut()
        since = time.monotonic()
        wait_until(lambda: time.monotonic() > since + 3 * LEASE, 4 * LEASE, "three leases to pass", poll=0.05)
        self.inject.await_steps(10)
        self.assertEqual(self.standing(), [])
        self.assertEqual(self.generation_now(), self.generation)

    def test_a_coordinator_that_cannot_write_still_answers(self):
        self.start()
        with contextlib.closing(sqlite3.connect(self.running.dir / "coordinator" / "state.db", timeout=60)) as database:
            # Until the test ends the transaction that it begins now, the coordinator cannot write to its database.
            database.execute("BEGIN IMMEDIATE")
            since = time.monotonic()
            wait_until(lambda: time.monotonic() > since + 3 * LEASE, 4 * LEASE, "three leases to pass", poll=0.05)
            done = steps_done(self.running)
            wait_until(lambda: steps_done(self.running) > done + 10, LONGEST, "the ranks to step", poll=0.02)
            self.assertEqual(self.standing(), [])
            database.rollback()
        self.inject.await_steps(10)
        self.assertEqual(self.generation_now(), self.generation)

    def test_without_a_coordinator_they_stand_still_and_go_on(self):
        self.start(steps=TO_THE_END)
        self.running.kill_coordinator()
        wait_until(self.standing, LONGEST, "the ranks to stand still", poll=0.05)
        stood_at = steps_done(self.running)
        since = time.monotonic()
        wait_until(lambda: time.monotonic() > since + 2 * LEASE, 3 * LEASE, "two leases to pass", poll=0.05)
        self.assertEqual(steps_done(self.running), stood_at)
        self.running.start_coordinator()
        wait_until(lambda: steps_done(self.running) > stood_at, 10, "the ranks to go on", poll=0.02)
        self.assertLess(time.monotonic() - self.running.listening_since, 2)
        status = self.await_end(self.running, "job")
        self.assertEqual(status["generation"], self.generation)
        self.assertEqual(status["steps_redone"], 0)
        self.assert_undisturbed(status, self.spec)

    def test_frozen_members_that_wake_up_do_not_step(self):
        self.start()
        frozen = [pid for name in ("n1", "n2") for pid in self.running.nodes[name].kill_trainers(signal.SIGSTOP)]
        for name in ("n1", "n2"):
            kill(self.running.nodes[name].pids("agent") + self.running.nodes[name].pids("init"), signal.SIGSTOP)
            frozen += self.running.nodes[name].pids("agent") + self.running.nodes[name].pids("init")
        self.await_next_generation()
        kill(frozen, signal.SIGCONT)
        # While n1 and n2 were frozen, n3 took the job over. Now one of the two is back in the job.
        self.inject.await_members(2)
        self.assert_nothing_strayed()

    def test_silence_forms_nothing_although_another_machine_has_the_name(self):
        self.start(trained_on=("n1",))
        self.relays["n1"].cut()
        other = type(self.running.nodes["n1"])(self.running, "n1")
        other.dir = self.running.dir / "nodes" / "n1-again"
        self.running.endpoint_for["n1"] = self.running.endpoint
        self.running.nodes["n1-again"] = other.start()
        since = steps_done(self.running)
        # The rank of the first n1, which is cut off, goes on stepping until its lease ends.
        self.inject.await_steps(5)
        self.assertGreater(steps_done(self.running), since)
        self.assertEqual(self.generation_now(), self.generation)
        self.await_next_generation()
        self.assert_nothing_strayed()
        self.relays["n1"].heal()
        wait_until(lambda: not self.running.nodes["n1"].pids("trainer"), LONGEST, "what was cut off to be told",
                   poll=0.1)
        self.inject.await_steps(5)
        self.assert_nothing_strayed()


if __name__ == "__main__":
    unittest.main()
