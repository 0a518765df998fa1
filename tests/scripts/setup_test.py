#!/usr/bin/python3
"""Tests the scripts' set-up on machines where it cannot succeed: it prints one clear line and the fix.

Shell functions simulate such a machine. They replace the functions with which the scripts examine the real one."""

import os
import subprocess
import tempfile
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SCRIPTS = ("bootstrap", "test", "demo", "bench", "chaos", "format")


def run(*command, **environment):
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
                          env={**os.environ, **environment})


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cache = folder.name

    def set_up(self, *machine):
        """Runs the set-up in an empty cache folder. The functions in `machine` replace what examines the machine."""
        # `safe` has harmless functions for all that a case does not replace itself, so no case changes the real
        # machine.
        safe = ["apt-get() { false; }", "sudo() { false; }", "missing_packages() { :; }",
                "memory_mb() { echo 8000; }", "free_disk_mb() { echo 90000; }", "install_wheels() { false; }"]
        program = "\n".join(['. "$0"', *safe, *machine, "setup_machine", 'echo "ready $REKINDLE_WHEELS"'])
        return run("bash", "-c", program, f"{ROOT}/scripts/lib/setup.sh", XDG_CACHE_HOME=self.cache)

    def assert_refused(self, result, *texts):
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        for text in (*texts, "error: ", "  fix: "):
            self.assertIn(text, result.stderr)

    def test_too_little_memory(self):
        self.assert_refused(self.set_up("memory_mb() { echo 2048; }"), "too little memory: 2048 MB")

    def test_too_little_disk(self):
        self.assert_refused(self.set_up("free_disk_mb() { echo 700; }"), "too little disk: 700 MB", "XDG_CACHE_HOME")

    def test_cache_folder_not_writable(self):
        self.cache = os.path.join(self.cache, "file")
        with open(self.cache, "w", encoding="utf-8"):
            pass
        self.assert_refused(self.set_up(), "is not writable", "XDG_CACHE_HOME")

    def test_no_apt(self):
        self.assert_refused(self.set_up("command() { false; }"), "no apt-get", "Debian 12 or Ubuntu 24.04")

    def test_neither_root_nor_sudo(self):
        machine = ("missing_packages() { echo 'cmake mold '; }", "id() { echo 1000; }")
        self.assert_refused(self.set_up(*machine), "neither root nor has sudo", "apt-get install -y", "cmake mold")

    def test_no_network_for_apt(self):
        machine = ("missing_packages() { echo 'cmake '; }", "can_be_root() { :; }",
                   "as_root() { echo 'Could not resolve the mirror'; return 100; }")
        self.assert_refused(self.set_up(*machine), "step failed", "apt packages",
                            "Could not resolve the mirror", "network")

    def test_no_network_for_wheels_and_a_second_try(self):
        broken = "install_wheels() { mkdir -p $REKINDLE_VENV; echo 'No route to host'; return 1; }"
        self.assert_refused(self.set_up(broken), "step failed", "wheels", "No route to host", "network")
        # After a failed set-up, the half-made folder of wheels is not taken for a good one.
        works = ("install_wheels() { mkdir -p $REKINDLE_VENV/bin $REKINDLE_VENV/lib/python3.x/site-packages && "
                 "cp /bin/true $REKINDLE_VENV/bin/python3 && touch $REKINDLE_VENV/.complete; }")
        result = self.set_up(works)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("/lib/python3.x/site-packages", result.stdout)
        # A good folder of wheels is neither made again nor checked for disk space.
        self.assertEqual(self.set_up("free_disk_mb() { echo 1; }").returncode, 0)


class Scripts(unittest.TestCase):
    def test_help_from_any_folder(self):
        for name in SCRIPTS:
            result = run("env", "--chdir=/", f"{ROOT}/scripts/{name}", "--help")
            self.assertEqual((name, result.returncode), (name, 0))
            self.assertTrue(result.stdout.startswith(f"usage: scripts/{name}"), result.stdout)

    def test_wrong_use_is_refused_before_any_work(self):
        for arguments in (["bootstrap", "--frob"], ["demo", "--frob"], ["demo", "--text"], ["demo", "--text", "/none"],
                          ["bench", "none"], ["bench", "../scripts/x"], ["chaos", "--frob"], ["chaos", "--seed", "x"],
                          ["chaos", "--device", "x"], ["format", "--frob"]):
            result = run(f"{ROOT}/scripts/{arguments[0]}", *arguments[1:])
            self.assertEqual((arguments, result.returncode), (arguments, 2), result.stderr)
            self.assertIn("error: ", result.stderr)
            self.assertNotIn("==>", result.stdout)

    def test_syntax(self):
        names = [f"scripts/{name}" for name in SCRIPTS] + [".ci/run"]
        names += [f"scripts/lib/{name}" for name in os.listdir(f"{ROOT}/scripts/lib") if name.endswith(".sh")]
        for name in names:
            self.assertEqual((name, run("bash", "-n", f"{ROOT}/{name}").returncode), (name, 0))


if __name__ == "__main__":
    unittest.main()
