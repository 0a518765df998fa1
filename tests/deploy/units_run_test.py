#!/usr/bin/python3
"""Tests that the command lines of the units start a cluster that trains, copies and drains.

They use the environment files and the certificates as deploy/ makes them. The cluster keeps a copy in a peer's memory
over TLS, and drains on SIGTERM within the time that the unit grants. The test does what systemd would do: it sets the
variables and makes the folders, those of each node below a temporary folder of the node's own.
"""
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import deployment
from deployment import UNITS, command_of, settings

sys.path.insert(0, str(deployment.ROOT / "tests/e2e"))
from base import small_job, text_file  # noqa: E402
from live_processes import kill  # noqa: E402
from ports import free_port  # noqa: E402
from waiting import wait_until  # noqa: E402

NODES = ("n1", "n2")


class Machine:
    """Runs units below `folder`, which stands for / of one machine."""

    def __init__(self, folder):
        self.folder, self.children = folder, {}

    def start(self, unit, **variables):
        parsed = settings(UNITS / f"rekindle-{unit}.service")
        file = "coordinator" if unit == "coordinator" else "node"
        environment = {**settings(UNITS / "environment" / f"{file}.env"), **variables}
        argv = command_of(parsed, environment)
        state = self.folder / "var/lib" / parsed["StateDirectory"]
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
        argv = [word.replace("/var/lib/", f"{self.folder}/var/lib/") for word in argv]
        argv[0] = argv[0].replace(deployment.INSTALLED, str(deployment.program("rekindle-worker").parent))
        env = {name: value.replace("/etc/rekindle/", f"{self.folder}/etc/rekindle/")
               for name, value in environment.items() if name.startswith("REKINDLE_")}
        log = open(self.folder / f"{unit}.log", "ab")
        with log:
            self.children[unit] = subprocess.Popen(argv, env={"PATH": os.environ["PATH"], **env}, stdout=log,
                                                   stderr=log)
        return self.children[unit]


