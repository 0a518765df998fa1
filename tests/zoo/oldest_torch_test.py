"""Tests five models of the zoo with the oldest PyTorch that own models may use.

PyTorch of another version is several gigabytes, so nothing installs it: REKINDLE_OLDEST_TORCH names an interpreter that
has it, and the test is skipped without one. docs/development.md says how to make one."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
OLDEST = "2.4."
MODELS = "nanogpt,batch_norm_of_low_momentum,custom_function,queue_of_keys,unused_expert"
SKIPPED = 77


class OldestTorchTest(unittest.TestCase):
    def passes(self, test):
        # The packages of the zoo belong to another PyTorch, and these models need none of them.
        with tempfile.TemporaryDirectory(prefix="rekindle-zoo-") as none:
            done = subprocess.run([INTERPRETER, str(HERE / test), MODELS], capture_output=True, text=True, check=False,
                                  env={**os.environ, "REKINDLE_ZOO_PACKAGES": none})
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        # Both scripts end with 0 only if each model that they were given was there and passed.
        self.assertRegex(said, r"Ran \d+ tests", said)

    def test_it_is_the_oldest(self):
        done = subprocess.run([INTERPRETER, "-c", "import torch; print(torch.__version__)"], capture_output=True,
                              text=True, check=True)
        self.assertTrue(done.stdout.startswith(OLDEST), done.stdout)

    def test_the_model_process_computes_what_a_plain_loop_does(self):
        self.passes("zoo_test.py")

    def test_a_kill_changes_no_bit(self):
        self.passes("trained_test.py")


if __name__ == "__main__":
    INTERPRETER = os.environ.get("REKINDLE_OLDEST_TORCH", "")
    if not INTERPRETER:
        print(f"skipped: REKINDLE_OLDEST_TORCH names no interpreter with PyTorch {OLDEST}x")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
