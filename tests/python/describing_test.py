"""Tests how a script hands its job over to `rekindle submit`, and names its folder as what is sent."""
import json
import os
import subprocess
import sys
import unittest

from run_base import SCRIPT, StandInTest

from rekindle.running import describing


class DescribingTest(StandInTest):
    def run_script(self, **environment):
        (self.folder / "project" / "train.py").write_text(SCRIPT)
        return subprocess.run([sys.executable, "train.py", "{}"], cwd=self.folder / "project", capture_output=True,
                              text=True, timeout=60, env={**os.environ, **environment})

    def test_a_script_describes_its_job_instead_of_training_it(self):
        file = self.folder / "described.json"
        done = self.run_script(**{describing.VARIABLE: str(file)})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        job = json.loads(file.read_text())
        self.assertEqual(job["name"], "train")
        self.assertEqual(job["spec"]["model"], {"python": "train:task", "bundle": str(self.folder / "project")})
        self.assertEqual(job["spec"]["training"]["steps"], 3)
        self.assertEqual(self.calls(), [])

    def test_a_folder_becomes_a_bundle_and_the_job_stays_as_it_is(self):
        job = {"name": "a", "spec": {"model": {"python": "a:b", "folder": "/f"}, "seed": 1}}
        self.assertEqual(describing.with_bundle(job),
                         {"name": "a", "spec": {"model": {"python": "a:b", "bundle": "/f"}, "seed": 1}})
        self.assertEqual(job["spec"]["model"]["folder"], "/f")


if __name__ == "__main__":
    unittest.main()
