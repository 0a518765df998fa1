"""Runs the cluster that faults act on, and keeps it running.

As a machine's supervisor does, it starts programs that have ended again, unless a fault keeps them from starting."""
import collections
import json
import os
import pathlib
import signal
import subprocess
import time

from certificates import coordinator_flags, make_certificates
from cluster import Cluster
from live_processes import kill, processes_naming
from namespaces import run
from programs import REPO
from schedule import NODES

# A lease lasts only seconds here, so that processes that wait for the end of one go on within a round.
FLAGS = ["--lease-seconds=4", "--lease-save-seconds=4", "--lease-step-seconds=4"]
# A price of `SECOND` per hour is a price of 1 per second.
SECOND = 3600
PRICES = {"cheap": SECOND, "dear": 2 * SECOND}
POOLS = {name: "dear" if name == "n2" else "cheap" for name in NODES}
# `DISK` is the size of the coordinator's disk.
DISK = "48m"
# Jobs may train models of the user's own, without isolation, in the Python that has PyTorch.
PYTHON = os.environ.get("REKINDLE_PYTHON") or f"{os.environ.get('REKINDLE_VENV', '')}/bin/python3"
CODE_FLAGS = ["--python", PYTHON, "--isolation-at-most", "none", "--allow-code", "unisolated"]
CODE_ENVIRONMENT = {"PYTHONPATH": str(REPO / "python")}
# A process that has ended is started again after `AGAIN` seconds.
AGAIN = 0.5


