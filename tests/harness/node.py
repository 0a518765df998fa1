"""Starts, inspects and kills one node.

A node stands for a machine: it has its own folder, `rekindle-worker init` (which runs the agent, which runs the
trainers) and `rekindle-checkpoint`.
"""
import os
import re
import shutil
import signal

from live_processes import end_all, kill, processes, with_descendants
from ports import metric


class Node:
    def __init__(self, cluster, name):
        self.cluster, self.name = cluster, name
        self.dir = cluster.dir / "nodes" / name
        self.children = []
        # `started_at` maps a program to the length that its log had when the program was last started.
        self.started_at = {}

    def start(self):
        self.dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.start_checkpoint()
        self.start_worker()
        return self

    def start_worker(self):
        flags = ["--advertise", self.cluster.addresses[self.name]] if self.name in self.cluster.addresses else []
        if self.cluster.device:
            flags += ["--device", self.cluster.device]
        if not self.cluster.host.startswith("127."):
            # If the coordinator listens beyond loopback, nodes let jobs read only one folder by default.
            flags += ["--data-root", "/"]
        endpoint = self.cluster.endpoint_for.get(self.name, self.cluster.endpoint)
        env = {**self.cluster.worker_env.get(self.name, {})}
        if endpoint != self.cluster.endpoint and "REKINDLE_TLS_CERT" not in self.cluster.env:
            # A worker finds the token by the coordinator's port, but a relay has another port.
            env.setdefault("REKINDLE_TOKEN_FILE", str(self.cluster.token_file()))
        self.started_at["worker"] = self.log_size("worker")
        self.worker = self.cluster.spawn(
            ["rekindle-worker", "init", "--dir", str(self.dir), "--coordinator", endpoint, "--node", self.name, *flags,
             *self.cluster.worker_flags.get(self.name, [])], f"{self.name}-worker", self.enter(), env)
        self.children.append(self.worker)

    def enter(self):
        """Returns the command that puts a program into this node's namespaces. It is usually empty."""
        return self.cluster.enter.get(self.name, [])

    def peer_flags(self):
        address = self.cluster.addresses.get(self.name)
        return ["--peer-listen", f"{address}:0"] if address else []

    def shared_memory_flags(self):
        """Gives the node a folder of its own for shared memory, which kill() can remove.

        A node in a namespace has a /dev/shm of its own already."""
        if self.enter():
            return []
        self.shared_memory().mkdir(mode=0o700, parents=True, exist_ok=True)
        return ["--shm-dir", str(self.shared_memory())]

    def shared_memory(self):
        return self.cluster.shared_memory / self.name

    def start_checkpoint(self):
        self.started_at["checkpoint"] = self.log_size("checkpoint")
        self.checkpoint = self.cluster.spawn(
            [self.cluster.checkpoint_program, "--dir", str(self.dir), *self.shared_memory_flags(), *self.peer_flags(),
             *self.cluster.checkpoint_flags],
            f"{self.name}-checkpoint", self.enter(), self.cluster.checkpoint_env.get(self.name))
        self.children.append(self.checkpoint)

    def log_path(self, program):
        return self.cluster.logs / f"{self.name}-{program}.log"

    def log_size(self, program):
        path = self.log_path(program)
        return path.stat().st_size if path.exists() else 0

    def metrics_port(self, program):
        """Returns the port of a program that was started with `--metrics HOST:0`, or 0 while it is not known."""
        log = self.log_path(program).read_bytes()[self.started_at[program]:]
        ports = re.findall(rb" metrics (?:node=\S+ )?address=\S*:(\d+)", log)
        return int(ports[-1]) if ports else 0

    def checkpoint_metric(self, name):
        """Returns a metric of the checkpoint service, which must have been started with `--metrics 127.0.0.1:0`."""
        return metric(self.metrics_port("checkpoint"), name)

    def pids(self, role):
        """Returns the pids of the node's processes in the role `trainer`, `agent`, `init` or `checkpoint`."""
        found = []
        for pid, argv in processes(str(self.dir)):
            name = os.path.basename(argv[0])
            is_worker = name == "rekindle-worker" or (argv[0] == "/proc/self/exe" and len(argv) > 1)
            kind = {"rekindle-trainer": "trainer", "rekindle-own-trainer": "trainer",
                    self.cluster.checkpoint_program: "checkpoint"}.get(name)
            if kind is None and is_worker:
                kind = argv[1]
            if kind == role:
                found.append(pid)
        return found

    def all_pids(self):
        # The processes of users' code need not name the node's folder.
        return with_descendants(pid for pid, _ in processes(str(self.dir)))

    def kill_trainers(self, sig=signal.SIGKILL):
        pids = self.pids("trainer")
        kill(pids, sig)
        return pids

    def kill_checkpoint(self):
        """Kills the checkpoint service and waits for its end. It holds its lock while gigabytes of memory are freed."""
        end_all(self.pids("checkpoint"), 60)

    def kill(self, wipe=True):
        """Kills everything at once, with disk and shared memory, as if the machine vanished."""
        while pids := {*self.all_pids(), *(child.pid for child in self.children if child.poll() is None)}:
            # All processes are stopped first, so that none sees another one end.
            kill(pids, signal.SIGSTOP)
            end_all(pids, 60)
        self.children.clear()
        shutil.rmtree(self.shared_memory(), ignore_errors=True)
        if wipe:
            shutil.rmtree(self.dir, ignore_errors=True)
