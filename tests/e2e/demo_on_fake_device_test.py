"""Tests the demo on the fake device: it survives every fault with the weights of an undisturbed run on the CPU."""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

from base import ClusterTest
import demo

SECONDS = 800


class DemoOnFakeDeviceTest(ClusterTest):
    def test_its_digest_is_that_of_the_cpu(self):
        report = pathlib.Path(self.folder) / "report.json"
        # The demo's own folder is made in that of the test, which ends whatever is left of the demo.
        command = [sys.executable, demo.__file__, "--device", "fake", "--text", str(self.text), "--report", str(report)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS,
                              env={**os.environ, "TMPDIR": self.folder})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        digests = json.loads(report.read_text())["digests"]
        self.assertTrue(digests.pop("equal"))
        self.assertEqual(dict(re.findall(r"^  (\w+) weights +(\S+)$", done.stdout, re.MULTILINE)), digests)
        # The demo's undisturbed job runs on the CPU.
        self.assertEqual(digests["disturbed"], digests["undisturbed"])


if __name__ == "__main__":
    unittest.main()
