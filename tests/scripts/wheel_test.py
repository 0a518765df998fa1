"""Tests that the wheel of scripts/wheel installs into a new environment, and that its commands run its programs."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
import wheel  # noqa: E402

BUILD = pathlib.Path(os.environ.get("REKINDLE_BUILD", REPO / "build" / "release"))
# The environment of a user has nothing of this checkout.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/nowhere"}
PROGRAM = """#!/bin/sh
echo "$(dirname "$0"): $(basename "$0") $*"
exit 3
"""


def run(*command, **environment):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd="/",
                          env={**ENVIRONMENT, **environment})


def pretend(build):
    """Makes a build whose programs tell where they are, and what they were called with."""
    (build / "bin").mkdir(parents=True)
    for name in wheel.PROGRAMS:
        (build / "bin" / name).write_text(PROGRAM)
        (build / "bin" / name).chmod(0o755)
    return build


class Wheels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def install(self, build):
        """Makes the wheel of a build and installs it into a new environment, whose folder is returned."""
        made = wheel.make(build, self.folder / "wheels")
        environment = self.folder / "environment"
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        done = run(environment / "bin" / "pip", "install", "--no-index", "--disable-pip-version-check", made)
        self.assertEqual(done.returncode, 0, done.stderr)
        return environment


class Fake(Wheels):
    def test_commands_run_the_programs_of_the_package(self):
        environment = self.install(pretend(self.folder / "build"))
        [package] = environment.glob("lib/python3*/site-packages/rekindle")
        for name in ("rekindle", "rekindle-checkpoint", "rekindle-coordinator", "rekindle-worker"):
            done = run(environment / "bin" / name, "up", "--workers", "2 3")
            self.assertEqual((done.stdout, done.returncode),
                             (f"{package}/bin: {name} up --workers 2 3\n", 3), done.stderr)
        done = run(environment / "bin" / "python", "-c",
                   "from rekindle.running import programs; print(programs.find())")
        self.assertEqual(done.stdout, f"{package}/bin/rekindle\n", done.stderr)
        (package / "bin" / "rekindle").unlink()
        done = run(environment / "bin" / "rekindle")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"bin/rekindle cannot be started: No such file.*\n  fix: install the wheel")
        done = run(environment / "bin" / "rekindle", "x", REKINDLE_BIN=str(self.folder / "build" / "bin"))
        self.assertEqual(done.stdout, f"{self.folder}/build/bin: rekindle x\n")

    def test_every_module_is_in_it(self):
        made = wheel.make(pretend(self.folder / "build"), self.folder)
        with zipfile.ZipFile(made) as archive:
            names = set(archive.namelist())
        sources = {str(path.relative_to(REPO / "python")) for path in (REPO / "python" / "rekindle").rglob("*.py")}
        self.assertEqual({name for name in names if name.endswith(".py")}, sources)
        self.assertIn("rekindle/py.typed", names)

    def test_the_same_files_make_the_same_wheel(self):
        build = pretend(self.folder / "build")
        one, other = (wheel.make(build, self.folder / name).read_bytes() for name in ("one", "other"))
        self.assertEqual(one, other)

    def test_a_wheel_that_is_too_large_is_refused(self):
        build = pretend(self.folder / "build")
        with open(build / "bin" / "rekindle-worker", "ab") as file:
            file.write(os.urandom(wheel.MOST_BYTES))
        with self.assertRaisesRegex(wheel.Unfit, "25 are the most; its largest files are rekindle/bin/rekindle-worker"):
            wheel.make(build, self.folder)

    def test_search_paths_of_this_machine_are_taken_out(self):
        path = self.folder / "plugin.so"
        own = "$ORIGIN/../../pyarrow"
        for search, kept in ((f"/home/somebody/lib:{own}:/opt/lib", own), (own, own), ("/opt/lib", "")):
            subprocess.run(["c++", "-shared", "-o", path, "-x", "c++", "/dev/null", f"-Wl,-rpath,{search}"], check=True)
            wheel.keep_own_search(path)
            shown = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout
            self.assertRegex(shown, rf"R(UN)?PATH\).*\[{re.escape(kept)}\]")
            self.assertNotIn(b"/opt", path.read_bytes())

    def test_each_library_comes_with_its_licence(self):
        found = wheel.libraries("/usr/bin/readelf")
        texts = wheel.notices(found.values())
        self.assertTrue(texts)
        for name, text in texts.items():
            self.assertRegex(text.lower(), rb"licen[cs]e", name)
        with self.assertRaisesRegex(wheel.Unfit, "no package of this machine has .*/wheel_test.py"):
            wheel.notices([__file__])

    def test_a_program_that_is_missing_is_named(self):
        build = pretend(self.folder / "build")
        (build / "bin" / "rekindle-own-trainer").unlink()
        with self.assertRaisesRegex(wheel.Unfit, "rekindle-own-trainer is missing; run scripts/bootstrap"):
            wheel.make(build, self.folder)


class Real(Wheels):
    def test_the_programs_run_with_the_libraries_of_the_wheel_alone(self):
        missing = [name for name in wheel.PROGRAMS if not (BUILD / "bin" / name).exists()]
        if missing:
            self.skipTest(f"{BUILD} has no {', '.join(missing)}")
        environment = self.install(BUILD)
        [package] = environment.glob("lib/python3*/site-packages/rekindle")
        for name in ("rekindle", "rekindle-checkpoint", "rekindle-coordinator", "rekindle-worker"):
            done = run(environment / "bin" / name, "--version")
            self.assertRegex(done.stdout, rf"^{name} \d+\.\d+\.\d+", done.stderr)
        for name in wheel.PROGRAMS:
            loaded = wheel.libraries(package / "bin" / name)
            self.assertEqual({str(package)}, {os.path.dirname(os.path.dirname(os.path.realpath(path)))
                                         for path in loaded.values()}, name)
            shown = subprocess.run(["readelf", "-d", package / "bin" / name], capture_output=True, text=True).stdout
            self.assertNotRegex(shown, r"PATH\).*\[[^$]", name)
        licences = [path.name for path in package.parent.glob("rekindle-*.dist-info/licenses/libraries/*.txt")]
        self.assertTrue([name for name in licences if "grpc" in name], licences)
        # The wheel has no rekindle-trainer, and an agent does without it. This one hears of no coordinator.
        done = run(environment / "bin" / "rekindle-worker", "agent", "--dir", self.folder / "node", "--coordinator",
                   "127.0.0.1:1", "--node", "n", "--device", "cpu", "--end-unless-heard", "0.1")
        self.assertEqual(done.returncode, 4, done.stderr)


if __name__ == "__main__":
    unittest.main()
