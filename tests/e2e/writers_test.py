"""Tests two writers of different generations on one bucket, with processes and a real S3 server.

The older one is held at each single request of its save and its collection, while the newer one, which a rollback sent
back to an earlier step, saves and collects. However late the older one wakes, it neither hides the newer checkpoint nor
takes anything from it. A run begins at a random request and takes every third. REKINDLE_SEED repeats a run, and
REKINDLE_KILL_ALL=1 takes all requests.
"""
import os
import pathlib
import random
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
from fault_proxy import FaultProxy  # noqa: E402
from object_store_test import RealServer  # noqa: E402
import servers  # noqa: E402

SMALL = {"elements": 1000, "shards": 2}
PATIENCE = 60
HOUR = 3600
STRIDE = 1 if os.environ.get("REKINDLE_KILL_ALL") else 3


class WritersTest(RealServer, unittest.TestCase):
    SERVER = servers.S3

    def setUp(self):
        """Starts `held`, whose requests go through the proxy, and `free`, two writers on one prefix."""
        self.proxy = self.enterContext(FaultProxy(self.server.port))
        self.held, self.free = self.probe("writers", self.proxy.port), self.probe("writers")

    def held_at(self, number, first, then):
        """Runs `first()`, held before its request `number` until `then()` is done.

        Returns whether `first()` had that many requests."""
        reached, go_on = threading.Event(), threading.Event()

        def hold():
            reached.set()
            go_on.wait(PATIENCE)
        self.proxy.heal()
        self.proxy.spoil("call", skip=number, before=hold)
        done = []
        thread = threading.Thread(target=lambda: (done.append(first()), reached.set()))
        thread.start()
        self.assertTrue(reached.wait(PATIENCE))
        met = not done
        then()
        go_on.set()
        thread.join(PATIENCE)
        self.assertTrue(done)
        return met

    def job(self, probe, number):
        """Returns a function call(do, **options) that makes the probe act on a job that only this test uses."""
        job = f"{self.id().rsplit('.', 1)[1]}-{number}"

        def call(do, **options):
            return probe.ask(do, job=job, **options)
        return call

    def assert_newest(self, probe, name):
        newest = self.assert_ok(probe("load", elements=1000))
        self.assertEqual((newest["name"], newest["skipped"], newest.get("equal")), (name, [], True))

    def each_request(self, act):
        """Runs act(number) for each `STRIDE`th request, until it returns False because there are fewer requests."""
        seed = int(os.environ.get("REKINDLE_SEED", random.randrange(2**31)))
        number = random.Random(seed).randrange(STRIDE)
        while act(number):
            number += STRIDE
        print(f"REKINDLE_SEED={seed}: {number} requests, each {STRIDE}. held")
        self.assertGreater(number, 5)

    def test_an_older_generation_that_wakes_late_hides_nothing(self):
        def act(number):
            zombie, newer = self.job(self.held, number), self.job(self.free, number)
            self.assert_ok(newer("save", step=10, generation=1, **SMALL))

            def roll_back():
                self.assert_ok(newer("save", step=11, generation=3, **SMALL))
                self.assert_ok(newer("collect", keep=1))
            met = self.held_at(number, lambda: zombie("save", step=30, generation=2, **SMALL), roll_back)
            self.assert_newest(newer, "3-11-w0")
            zombie("collect", keep=1)
            self.assert_newest(newer, "3-11-w0")
            self.assert_ok(newer("save", step=12, generation=3, **SMALL))
            self.assert_newest(newer, "3-12-w0")
            return met
        self.each_request(act)

    def test_an_older_committer_that_collects_late_takes_nothing(self):
        def act(number):
            zombie, newer = self.job(self.held, number), self.job(self.free, number)
            for step in (10, 20):
                self.assert_ok(zombie("save", step=step, generation=1, **SMALL))
            # The newer writer saves the state of step 10 again, as after a rollback, while the older one's collector is
            # about to remove the shards of that step.
            again = []
            met = self.held_at(number, lambda: zombie("collect", keep=1),
                               lambda: again.append(newer("save", step=10, generation=2, **SMALL)))
            # The newer writer's save becomes durable, or is refused because it cannot rely on the shards that are being
            # removed.
            self.assertIn(again[0]["code"], ("OK", "ABORTED", "NOT_FOUND"))
            self.assert_newest(newer, "2-10-w0" if again[0]["code"] == "OK" else "1-20-w0")
            self.assert_ok(newer("save", step=11, generation=2, **SMALL))
            self.assert_newest(newer, "2-11-w0")
            return met
        self.each_request(act)

    def test_a_collector_whose_clock_is_hours_ahead_leaves_nothing_torn(self):
        def act(number):
            writer, collector = self.job(self.held, number), self.job(self.free, number)
            self.assert_ok(collector("save", step=10, generation=1, **SMALL))
            now = self.assert_ok(collector("list"))["checkpoints"][0]["written"] + 3 * HOUR
            saved = []
            met = self.held_at(number, lambda: saved.append(writer("save", step=20, generation=1, **SMALL)),
                               lambda: self.assert_ok(collector("collect", keep=1, now=now)))
            # If the collector removed a shard that the writer's save needs, the writer notices before the save counts
            # as durable.
            self.assert_newest(collector, "1-20-w0" if saved[0]["code"] == "OK" else "1-10-w0")
            return met
        self.each_request(act)


if __name__ == "__main__":
    unittest.main(verbosity=2)
