#!/usr/bin/python3
"""Tests the units in deploy/systemd: systemd accepts them, they restrict their services, and they keep their promises.

The promises are about drains, shared memory and restarts."""
import fnmatch
import os
import re
import shutil
import stat
import subprocess
import tempfile
import pathlib
import unittest

import deployment
from deployment import UNITS, command_of, settings

HIGHEST_EXPOSURE = 3.0
SERVICES = sorted(UNITS.glob("*.service"))
HARDENING = settings(UNITS / "rekindle-.service.d/10-hardening.conf")
# The file `GPU` lets the worker's service use GPUs. Only deploy/install --gpu puts it in place.
GPU = UNITS / "rekindle-worker.service.d/20-gpu.conf"
# systemd gives a service `AIR_SECONDS` more time to stop than its programs themselves take.
AIR_SECONDS = 5
# `INIT_SECONDS` is kStopGraceSeconds of worker/agent/init/init.cc.
INIT_SECONDS = 5


def unit(name):
    return settings(UNITS / f"rekindle-{name}.service")


def environment(name):
    return settings(UNITS / "environment" / f"{name}.env")


@unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed (package systemd)")
class Accepted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        programs = self.folder / "programs"
        programs.mkdir()
        shutil.copytree(UNITS / "rekindle-.service.d", self.folder / "rekindle-.service.d")
        for name in UNITS.iterdir():
            if name.suffix in (".service", ".slice"):
                (self.folder / name.name).write_text(name.read_text().replace(deployment.INSTALLED, str(programs)))
        # `systemd-analyze verify` requires that each program of a unit exists, so links to /bin/true stand in for them.
        for each in SERVICES:
            (programs / settings(each)["ExecStart"].split()[0].rsplit("/", 1)[-1]).symlink_to("/bin/true")

    def analyze(self, *arguments):
        return subprocess.run(["systemd-analyze", *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=60, env={**os.environ, "SYSTEMD_LOG_LEVEL": "warning", "SYSTEMD_COLORS": "0"})

    def with_gpu(self):
        shutil.copytree(GPU.parent, self.folder / GPU.parent.name)

    def test_verify_says_nothing(self):
        for prepare in (lambda: None, self.with_gpu):
            prepare()
            result = self.analyze("verify", "--man=no", *[each.name for each in SERVICES], "rekindle.slice")
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_verify_would_have_said_something(self):
        (self.folder / "rekindle-worker.service").write_text("[Service]\nExecStart=/bin/true\nKillMood=mixed\n")
        self.assertIn("KillMood", self.analyze("verify", "--man=no", "rekindle-worker.service").stderr)

    def security(self, name):
        return self.analyze("security", "--offline=true", f"--threshold={int(HIGHEST_EXPOSURE * 10)}", name)

    def exposure(self, name):
        result = self.security(name)
        level = re.search(r"Overall exposure level for \S+: ([\d.]+)", result.stdout)
        self.assertTrue(level, result.stdout + result.stderr)
        return float(level.group(1))

    def test_exposure(self):
        for each in SERVICES:
            self.assertLess(self.exposure(each.name), HIGHEST_EXPOSURE, each.name)

    def test_exposure_with_gpus(self):
        without = {each.name: self.exposure(each.name) for each in SERVICES}
        self.with_gpu()
        found = {each.name: self.exposure(each.name) for each in SERVICES}
        self.assertLess(found["rekindle-worker.service"], HIGHEST_EXPOSURE)
        self.assertEqual({name for name in found if found[name] != without[name]}, {"rekindle-worker.service"})
        # systemd reads the GPU file after the settings that all services have in common, so the file can override them.
        self.assertIn("potentially has access to hardware devices", self.security("rekindle-worker.service").stdout)


@unittest.skipUnless(shutil.which("systemd-sysusers") and os.geteuid() == 0, "needs root and systemd-sysusers")
class Folders(unittest.TestCase):
    def test_keys_are_roots_to_write_and_one_users_to_read(self):
        with tempfile.TemporaryDirectory() as root:
            root = pathlib.Path(root)
            for path in ("etc/rekindle/node", "usr/lib"):
                (root / path).mkdir(parents=True)
            (root / "etc/rekindle/node/token").write_text("T")
            for name in ("sysusers", "tmpfiles"):
                done = subprocess.run([f"systemd-{name}", f"--root={root}", *["--create"] * (name == "tmpfiles"),
                                       UNITS / f"{name}.conf"],
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
            groups = dict(line.split(":")[0::2][:2] for line in (root / "etc/group").read_text().splitlines())
            for name, mode in (("node", 0o2750), ("node/token", 0o640), ("coordinator", 0o2750)):
                found = (root / "etc/rekindle" / name).stat()
                owner = groups["rekindle-coordinator" if name == "coordinator" else "rekindle"]
                self.assertEqual((oct(stat.S_IMODE(found.st_mode)), found.st_uid, str(found.st_gid)),
                                 (oct(mode), 0, owner), name)


class Promises(unittest.TestCase):
    def test_flags_are_known_and_variables_are_set(self):
        for name, file in (("coordinator", "coordinator"), ("checkpoint", "node"), ("worker", "node")):
            self.assertEqual(deployment.unknown_flags(command_of(unit(name), environment(file))), [])
        self.assertIsNot(deployment.known_flags("rekindle-worker"), None, "rekindle-worker is not built")
        self.assertEqual(deployment.unknown_flags(["rekindle-worker", "init", "--no-such"]), ["--no-such"])

    def test_a_drain_may_end(self):
        worker = unit("worker")
        argv = command_of(worker, environment("node"))
        drain = float(argv[argv.index("--drain-seconds") + 1])
        shown = subprocess.run([deployment.program("rekindle-worker"), "agent", "--help"], capture_output=True,
                               text=True)
        grace = float(re.search(r"--stop-grace-seconds .*=(\d+)", shown.stdout).group(1))
        self.assertGreaterEqual(float(worker["TimeoutStopSec"]), drain + grace + INIT_SECONDS + AIR_SECONDS)
        self.assertEqual((worker["KillMode"], worker["KillSignal"]), ("mixed", "SIGTERM"))
        self.assertEqual(worker["OOMPolicy"], "continue")

    def test_jobs_read_what_the_operator_puts_into_one_folder(self):
        argv = command_of(unit("worker"), {**environment("node"), "WORKER_FLAGS": "--data-root /more"})
        roots = [argv[i + 1] for i, word in enumerate(argv) if word == "--data-root"]
        self.assertEqual(roots, ["/var/lib/rekindle/data", "/more"])
        # The folder with the jobs' data lies beside the node's own files, because jobs must not read those.
        self.assertFalse(unit("worker")["StateDirectory"].startswith("rekindle/data"))
        self.assertRegex((UNITS / "tmpfiles.conf").read_text(), r"\nd /var/lib/rekindle/data +0755 root root\n")

    def test_exit_codes_that_no_restart_would_change(self):
        self.assertEqual(unit("worker")["Restart"], "on-failure")
        self.assertEqual(unit("worker")["RestartPreventExitStatus"], "2 3 4")
        for name in ("coordinator", "checkpoint"):
            self.assertEqual((unit(name)["Restart"], unit(name)["RestartPreventExitStatus"]), ("always", "2"))

    def test_checkpoint_service_outlives_the_worker_and_yields_to_it(self):
        worker, checkpoint = unit("worker"), unit("checkpoint")
        # Because the worker is ordered after the checkpoint service, systemd also stops the worker first.
        self.assertIn("rekindle-checkpoint.service", worker["After"])
        self.assertNotIn("rekindle-checkpoint.service", worker.get("Requires", ""))
        self.assertNotIn("rekindle-worker",
                         str({key: value for key, value in checkpoint.items() if key != "Description"}))
        self.assertLess(int(checkpoint["CPUWeight"]), int(worker["CPUWeight"]))

    def test_node_services_share_memory_folder_and_sight(self):
        worker, checkpoint = unit("worker"), unit("checkpoint")
        for key in ("User", "Group", "StateDirectory", "StateDirectoryMode"):
            self.assertEqual(worker[key], checkpoint[key])
        self.assertEqual((HARDENING["RemoveIPC"], HARDENING["PrivateUsers"]), ("no", "no"))
        for each in (worker, checkpoint, HARDENING):
            self.assertFalse({"PrivateNetwork", "TemporaryFileSystem", "ProcSubset", "DynamicUser",
                              "PartOf"} & set(each))
        self.assertEqual(worker["MemoryDenyWriteExecute"], "no")
        self.assertFalse(any("/dev/shm" in value for value in HARDENING.values()))

    def test_gpus_open_nvidias_devices_and_no_others(self):
        gpu = settings(GPU)
        self.assertEqual((HARDENING["PrivateDevices"], HARDENING["DevicePolicy"]), ("yes", "closed"))
        self.assertEqual((gpu["PrivateDevices"], gpu.get("DevicePolicy")), ("no", None))
        devices = re.findall(r"^DeviceAllow=(\S+) rwm$", GPU.read_text(), re.MULTILINE)
        self.assertEqual(len(devices), len(re.findall("^DeviceAllow=", GPU.read_text(), re.MULTILINE)))
        # In the list below, the first two lines name the character devices of NVIDIA's drivers 535 and 580, and how
        # many of them the GPU file allows. The last line names devices that must stay closed.
        for there, allowed in (("nvidia-frontend nvidia-uvm nvidia-caps nvidia-nvswitch", 3),
                               ("nvidia nvidiactl nvidia-uvm nvidia-caps nvidia-modeset nvidia-nvlink", 4),
                               ("mem tty drm fb input rtc vfio", 0)):
            matched = [name for name in there.split()
                       if any(fnmatch.fnmatch(name, each[len("char-"):]) for each in devices)]
            self.assertEqual(len(matched), allowed, matched)
        self.assertEqual({key for key in gpu if key in HARDENING}, {"PrivateDevices"})

    def test_no_secret_in_a_unit(self):
        for path in UNITS.rglob("*"):
            if path.is_file():
                self.assertNotRegex(path.read_text(), r"-----BEGIN|[0-9a-f]{32}")
        for name in ("node", "coordinator"):
            secrets = {key: value for key, value in environment(name).items() if key.startswith("REKINDLE_")}
            self.assertEqual(len(secrets), 4)
            for value in secrets.values():
                self.assertTrue(value.startswith(f"/etc/rekindle/{name}/"), value)
        self.assertRegex((UNITS / "tmpfiles.conf").read_text(), r"d /etc/rekindle/node +2750 root rekindle\n")


if __name__ == "__main__":
    unittest.main()
