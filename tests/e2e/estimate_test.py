"""Tests rekindle submit --estimate: what a job is expected to cost, and then whether to submit it.

The coordinator has no nodes."""
import json
import os
import pty
import subprocess
import unittest

from base import ClusterTest, small_job
from programs import program

FLEET = """currency: EUR
pools:
  - {provider: aws, zone: zone-1, instance_type: t, capacity: spot, price: 1, max: 4}
  - {provider: aws, zone: zone-2, instance_type: t, capacity: spot, price: 1, max: 4}
  - {provider: aws, zone: zone-1, instance_type: t, capacity: on_demand, price: 3}
"""


class EstimateTest(ClusterTest):
    def setUp(self):
        super().setUp()
        self.running = self.cluster(nodes=())
        self.job = small_job("job", self.text, steps=3600)
        self.job["spec"]["estimate"] = {"step_seconds": 20}
        self.path("fleet.yaml").write_text(FLEET)
        self.path("trace.csv").write_text("tick,zone-1,zone-2\n" +
                                          "".join(f"{i},{3 - i // 600},2\n" for i in range(1500)))

    def path(self, name):
        return self.running.dir / name

    def command(self, *flags):
        self.path("job.yaml").write_text(json.dumps(self.job))
        return [program("rekindle"), "submit", "job.yaml", "--endpoint", self.running.endpoint, *flags]

    def submit(self, *flags):
        return subprocess.run(self.command(*flags), cwd=self.running.dir, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=120)

    def answer(self, words, *flags):
        """Submits the job on a terminal on which `words` is typed. Returns the command's exit code and output."""
        terminal, end = pty.openpty()
        with open(end, "rb", buffering=0) as stdin:
            child = subprocess.Popen(self.command(*flags), cwd=self.running.dir, stdin=stdin, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True)
        os.write(terminal, words.encode())
        out, _ = child.communicate(timeout=120)
        os.close(terminal)
        return child.returncode, out

    def jobs(self):
        return [job["name"] for job in self.running.cli("jobs").get("jobs", [])]

    def test_without_traces_capacity_is_made_up_and_nothing_is_submitted_unasked(self):
        done = self.submit("--estimate", "--fleet", "fleet.yaml")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("made-up spot capacity, as no --trace tells it: seeds 1 to 8", done.stdout)
        self.assertRegex(done.stdout, r"planner +\d+\.\d\d \(\d+\.\d\d to \d+\.\d\d\) ")
        # The cost is that of 3 nodes at 3 an hour, for 20 h of steps and for the time until the first step.
        self.assertRegex(done.stdout, r"on_demand +180\.45 ")
        self.assertIn("nothing was submitted: there is no terminal to ask on; --yes submits", done.stderr)
        self.assertEqual(self.jobs(), [])
        self.assertEqual(self.submit("--estimate", "--fleet", "fleet.yaml").stdout, done.stdout)
        self.assertNotEqual(self.submit("--estimate", "--fleet", "fleet.yaml", "--seed", "7").stdout, done.stdout)

    def test_yes_submits_and_json_is_a_line_before_the_job(self):
        done = self.submit("--estimate", "--fleet", "fleet.yaml", "--trace", "trace.csv", "--step", "300",
                           "--yes", "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        first, rest = done.stdout.split("\n", 1)
        estimate = json.loads(first)["estimate"]
        self.assertEqual((estimate["source"], estimate["currency"]), ("the traces, from 12 moments on", "EUR"))
        planner, on_demand = estimate["policies"]
        self.assertEqual((planner["policy"], planner["plays"], planner["unfinished"]), ("planner", 12, 0))
        self.assertLess(planner["cost"]["high"], on_demand["cost"]["low"])
        self.assertLess(planner["finish_hours"]["low"], planner["finish_hours"]["high"])
        self.assertEqual(json.loads(rest)["name"], "job")
        self.assertEqual(self.jobs(), ["job"])

    def test_a_terminal_is_asked(self):
        code, out = self.answer("n\n", "--estimate", "--fleet", "fleet.yaml")
        self.assertEqual(code, 1, out)
        self.assertIn("Submit it? [y/N] ", out)
        self.assertIn("nothing was submitted", out)
        self.assertEqual(self.jobs(), [])
        code, out = self.answer("y\n", "--estimate", "--fleet", "fleet.yaml")
        self.assertEqual(code, 0, out)
        self.assertEqual(self.jobs(), ["job"])

    def test_what_is_missing_is_named(self):
        done = self.submit("--estimate")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("name the fleet file, as --fleet fleet.yaml", done.stderr)
        done = self.submit("--fleet", "fleet.yaml")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("--fleet requires --estimate", done.stderr)
        del self.job["spec"]["estimate"]
        done = self.submit("--estimate", "--fleet", "fleet.yaml")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("job.yaml: spec.estimate.step_seconds: is missing", done.stderr)
        self.job["spec"]["training"]["steps"] = -1
        done = self.submit("--estimate", "--fleet", "fleet.yaml")
        self.assertIn("spec.training.steps", done.stderr)
        self.assertEqual(self.jobs(), [])


if __name__ == "__main__":
    unittest.main()
