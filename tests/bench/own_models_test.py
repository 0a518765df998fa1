"""Tests what the bench `own_models` makes of times and processes, without any job."""
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import _run  # noqa: E402

sys.path[:0] = _run.folders()
import _own_cluster as own  # noqa: E402


class Costs(unittest.TestCase):
    def test_progress_is_a_fraction_between_two_steps(self):
        done = {1: 10.0, 2: 12.0, 4: 14.0}
        self.assertEqual(own.progress(done, 10.5), 1.25)
        self.assertEqual(own.progress(done, 13.0), 3.0)
        with self.assertRaisesRegex(RuntimeError, "no step was completed before and after 14.5"):
            own.progress(done, 14.5)

    def test_processes_below_another_are_found_and_measured(self):
        shell = subprocess.Popen(["/bin/sh", "-c", "echo; read line; while :; do :; done & cat; kill $!"],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        shell.stdout.readline()
        self.assertEqual(own.descendants(shell.pid), [])
        before = own.cpu_seconds([shell.pid])
        shell.stdin.write(b"go\n")
        shell.stdin.flush()
        own.wait_until(lambda: own.cpu_seconds(own.descendants(shell.pid)) > before + 0.05, 60, "a loop to compute",
                       poll=0.01)
        self.assertEqual(len(own.descendants(shell.pid)), 2)
        self.assertGreater(own.memory_bytes(own.descendants(shell.pid)), 0)
        shell.communicate()
        self.assertEqual(own.cpu_seconds([shell.pid]), 0)


if __name__ == "__main__":
    unittest.main()
