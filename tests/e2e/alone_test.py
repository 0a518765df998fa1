"""Tests machines that hear of no coordinator, with real processes.

They spend what was granted and no more, save, and end themselves, and what they cost is on the job's bill. Their
provider is a hook that says what runs and what has ended."""
import json
import pathlib
import stat
import textwrap
import time
import unittest

from base import Cluster, ClusterTest, Injector, small_job, steps_done, wait_until
from relay import Relay

HOOK = textwrap.dedent('''\
    #!/usr/bin/env python3
    import json, pathlib
    names = (pathlib.Path(__file__).parent / "machines").read_text().split()
    ended = (pathlib.Path(__file__).parent / "ended").read_text().split()
    states = {n: "ended" if n in ended else "running" for n in names}
    print(json.dumps({"machines": [{"id": n, "node": n, "state": state} for n, state in states.items()]}))
    ''')
# A price of `SECOND` per hour is a price of 1 per second.
SECOND = 3600
ALONE = 4
# A machine that may not run on without a coordinator takes at most `ENDS` seconds to end
# (common/agreed/agreed_limits.h).
ENDS = 60
# A job may exceed its budget by what it costs in `PLANNING_PERIOD` seconds.
PLANNING_PERIOD = 60
LONGEST = 60
EXIT_ALONE = 4
NAMES = ("n1", "n2")
FOREVER = 100_000


class AloneTest(ClusterTest):
    def start(self, *flags, price=1, steps=FOREVER, **goals):
        """Starts a job on two ordered machines, each behind a network of its own that can be cut."""
        site = pathlib.Path(self.folder) / "site"
        site.mkdir()
        (site / "machines").write_text(" ".join(NAMES))
        self.ended = site / "ended"
        self.ended.write_text("")
        hook = site / "hook"
        hook.write_text(HOOK)
        hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
        file = pathlib.Path(self.folder) / "fleet.yaml"
        file.write_text(json.dumps({"pools": [
            {"name": "site", "provider": "exec", "zone": "z", "capacity": "spot", "price": price * SECOND,
             "max": len(NAMES), "machines": {"command": [str(hook)], "poll_seconds": 0.5}}]}))
        self.running = self.guarded(Cluster(pathlib.Path(self.folder) / "cluster", nodes=NAMES,
                                            coordinator_flags=["--fleet", str(file), *flags],
                                            worker_flags={name: ["--pool", "site"] for name in NAMES}))
        self.running.start_coordinator()
        self.relays = {}
        for name in NAMES:
            self.relays[name] = Relay(self.running.endpoint)
            self.addCleanup(self.relays[name].close)
            self.running.endpoint_for[name] = self.relays[name].endpoint
            self.running.nodes[name].start()
        self.began = time.monotonic()
        self.spec = small_job("job", self.text, steps=steps, workers=len(NAMES))
        self.spec["spec"]["goals"] = goals
        self.running.submit(self.spec)
        self.inject = Injector(self.running, "job", patience=LONGEST)
        self.inject.await_members(len(NAMES))
        self.inject.await_steps(20)

    def cost(self):
        return self.running.cli("cost", "job")["cost"]

    def standing(self):
        return {m["generation"] for m in self.running.marks() if m["event"] == "standing"}

    def await_end_of_machine(self, name, seconds):
        """Waits until the agent, and init with it, end with the right code. From then on the provider reports the
        machine as ended."""
        code = self.running.nodes[name].worker.wait(timeout=seconds)
        self.assertEqual(code, EXIT_ALONE)
        self.assertEqual(self.running.nodes[name].pids("trainer"), [])
        # The checkpoint service would end with its machine, so the test ends it in the machine's place.
        self.running.nodes[name].kill(wipe=False)
        with self.ended.open("a") as ended:
            print(name, file=ended)

    def test_without_a_coordinator_they_save_and_end(self):
        self.start(f"--alone-seconds={ALONE}", steps=900)
        done = steps_done(self.running)
        self.running.kill_coordinator()
        killed = time.monotonic()
        for name in NAMES:
            self.await_end_of_machine(name, ALONE + ENDS)
        ended = time.monotonic()
        self.assertGreater(ended - killed, ALONE / 2)
        self.assertTrue(self.standing())
        stopped_at = steps_done(self.running)
        self.assertGreater(stopped_at, done)

        # After the coordinator and the machines are back, the job goes on without redoing a step.
        self.running.start_coordinator()
        self.ended.write_text("")
        for name in NAMES:
            self.running.nodes[name].start()
        status = self.await_end(self.running, "job")
        self.assertEqual(status.get("steps_redone", 0), 0)
        self.assert_undisturbed(status, self.spec)
        self.assertGreaterEqual(self.cost()["spent"], 2 * (ended - killed))

    def test_one_that_is_cut_off_ends_and_the_other_goes_on(self):
        self.start(f"--alone-seconds={ALONE}")
        self.relays["n2"].cut()
        self.await_end_of_machine("n2", ALONE + ENDS + LONGEST)
        self.assertEqual(self.standing(), set())
        self.inject.await_members(1)
        self.inject.await_steps(10)

    def test_a_cut_that_heals_in_time_ends_nothing(self):
        self.start(f"--alone-seconds={2 * ALONE}")
        for name in NAMES:
            self.relays[name].cut()
        since = time.monotonic()
        wait_until(lambda: time.monotonic() > since + ALONE, 2 * ALONE, "half the time to pass", poll=0.05)
        for name in NAMES:
            self.relays[name].heal()
        self.inject.await_steps(20)
        wait_until(lambda: time.monotonic() > since + 3 * ALONE, 3 * ALONE, "the whole of it to pass", poll=0.05)
        self.inject.await_steps(10)
        self.assertEqual([self.running.nodes[name].worker.poll() for name in NAMES], [None, None])
        self.assertEqual(self.standing(), set())

    def test_those_that_are_cut_off_spend_what_was_granted(self):
        # Each of the two machines costs 1 per second, so a budget of 160 pays for 80 s of both.
        budget = 160
        self.start(budget=budget)
        before = self.cost()
        self.assertLess(before["spent"], budget / 2)
        for name in NAMES:
            self.relays[name].cut()
        cut = time.monotonic()
        for name in NAMES:
            self.await_end_of_machine(name, budget / 4 / len(NAMES) + ENDS + LONGEST)
        ran = len(NAMES) * (time.monotonic() - cut)
        self.assertTrue(self.standing())
        self.assertLess(before["spent"] + ran, budget)
        wait_until(lambda: self.cost().get("rate", 0) == 0, LONGEST, "the provider's word to be heard", poll=0.5)
        after = self.cost()
        # The coordinator may have counted the costs `before` and `after` up to a second before they were read.
        self.assertGreaterEqual(after["spent"], before["spent"] + ran - len(NAMES))
        self.assertLess(after["spent"], budget + PLANNING_PERIOD * len(NAMES))
        self.assertEqual(self.running.status("job")["state"], "PENDING")

    def test_one_that_never_heard_of_anybody_ends(self):
        cluster = self.guarded(Cluster(pathlib.Path(self.folder) / "nobody", nodes=("m1", "m2"), worker_flags={
            "m1": ["--end-unless-heard", "2"], "m2": []}))
        # Nobody listens on port 9, so no machine hears of a coordinator.
        cluster.endpoint = "127.0.0.1:9"
        for node in cluster.nodes.values():
            node.start()
        self.assertEqual(cluster.nodes["m1"].worker.wait(timeout=LONGEST), EXIT_ALONE)
        self.assertIsNone(cluster.nodes["m2"].worker.poll())


if __name__ == "__main__":
    unittest.main()
