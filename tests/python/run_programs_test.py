"""Tests rekindle.run with the programs that were built, rather than with a stand-in."""
import json
import os
import subprocess
import unittest
from unittest import mock

import base  # noqa: F401

from run_base import StandInTest, real_program


class RealTest(StandInTest):
    """Trains with the programs that were built, where they know models of users."""

    TRAIN = """
import json
import os
import sys

import torch

import rekindle

def task():
    assert os.environ["TEST_VALUE"] == "of this run"
    module = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    data = [(point, int(point.sum() > 0)) for point in torch.randn(64, 2)]

    def loss(module, batch):
        points, classes = batch
        summed = torch.nn.functional.cross_entropy(module(points), classes, reduction="sum")
        return rekindle.Sum(summed, len(classes))

    return rekindle.Task(module, data=data, loss=loss)

if __name__ == "__main__":
    name, workers = sys.argv[1].split(":")
    result = rekindle.run(task, steps=20, batch=8, micro_batch=2, workers=int(workers), name=name, checkpoint=10,
                          optimizer=rekindle.AdamW(0.05), env_from=["TEST_VALUE"])
    print(json.dumps({"digest": result.digest, "steps": len(result.losses), "first": result.losses[0][1],
                      "last": result.losses[-1][1], "names": sorted(result.state_dict())}))
"""

    def test_two_workers_and_one_give_one_digest(self):
        program = real_program()
        told = subprocess.run([program, "up", "--help"], capture_output=True, text=True, check=True).stdout
        if "--python" not in told:
            self.skipTest(f"{program} does not train models of users")
        with mock.patch.dict(os.environ, {"REKINDLE_BIN": os.path.dirname(program), "TEST_VALUE": "of this run"}):
            results = []
            for run in ("two:2", "one:1"):
                done = subprocess.run(self.script(self.TRAIN, run), capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                results.append(json.loads(done.stdout))
        self.assertEqual(results[0], results[1])
        self.assertEqual((results[0]["steps"], results[0]["names"]),
                         (20, ["0.bias", "0.weight", "2.bias", "2.weight"]))
        self.assertLess(results[0]["last"], results[0]["first"])


if __name__ == "__main__":
    unittest.main()
