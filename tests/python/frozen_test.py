"""Tests that frozen parameters take memory once for all processes of a job on a node, and that nothing can write to
them there."""
import os
import pathlib
import subprocess
import sys
import unittest
from unittest import mock

from base import PACKAGE, ChildTest

import torch

from rekindle import frozen
from rekindle.peer import Failure
from trainer import processes_below

MIB = 1 << 20


def private_bytes(pid, what):
    """Returns how much memory of the mapped files that have `what` in their names only this process has."""
    used, counts = 0, False
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if "-" in line.split()[0] and not line.split()[0].endswith(":"):
            counts = what in line
        elif counts and line.startswith(("Private_Dirty", "Private_Clean")):
            used += 1024 * int(line.split()[1])
    return used


class FrozenTest(ChildTest):
    def setUp(self):
        super().setUp()
        patched = mock.patch.dict(os.environ, TMPDIR=self.folder.name)
        patched.start()
        self.addCleanup(patched.stop)

    def files(self):
        return sorted(path.name for path in pathlib.Path(self.folder.name).glob("frozen-*"))

    def test_processes_of_a_job_share_one_file(self):
        trainers = [self.ready("teaching:task", start="program") for _ in range(2)]
        losses = [trainer.compute([0, 1, 2]).loss for trainer in trainers]
        self.assertEqual(losses[0], losses[1])
        self.assertEqual(len(self.files()), 1)
        for trainer in trainers:
            for pid in (trainer.pid, *processes_below(trainer.pid)):
                self.assertIn(self.files()[0], pathlib.Path(f"/proc/{pid}/maps").read_text())
                self.assertEqual(private_bytes(pid, self.files()[0]), 0)

    def test_memory_is_given_back_to_the_system(self):
        """The C library keeps freed memory in its heap where larger parts were freed before."""
        lines = ("import sys, torch\nfrom rekindle import frozen\n"
                 "module = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(30)]).bfloat16()\n"
                 "used = lambda: int(open('/proc/self/status').read().split('RssAnon:')[1].split()[0])\n"
                 "before = used()\n"
                 "module.requires_grad_(False)\n"
                 "frozen.share(module.parameters(), sys.argv[1])\n"
                 "print(before - used())")
        done = subprocess.run([sys.executable, "-c", lines, self.folder.name], capture_output=True, text=True,
                              check=True, env={**os.environ, "PYTHONPATH": str(PACKAGE)})
        self.assertGreaterEqual(1024 * int(done.stdout), 0.9 * 30 * 2 * MIB)
        self.assertEqual(len(self.files()), 1)

    def test_a_write_ends_the_process(self):
        trainer = self.ready("teaching:writes", start="program")
        trainer.ask([0, 1])
        with self.assertRaises(EOFError):
            trainer.receive()
        self.assertEqual(trainer.exit_code(), -11)
        self.assertIn("teaching.py", pathlib.Path(trainer.faults).read_text())

    def test_a_file_with_other_values_is_not_taken(self):
        trainer = self.ready("teaching:task", start="program")
        loss = trainer.compute([0, 1, 2]).loss
        trainer.close()
        path = pathlib.Path(self.folder.name, self.files()[0])
        for content in (bytes(path.stat().st_size), b"", bytes(8 * MIB)):
            path.write_bytes(content)
            self.assertEqual(self.ready("teaching:task", start="program").compute([0, 1, 2]).loss, loss)

    def test_a_folder_that_cannot_be_written_does_not_matter(self):
        with mock.patch.dict(os.environ, TEST_NO_ROOM="1"):
            trainer = self.ready("teaching:task", start="program")
        self.assertGreater(trainer.compute([0, 1, 2]).loss, 0)
        self.assertEqual(self.files(), [])

    def test_what_is_small_shared_or_not_plain_stays(self):
        base = torch.randn(2, MIB)
        tensors = [torch.nn.Parameter(tensor, requires_grad=False) for tensor in (
            torch.randn(16), base[0], base[1], torch.randn(1024, 1024).t(), torch.eye(2048).to_sparse(),
            torch.randn(MIB), torch.randn(MIB).bfloat16())]
        before = [tensor.data_ptr() if tensor.layout == torch.strided else 0 for tensor in tensors]
        values = [tensor.detach().clone() for tensor in tensors]
        frozen.share(tensors, self.folder.name)
        moved = [tensor.layout == torch.strided and tensor.data_ptr() != pointer
                 for tensor, pointer in zip(tensors, before)]
        self.assertEqual(moved, [False] * 5 + [True, True])
        for tensor, value in zip(tensors, values):
            self.assertTrue(torch.equal(tensor.to_dense() if tensor.layout != torch.strided else tensor,
                                        value.to_dense() if value.layout != torch.strided else value))
        frozen.share(tensors, "/nowhere/at/all")

    def test_a_small_frozen_parameter_is_still_watched(self):
        trainer = self.ready("teaching:writes_small")
        with self.assertRaises(Failure) as failure:
            trainer.compute([0, 1])
        self.assertIn("forward changed the frozen parameter", failure.exception.fields["message"])


if __name__ == "__main__":
    unittest.main()
