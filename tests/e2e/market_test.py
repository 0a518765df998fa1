"""Tests machines of local pools, with real processes: they come, get notices, are taken and replaced during a job."""
import json
import pathlib
import signal
import subprocess
import time
import unittest

from base import ClusterTest, small_job, steps_done, wait_until
from live_processes import processes
from programs import program


def pool(name, least, **market):
    """Returns a pool that keeps `least` machines whatever jobs need. Another test covers what the planner orders."""
    return {"name": name, "provider": "local", "zone": name, "capacity": "spot", "price": 0.1, "min": least,
            "max": max(1, least), "machines": {"poll_seconds": 0.5, "market": market}}


class MarketTest(ClusterTest):
    def started(self, *pools, **options):
        file = pathlib.Path(self.folder) / "fleet.yaml"
        file.write_text(json.dumps({"pools": pools}))
        return self.cluster(nodes=(), coordinator_flags=["--fleet", str(file)], **options)

    def ready(self, cluster):
        return {n["name"]: n["pool"] for n in cluster.cli("nodes")["nodes"] if n["state"] == "ready"}

    def members(self, cluster):
        return sorted(member["node"] for member in cluster.status("job").get("members", []))

    def pids(self, cluster, node):
        return [pid for pid, _ in processes(str(cluster.machine_folder(node)))]

    def test_a_job_lives_through_a_market_that_takes_and_gives(self):
        cluster = self.started(pool("cheap", 2), pool("dear", 1))
        wait_until(lambda: self.ready(cluster) == {"cheap-1": "cheap", "cheap-2": "cheap", "dear-1": "dear"}, 30,
                   "the least of both pools to come")
        spec = small_job("job", self.text, steps=400)
        cluster.submit(spec)
        wait_until(lambda: len(self.members(cluster)) == 3 and steps_done(cluster) > 5, 60, "the job to run on all")

        told = time.monotonic()
        cluster.cli("market", "cheap", "1", "--notice", "10s")
        wait_until(lambda: not self.pids(cluster, "cheap-2"), 30, "the newest to be gone")
        self.assertLess(time.monotonic() - told, 12)
        texts = [e["text"] for e in cluster.cli("events")["events"] if e["kind"] == "draining"]
        self.assertRegex("\n".join(texts),
                         r"node cheap-2 drains: a \d+ s notice from file: the market of pool cheap shrank")
        self.assertEqual(self.members(cluster), ["cheap-1", "dear-1"])

        cluster.cli("market", "cheap", "0", "--notice", "0s")
        wait_until(lambda: self.members(cluster) == ["dear-1"], 30, "the job to go on without it")
        self.assertEqual(self.pids(cluster, "cheap-1"), [])

        cluster.kill_coordinator()
        cluster.start_coordinator()
        self.assertTrue(self.pids(cluster, "dear-1"))
        cluster.cli("market", "cheap", "2")
        wait_until(lambda: self.members(cluster) == ["cheap-3", "cheap-4", "dear-1"], 60, "new machines to join")
        status = self.await_end(cluster, "job")
        self.assertEqual(sum(f["steps_redone"] for f in status["faults"]), 0)
        self.assert_undisturbed(status, spec)

    def test_a_trace_drives_it_and_a_boot_takes_its_time(self):
        (pathlib.Path(self.folder) / "trace.csv").write_text("tick,z\n0,0\n1,1\n2,1\n")
        described = pool("z", 1, trace="trace.csv", step_seconds=10, speed=5)
        described["machines"]["boot_seconds"] = 2
        cluster = self.started(described)
        begun = cluster.listening_since
        wait_until(lambda: self.ready(cluster) == {"z-1": "z"}, 30, "the machine to come")
        # The trace gives the machine after 2 s, and the machine then boots for 2 s.
        self.assertGreater(time.monotonic() - begun, 3.5)

    def test_machines_end_with_rekindle_up(self):
        file = pathlib.Path(self.folder) / "fleet.yaml"
        file.write_text(json.dumps({"pools": [pool("cheap", 2)]}))
        folder = pathlib.Path(self.folder) / "up"
        up = subprocess.Popen([program("rekindle"), "up", "--workers", "0", "--dir", str(folder), "--port", "0",
                               "--fleet",
                               str(file), "-o", "json"], stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(up.kill)
        endpoint = json.loads(up.stdout.readline())["endpoint"]

        def ready():
            command = [program("rekindle"), "nodes", "--endpoint", endpoint, "-o", "json"]
            nodes = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=30).stdout or "{}")
            return sorted(n["name"] for n in nodes.get("nodes", []) if n["state"] == "ready") == ["cheap-1", "cheap-2"]
        wait_until(ready, 30, "the machines to come", poll=0.1)
        up.send_signal(signal.SIGTERM)
        self.assertEqual(up.wait(timeout=60), 0)
        up.stdout.close()
        self.assertEqual(list((folder / "coordinator" / "nodes").iterdir()), [])
        for node in ("cheap-1", "cheap-2"):
            self.assertEqual(processes(str(folder / "coordinator" / "nodes" / node)), [])

    def test_what_cannot_be_is_refused_with_the_fix(self):
        cluster = self.started(pool("cheap", 0))
        command = [program("rekindle"), "market", "moon", "1", "--endpoint", cluster.endpoint]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no local pool 'moon' in the fleet file", done.stderr)


if __name__ == "__main__":
    unittest.main()