class UnitsRun(unittest.TestCase):
    def setUp(self):
        for name in ("rekindle", "rekindle-coordinator", "rekindle-trainer"):
            if not deployment.program(name):
                self.skipTest(f"{name} is not built")
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        subprocess.run([deployment.DEPLOY / "make-secrets", self.folder / "secrets", "localhost"], check=True,
                       capture_output=True)
        self.endpoint = f"localhost:{free_port()}"
        memory = tempfile.TemporaryDirectory(dir="/dev/shm", prefix="rekindle-units-", ignore_cleanup_errors=True)
        # The shared memory is removed after the services have ended, because cleanups run in reverse order.
        self.addCleanup(memory.cleanup)
        self.memory = pathlib.Path(memory.name)
        self.machines = {}
        self.addCleanup(self.stop)

    def stop(self):
        children = [child for machine in self.machines.values() for child in machine.children.values()]
        for child in children:
            child.kill()
            child.wait()
        # Like systemd, the test also kills what is left of a unit.
        kill(self.left())

    def left(self):
        """Returns the pids of processes that name this test's folder."""
        found = []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if str(self.folder).encode() in pathlib.Path("/proc", entry, "cmdline").read_bytes():
                    found.append(int(entry))
        return found

    def machine(self, name, role):
        machine = self.machines[name] = Machine(self.folder / name)
        (machine.folder / "etc/rekindle").mkdir(parents=True)
        (machine.folder / "etc/rekindle" / role).symlink_to(self.folder / "secrets" / role)
        return machine

    def rekindle(self, *arguments):
        client = self.folder / "secrets/client"
        env = {"REKINDLE_TLS_CERT": f"{client}/tls.crt", "REKINDLE_TLS_KEY": f"{client}/tls.key",
               "REKINDLE_TLS_CA": f"{client}/ca.crt", "REKINDLE_TOKEN_FILE": f"{client}/token"}
        return subprocess.run([deployment.program("rekindle"), *arguments, "--endpoint", self.endpoint],
                              capture_output=True, text=True, timeout=60, env={**os.environ, **env})

    def job(self):
        shown = self.rekindle("get", "small", "-o", "json")
        return json.loads(shown.stdout) if shown.returncode == 0 else {"status": {}}

    def ready(self):
        shown = self.rekindle("nodes", "-o", "json")
        if shown.returncode != 0:
            return False
        return [n["state"] for n in json.loads(shown.stdout)["nodes"]] == ["ready"] * len(NODES)

    def copies(self, name):
        return [entry for entry in os.listdir(self.memory / name) if "-peer-" in entry]

    def start_all(self):
        port = self.endpoint.rsplit(":", 1)[1]
        self.machine("coordinator", "coordinator").start(
            "coordinator", LISTEN=f"0.0.0.0:{port}",
            COORDINATOR_FLAGS=f"--metrics 127.0.0.1:0 --default-store file://{self.folder}/store")
        # The ports of the units are fixed, so a random loopback network keeps this test apart from others.
        net = f"127.{random.randint(1, 254)}.{random.randint(1, 254)}"
        for i, name in enumerate(NODES):
            machine = self.machine(name, "node")
            where = {"NODE": name, "ADDRESS": f"{net}.{i + 2}", "ZONE": f"zone-{i}", "COORDINATOR": self.endpoint,
                     "WORKER_FLAGS": f"--data-root {self.folder}",
                     "CHECKPOINT_FLAGS": f"--shm-dir {self.memory / name}"}
            (self.memory / name).mkdir()
            machine.start("checkpoint", **where)
            machine.start("worker", **where)

    def submit_the_job_of_the_page(self):
        page = (deployment.ROOT / "docs/fleet.md").read_text()
        text = next(block for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "name: first" in block)
        file = self.folder / "first.yaml"
        data = self.folder / "data"
        data.mkdir()
        text_file(data)
        text = text.replace("/var/lib/rekindle/data/", f"{data}/")
        file.write_text(re.sub(r'"s3://[^"]*"', f"file://{self.folder}/first", text))
        submitted = self.rekindle("submit", str(file))
        self.assertEqual(submitted.returncode, 0, submitted.stderr)

    def logs(self):
        return "\n".join(f"--- {path}\n{path.read_text(errors='replace')[-2000:]}"
                         for path in self.folder.glob("*/*.log"))

    def test_units_train_copy_and_drain(self):
        self.start_all()
        try:
            wait_until(self.ready, 60, "both nodes to be ready", poll=0.1)
            file = self.folder / "job.json"
            file.write_text(json.dumps(small_job("small", text_file(self.folder), steps=4000, workers=2)))
            self.assertEqual(self.rekindle("submit", str(file)).returncode, 0)
            wait_until(lambda: self.job()["status"].get("step", 0) >= 20, 60, "20 steps", poll=0.1)
            wait_until(lambda: "checkpoint_saved" in self.rekindle("events", "small").stdout, 60, "a checkpoint",
                       poll=0.1)
            wait_until(lambda: all(self.copies(name) for name in NODES), 60, "copies in both peers' memory", poll=0.1)
            self.submit_the_job_of_the_page()
            began = time.monotonic()
            worker = self.machines["n2"].children["worker"]
            worker.send_signal(signal.SIGTERM)
            self.assertEqual(worker.wait(60), 0)
            self.assertLess(time.monotonic() - began,
                            float(settings(UNITS / "rekindle-worker.service")["TimeoutStopSec"]))
            # The checkpoint service still runs, because only the worker was told to stop.
            self.assertIsNone(self.machines["n2"].children["checkpoint"].poll())
        except (TimeoutError, AssertionError):
            print(self.logs())
            raise
        self.assertIn("drained", self.rekindle("events", "small").stdout)


if __name__ == "__main__":
    unittest.main()
