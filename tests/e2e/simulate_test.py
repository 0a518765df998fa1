"""Tests rekindle simulate as a user types it, without a coordinator: figures, a timeline with reasons, clear errors."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
from programs import program  # noqa: E402

FLEET = """pools:
  - {provider: aws, zone: zone-1, instance_type: t, capacity: spot, price: 1, max: 4}
  - {provider: aws, zone: zone-2, instance_type: t, capacity: spot, price: 1, max: 4}
  - {provider: aws, zone: zone-1, instance_type: t, capacity: on_demand, price: 3}
"""
JOB = """name: job
spec:
  workers: {min: %d, max: 4}
  training: {steps: 3600}
  estimate: {step_seconds: 20}
  goals: {deadline_hours: %g, budget: %g}
"""


class SimulateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rekindle-e2e-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("fleet.yaml", FLEET)
        self.write("trace.csv", self.rekindle("synthetic-trace", "--zones", "2", "--nodes", "4",
                                              "--hours", "200").stdout)
        self.write("job.yaml", JOB % (1, 26, 0))

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def rekindle(self, *args):
        return subprocess.run([program("rekindle"), *args], capture_output=True, text=True, timeout=60, cwd=self.folder)

    def simulate(self, *args):
        return self.rekindle("simulate", "--job", "job.yaml", "--fleet", "fleet.yaml", "--trace", "trace.csv",
                             "--step", "300", *args)

    def refused(self, *expected):
        done = self.simulate()
        self.assertEqual(done.returncode, 1, done.stdout)
        for words in expected:
            self.assertIn(words, done.stderr)

    def test_all_policies_side_by_side(self):
        for least in (1, 4):
            self.write("job.yaml", JOB % (least, 26, 0))
            done = self.simulate("-o", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            of = {entry["policy"]: entry for entry in json.loads(done.stdout)["policies"]}
            self.assertEqual(list(of),
                             ["planner", "on_demand", "greedy_spot", "next_zone", "uniform_progress", "optimum"])
            self.assertFalse(of["planner"]["missed_deadline"])
            self.assertLess(of["planner"]["cost"], of["on_demand"]["cost"])
            self.assertGreaterEqual(of["planner"]["cost"], 0.99 * of["optimum"]["cost"])
            self.assertAlmostEqual(of["on_demand"]["cost"], 3 * 4 * (20 + 0.05), places=3)
            self.assertIn("finished", of["planner"]["timeline"][-1]["what"])

    def test_the_timeline_has_reasons(self):
        done = self.simulate("--policy", "planner")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"node 1 starts in zone-\d/t/spot: zone-\d/t/spot has spot capacity")

    def test_what_cannot_be_is_refused_with_what_can(self):
        self.write("job.yaml", JOB % (1, 19, 0))
        self.refused("spec.goals.deadline_hours: 19.00 is impossible", "the earliest finish is after 20.05 h")
        self.write("job.yaml", JOB % (1, 26, 12))
        self.refused("spec.goals.budget: 12.00 is too small", "allow at least ")
        self.write("job.yaml", (JOB % (1, 26, 0)).replace("deadline_hours:", "capacity: spot, deadline_hours:"))
        self.write("trace.csv", "tick,zone-1,zone-2\n" + "".join(f"{i},1,0\n" for i in range(1200)))
        self.refused("26.00 is impossible on this fleet: the earliest finish on spot capacity alone is after 80.05 h")
        self.write("job.yaml", JOB % (1, -1, 0))
        self.refused("spec.goals.deadline_hours: -1 is in the past")

    def test_wrong_files_are_named(self):
        self.write("fleet.yaml", FLEET.replace("price: 3", "prize: 3"))
        self.refused("fleet.yaml:4", "`pools[2].prize` is not a field; did you mean `price`?")
        self.write("fleet.yaml", FLEET)
        self.write("trace.csv", "tick,zone-1\n0,1\n2,1\n")
        self.refused("trace.csv:3: ticks 1 to 1 are missing")
        self.write("trace.csv", "tick,zone-1\n1,1\n0,1\n")
        self.refused("trace.csv:2: ticks 0 to 0 are missing")
        self.write("trace.csv", "tick,zone-1\n0,1\n0,1\n")
        self.refused("trace.csv:3: `tick` goes backwards or repeats")
        self.write("trace.csv", "hour,zone-1\n0,1\n")
        self.refused("trace.csv:1: the columns hour,zone-1 are of no known trace")

    def test_a_trace_may_be_named_after_a_pool(self):
        self.write("fleet.yaml",
                   FLEET + "  - {provider: aws, zone: zone-1, instance_type: u, capacity: spot, price: 2, max: 4}\n")
        self.refused("trace of zone-1: the spot pools zone-1/t/spot, zone-1/u/spot are in that zone")
        self.write("small.csv", "tick,nodes\n" + "".join(f"{i},4\n" for i in range(600)))
        done = self.rekindle("simulate", "--job", "job.yaml", "--fleet", "fleet.yaml",
                             "--trace", "zone-1/t/spot=small.csv", "--step", "300", "--policy", "planner", "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertAlmostEqual(json.loads(done.stdout)["policies"][0]["cost"], 4 * 20.05, places=2)

    def test_a_fleet_without_on_demand_leaves_todays_policies_out(self):
        self.write("fleet.yaml", "\n".join(FLEET.splitlines()[:3]) + "\n")
        self.write("job.yaml", JOB % (1, 150, 0))
        done = self.simulate("-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        of = {entry["policy"]: entry for entry in json.loads(done.stdout)["policies"]}
        self.assertIn("no on-demand pool", of["next_zone"]["left_out"])
        self.assertTrue(of["planner"]["finished"])
        self.assertIn("left out: no on-demand pool", self.simulate().stdout)

    def test_what_crosses_the_budget_is_marked(self):
        self.write("job.yaml", JOB % (1, 26, 150))
        done = self.simulate()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"on_demand .*; crosses the budget by 90\.60")


if __name__ == "__main__":
    unittest.main()