class World:
    """Runs the cluster. It is not thread-safe.

    `network` is a Namespaces, or None in a round without namespaces. Then the coordinator's folder is not on a small
    disk of its own either. `device` is what trainers compute on, as in `rekindle-worker --device`. say(line) shows a
    line to the person who started the round."""

    def __init__(self, folder, network, device, say):
        self.folder, self.network, self.say = pathlib.Path(folder), network, say
        self.store, self.aside = self.folder / "mount" / "store", self.folder / "mount" / "aside"
        self.store.mkdir(parents=True)
        self.held, self.lost, self.start_at = collections.Counter(), set(), {}
        self.plans, self.shifts, self.prices, self.asked = [], collections.Counter(), dict(PRICES), []
        self.plan_file, self.fleet_file = self.folder / "store-faults", self.folder / "fleet.yaml"
        self.plan_file.write_text("")
        self.write_fleet()
        clocks = {name: {"REKINDLE_TEST_CLOCK": str(self.clock_file(name))} for name in ("coordinator", *NODES)}
        flags = {name: ["--pool", POOLS[name], "--notices", "file", "--notice-file", str(self.notice_file(name)),
                        *CODE_FLAGS] for name in NODES}
        where, secured, listens = {}, {}, []
        if network:
            where = {"host": network.host, "enter": network.enter, "addresses": network.addresses}
            certificates = self.folder / "certificates"
            certificates.mkdir()
            secured = make_certificates(certificates, network.host)
            listens = coordinator_flags(secured)
        self.cluster = Cluster(
            self.folder / "cluster", nodes=NODES, device=device, checkpoint_program="checkpoint_faulty_service",
            coordinator_flags=[*FLAGS, "--allow-code", "on", "--fleet", str(self.fleet_file), *listens],
            worker_flags=flags,
            worker_env={name: {**CODE_ENVIRONMENT, **clocks[name]} for name in NODES}, checkpoint_env=clocks,
            env={"REKINDLE_TEST_FILE_FAULTS": str(self.plan_file), **clocks["coordinator"], **secured}, **where)
        self.coordinator_disk = self.cluster.coordinator_data()
        self.coordinator_disk.mkdir()

    def start(self):
        if self.network:
            run("mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(self.coordinator_disk))
        self.cluster.start()

    def stop(self):
        """Stops the cluster and waits until nothing of it runs."""
        for asked in self.asked:
            asked.kill()
            asked.wait()
        self.cluster.stop()
        if self.coordinator_disk.is_mount():
            run("umount", "-l", str(self.coordinator_disk))

    def hold(self, *what):
        """Keeps a process from being started until it is released as often as it was held.

        `what` is `coordinator`, or `node`, `worker` or `checkpoint` with a node's name."""
        self.held[what] += 1

    def release(self, *what):
        self.held[what] -= 1

    def lose(self, name):
        """Ends a node's machine. Nothing that it still had to send arrives."""
        if self.network and name not in self.lost:
            self.network.silence(name, "-A")
        self.lost.add(name)
        self.cluster.nodes[name].kill()

    def supervise(self):
        """Starts the programs that have ended and are not held."""
        if not self.held["coordinator",] and self.may_start(self.cluster.coordinator):
            self.cluster.spawn_coordinator()
        for name, node in self.cluster.nodes.items():
            if self.held["node", name]:
                continue
            if name in self.lost:
                self.lost.remove(name)
                if self.network:
                    self.network.forget_memory(name)
                    self.network.silence(name, "-D")
                node.dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not self.held["checkpoint", name] and self.may_start(node.checkpoint):
                node.start_checkpoint()
            if not self.held["worker", name] and self.may_start(node.worker):
                node.start_worker()

    def may_start(self, process):
        if process.poll() is None:
            return False
        now = time.monotonic()
        return now >= self.start_at.setdefault(process.pid, now + AGAIN)

    def ask(self, *words):
        """Runs a user's command, which may fail while the coordinator is away."""
        self.asked.append(subprocess.Popen(self.cluster.command(*words), env=self.cluster.env, stdin=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def notice_file(self, name):
        return self.folder / f"notice-{name}"

    def clock_file(self, whose):
        return self.folder / f"clock-{whose}"

    def shift_clock(self, whose, seconds):
        self.shifts[whose] += seconds
        replace(self.clock_file(whose), f"a test shifts the wall clock by {self.shifts[whose]} s\n")

    def spoil_store(self, plan):
        """Makes operations of the store fail as `plan` says (faulty_main.cc). The newest of several plans counts."""
        self.plans.append(plan)
        replace(self.plan_file, f"{plan}\n")

    def mend_store(self, plan):
        self.plans.remove(plan)
        replace(self.plan_file, f"{self.plans[-1]}\n" if self.plans else "")

    def bring_to_store(self, folder):
        """Moves all files from `folder` to their places in the store. If two files have one name, the newer counts."""
        for path in [path for path in folder.rglob("*") if path.is_file()]:
            target = self.store / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not target.exists() or target.stat().st_mtime < path.stat().st_mtime:
                path.rename(target)

    def write_fleet(self):
        replace(self.fleet_file, json.dumps({"pools": [
            {"name": name, "provider": "local", "zone": name, "capacity": "spot", "price": price}
            for name, price in self.prices.items()]}))

    def multiply_price(self, pool, factor):
        self.prices[pool] *= factor
        self.write_fleet()
        if self.cluster.coordinator.poll() is None:
            kill([self.cluster.coordinator.pid], signal.SIGHUP)

    def still_training(self):
        """Returns a description of each process that trains, or waits to, while the programs of the nodes live on."""
        of_jobs = ("rekindle-trainer", "rekindle-own-trainer", "rekindle.child", "rekindle.warm")
        return [f"process {pid}: {' '.join(argv)}" for pid, argv in processes_naming(str(self.folder))
                if any(pathlib.PurePath(word).name in of_jobs for word in argv)]

    def leftovers(self):
        """Returns a description of each process, mount and shared memory that stop() should have removed."""
        left = [f"process {pid}: {' '.join(argv)}" for pid, argv in processes_naming(str(self.folder))]
        mounts = pathlib.Path("/proc/mounts").read_text().splitlines()
        left += [f"mount {line}" for line in mounts if str(self.folder) in line]
        if self.cluster.shared_memory.exists():
            left.append(f"shared memory {self.cluster.shared_memory}")
        return left


def replace(path, text):
    """Replaces a file so that readers see the old or the new text, never half of it."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(text)
    new.rename(path)
