"""Tests the AWS adapter against moto's Auto Scaling API, and spot prices against moto's EC2.

A layer in front of moto (autoscaling.py) has few machines, gives outdated answers and refuses what AWS refuses."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
import servers  # noqa: E402
from autoscaling import AutoScaling  # noqa: E402
from programs import program  # noqa: E402

SKIPPED = 77
POOL = "spot"


class AwsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="rekindle-aws-")
        self.addCleanup(self.folder.cleanup)
        self.aws = self.enterContext(AutoScaling(pathlib.Path(self.folder.name) / "moto"))
        self.aws.create_group("g", max_size=4)
        self.fleet = pathlib.Path(self.folder.name) / "fleet.yaml"
        self.fleet.write_text(json.dumps({"pools": [{
            "name": POOL, "provider": "aws", "region": "us-east-1", "zone": "us-east-1a", "capacity": "spot", "max": 9,
            "machines": {"group": "g", "endpoint": self.aws.endpoint}}]}))

    def call(self, *words):
        env = {**os.environ, "AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": servers.SECRET}
        done = subprocess.run([program("fleet_provider_probe"), str(self.fleet), *map(str, words)], env=env,
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(servers.SECRET, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def desired(self, nodes, *release):
        return self.call("desired", POOL, nodes, *release)

    def running(self):
        return sorted(m["node"] for m in self.call("list", POOL)["machines"] if m["state"] == "running")

    def test_machines_come_and_the_named_ones_go(self):
        self.assertEqual(self.running(), [])
        self.assertEqual(self.desired(3)["code"], "OK")
        nodes = self.running()
        self.assertEqual(len(nodes), 3)
        self.assertEqual(self.desired(2, nodes[1])["code"], "OK")
        self.assertEqual(self.running(), [nodes[0], nodes[2]])
        self.assertEqual(self.call("list", POOL)["desired"], 2)
        # If the request to end a machine is repeated, no other machine ends.
        self.assertEqual(self.desired(2, nodes[1])["code"], "OK")
        self.assertEqual(self.running(), [nodes[0], nodes[2]])
        self.assertEqual(self.desired(0)["code"], "OK")
        self.assertEqual(self.running(), [])

    def test_what_is_over_the_groups_size_is_cut_and_said(self):
        refused = self.desired(6)
        self.assertEqual(refused["code"], "RESOURCE_EXHAUSTED")
        self.assertIn("at most 4 instances", refused["message"])
        self.assertEqual(len(self.running()), 4)

    def test_short_of_capacity(self):
        self.aws.capacity = 1
        self.assertEqual(self.desired(3)["code"], "OK")
        listing = self.call("list", POOL)
        self.assertEqual((len(listing["machines"]), listing["desired"]), (1, 3))
        self.assertEqual(listing["shortage"]["code"], "RESOURCE_EXHAUSTED")
        self.assertIn("InsufficientInstanceCapacity", listing["shortage"]["message"])

    def test_answers_that_are_repeated_end_nobody_twice(self):
        self.desired(4)
        nodes = self.running()
        self.aws.stale = 2
        self.assertEqual(self.desired(3, nodes[0])["code"], "OK")
        self.assertEqual(self.desired(3, nodes[0])["code"], "OK")
        self.assertEqual(self.running(), nodes[1:])
        self.assertEqual(self.aws.actions.count("TerminateInstanceInAutoScalingGroup"), 2)

    def test_spot_prices(self):
        def pool(name, zone, instance_type):
            return {"name": name, "provider": "aws", "region": "us-east-1", "zone": zone,
                    "instance_type": instance_type, "capacity": "spot", "price": 1, "price_from": "provider",
                    "machines": {"group": name, "price_endpoint": f"http://127.0.0.1:{self.aws.moto.port}"}}
        self.fleet.write_text(json.dumps({"pools": [pool("there", "us-east-1b", "t3.small"),
                                                    pool("nowhere", "us-east-1b", "x9.huge")]}))
        answer = self.call("price", "there")
        # In moto every spot price, whatever the type and zone, is 0.00001.
        self.assertEqual((answer["code"], answer.get("price")), ("OK", 0.00001))
        answer = self.call("price", "nowhere")
        self.assertEqual(answer["code"], "NOT_FOUND")
        self.assertIn("no spot price of x9.huge in us-east-1b", answer["message"])

    def test_throttled(self):
        self.aws.throttled = 1
        refused = self.call("list", POOL)
        self.assertEqual((refused["code"], refused["retry_after"]), ("UNAVAILABLE", 0))
        self.assertEqual(self.call("list", POOL)["code"], "OK")


if __name__ == "__main__":
    try:
        servers.python_wheels("moto")
    except servers.Missing as why:
        print(f"skipped: {why}")
        sys.exit(SKIPPED)
    unittest.main()
