"""Tests machines of a pool that are paid for and never register: counted, ended by name, and their pool avoided.

The provider is a hook that starts nothing."""
import json
import pathlib
import stat
import subprocess
import textwrap
import unittest

from base import ClusterTest, small_job, wait_until
from ports import free_port, metric
from programs import program

HOOK = textwrap.dedent('''\
    #!/usr/bin/env python3
    import fcntl, json, pathlib, sys, time
    folder = pathlib.Path(__file__).parent
    verb, pool = sys.argv[1:3]
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = folder / "state"
        made, there = json.loads(state.read_text()) if state.exists() else (0, {})
        if verb == "desired":
            wanted, first = int(sys.argv[3]), sys.argv[4:]
            for name in [*first, *sorted(there, reverse=True)]:
                if len(there) > wanted and there.pop(name, None):
                    with open(folder / "ended", "a") as ended:
                        print(name, "named" if name in first else "not named", file=ended)
            while len(there) < wanted:
                made += 1
                there[f"m{made}"] = time.time()
            state.write_text(json.dumps([made, there]))
        print(json.dumps({"machines": [{"id": name, "node": name, "since": since} for name, since in there.items()],
                          "desired": len(there)}))
    ''')
# A price of `HOUR` per hour is a price of 1 per second.
HOUR = 3600


class MachinesTest(ClusterTest):
    def started(self, *flags):
        self.site = pathlib.Path(self.folder) / "site"
        self.site.mkdir()
        hook = self.site / "hook"
        hook.write_text(HOOK)
        hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
        file = pathlib.Path(self.folder) / "fleet.yaml"
        file.write_text(json.dumps({"pools": [
            {"name": "site", "provider": "exec", "zone": "z", "capacity": "spot", "price": HOUR, "max": 1,
             "machines": {"command": [str(hook)], "poll_seconds": 0.2, "start_seconds": 0.5}}]}))
        self.metrics = free_port()
        return self.cluster(nodes=(),
                            coordinator_flags=["--fleet", str(file), "--metrics", f"127.0.0.1:{self.metrics}", *flags])

    def told(self, cluster, kind):
        return [e["text"] for e in cluster.cli("events")["events"] if e["kind"] == kind]

    def test_three_in_a_row_are_counted_once_each_and_their_pool_is_avoided(self):
        cluster = self.started("--register-seconds=2", "--return-seconds=1")
        spec = small_job("job", self.text, workers=1)
        spec["spec"]["team"] = "vision"
        cluster.submit(spec)
        wait_until(lambda: self.told(cluster, "machine_never_registered"), 60, "the first to be overdue", poll=0.1)
        # The first machine has not registered in time, so the coordinator may have ordered the second one by now.
        cluster.kill_coordinator()
        cluster.start_coordinator()
        [avoided] = wait_until(lambda: self.told(cluster, "pool_avoided"), 60, "the pool to be avoided", poll=0.1)
        self.assertIn("3 machines in a row never registered, and have cost", avoided)
        wait_until(lambda: len((self.site / "ended").read_text().splitlines()) == 3, 30, "the third to be ended",
                   poll=0.1)
        self.assertEqual((self.site / "ended").read_text(), "m1 named\nm2 named\nm3 named\n")
        self.assertEqual(len(self.told(cluster, "machine_never_registered")), 3)

        lost = cluster.cli("cost", "job")["cost"]["never_registered"]
        self.assertEqual(lost["machines"], 3)
        self.assertGreater(lost["spent"], 3 * 2.5)
        # A machine costs 1 per second. Three machines that ran at the same time would have cost more than 30.
        self.assertLess(lost["spent"], 3 * 10)
        self.assertEqual(cluster.cli("cost", "--team", "vision")["total"]["never_registered"]["machines"], 3)
        [pool] = cluster.cli("cost")["pools"]
        self.assertEqual((pool["name"], pool["never_registered"]["machines"]), ("site", 3))
        self.assertEqual(pool["of_no_job"]["machines"], 0)
        self.assertEqual(metric(self.metrics, "rekindle_pool_never_registered_machines_total"), 3)
        for what in (["job"], ["--team", "vision"], []):
            shown = subprocess.run([program("rekindle"), "cost", *what, "--endpoint", cluster.endpoint],
                                   env=cluster.env, capture_output=True, text=True, timeout=60, check=True).stdout
            self.assertRegex(shown.lower(), r"never registered[\s\S]* node-hours of 3\.00 machines")


if __name__ == "__main__":
    unittest.main()
