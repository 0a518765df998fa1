"""Tests that batch norm's buffers are exact, too: three workers and a kill give the same digest as one worker."""
import pathlib
import random
import unittest

from base import ClusterTest, wait_until


def images(folder):
    draw = random.Random(3)
    path = pathlib.Path(folder) / "images.bin"
    path.write_bytes(b"".join(bytes([draw.randrange(10)]) + draw.randbytes(3072) for _ in range(60)))
    return path


def job(name, model, data, steps):
    return {"name": name, "spec": {
        "seed": 3, "workers": {"min": 1, "max": 3}, "model": model, "data": {**data, "validation_fraction": 0.1},
        "training": {"steps": steps, "global_batch": 24, "micro_batch": 4, "evaluate_every": 20},
        "optimizer": {"learning_rate": 2e-3}, "schedule": {"kind": "cosine", "warmup_steps": 5},
        "checkpoint": {"every_steps": 10}}}


class ModelsTest(ClusterTest):
    def test_resnet_keeps_its_digest_through_a_kill(self):
        spec = job("resnet", {"kind": "resnet18", "width": 4, "classes": 10},
                   {"images": {"files": [str(images(self.folder))]}}, 200)
        cluster = self.cluster()
        cluster.submit(spec)
        wait_until(lambda: cluster.status("resnet")["step"] >= 10 and len(cluster.status("resnet")["members"]) == 3,
                   120, "three workers to step", poll=0.1)
        cluster.nodes["n2"].kill_trainers()
        status = self.await_end(cluster, "resnet")
        self.assertGreaterEqual(len(status["faults"]), 1)
        self.assertEqual(status["steps_redone"], 0)
        self.assert_undisturbed(status, spec)


if __name__ == "__main__":
    unittest.main()
