"""Starts, inspects and kills the real programs on this machine: one coordinator, any number of nodes.

The demo, the end-to-end tests and benches use it.
"""
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import time

from live_processes import kill, processes, processes_naming
from node import Node
from programs import program
from timelines import Timelines
from waiting import wait_until

# `ENDED` lists the states of a job that is over.
ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")


def error_message(stderr):
    """Returns the message of the error that `rekindle ... -o json` has printed. Warnings may come before it."""
    try:
        return json.loads(stderr.strip().rpartition("\n")[2])["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return stderr.strip()


class Cluster:
    """Runs a coordinator, which listens on `host`, and nodes. `nice` is the niceness of all programs.

    `enter`, `addresses` and `worker_flags` map a node to the command that puts a program into its namespaces, to the
    address that its trainers advertise, and to more flags of its worker. `worker_env` and `checkpoint_env` map a node
    to more environment of its worker and its checkpoint service. `device` is what all nodes compute on, as in
    `rekindle-worker --device`. If it is not given, the environment's REKINDLE_TEST_DEVICE says it."""

    def __init__(self, folder, nodes=("n1", "n2", "n3"), env=None, coordinator_flags=(), checkpoint_flags=(),
                 checkpoint_program="rekindle-checkpoint", host="127.0.0.1", enter=None, addresses=None,
                 worker_flags=None, worker_env=None, nice=0, checkpoint_env=None, device=None):
        self.dir = pathlib.Path(folder)
        self.dir.mkdir(parents=True, exist_ok=True)
        self.logs = self.dir / "logs"
        self.logs.mkdir(exist_ok=True)
        timeline = self.dir / "timeline"
        timeline.mkdir(exist_ok=True)
        self.timelines = Timelines(timeline)
        self.reports = self.dir / "reports"
        self.reports.mkdir(exist_ok=True)
        self.env = {**os.environ, "REKINDLE_TIMELINE": str(timeline), "REKINDLE_FAKE_REPORTS": str(self.reports),
                    **(env or {})}
        self.coordinator_flags, self.checkpoint_flags = list(coordinator_flags), list(checkpoint_flags)
        self.checkpoint_program = checkpoint_program
        self.host, self.enter, self.addresses = host, enter or {}, addresses or {}
        self.worker_flags, self.worker_env = worker_flags or {}, worker_env or {}
        self.checkpoint_env = checkpoint_env or {}
        self.device = device or os.environ.get("REKINDLE_TEST_DEVICE")
        self.shared_memory = pathlib.Path(f"/dev/shm/rekindle-{os.getpid()}-{self.dir.parent.name}-{self.dir.name}")
        self.nice = nice
        self.port = 0
        self.endpoint = ""
        # `endpoint_for` maps a node to its own endpoint, if it has one.
        self.endpoint_for = {}
        self.coordinator = None
        self.nodes = {name: Node(self, name) for name in nodes}

    def spawn(self, command, log, enter=(), env=None):
        nice = ["nice", "-n", str(self.nice)] if self.nice else []
        with open(self.logs / f"{log}.log", "ab") as out:
            return subprocess.Popen([*nice, *enter, program(command[0]), *command[1:]],
                                    env={**self.env, **(env or {})}, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                    start_new_session=True)

    def spawn_coordinator(self):
        self.coordinator = self.spawn(
            ["rekindle-coordinator", "--data", str(self.coordinator_data()), "--listen", f"{self.host}:{self.port}",
             *self.coordinator_flags], "coordinator")

    def start_coordinator(self, answers=True):
        """Starts the coordinator and waits until it listens, and with `answers` until it answers."""
        data = self.coordinator_data()
        data.mkdir(exist_ok=True)
        endpoint = data / "endpoint"
        if not self.port:
            endpoint.unlink(missing_ok=True)
        self.spawn_coordinator()
        if not self.port:
            self.endpoint = wait_until(lambda: endpoint.exists() and endpoint.read_text().strip(), 10,
                                       "the coordinator's endpoint file")
            self.port = int(self.endpoint.rsplit(":", 1)[1])
        wait_until(self.listening, 10, "the coordinator to listen")
        self.listening_since = time.monotonic()
        if answers:
            wait_until(lambda: self.try_cli("jobs"), 10, "the coordinator to answer")

    def listening(self):
        with contextlib.suppress(OSError), socket.create_connection((self.host, self.port), timeout=1):
            return True
        return False

    def kill_coordinator(self):
        self.coordinator.kill()
        self.coordinator.wait()

    def coordinator_data(self):
        return self.dir / "coordinator"

    def token_file(self):
        return self.coordinator_data() / "token"

    def swap_coordinator(self, aside, back=None, make=lambda data: None, answers=True):
        """Kills the coordinator and starts it at the same address on another folder: the one that was put aside as
        `back`, or a new one that `make` fills. The old folder is moved to `aside`."""
        self.kill_coordinator()
        self.coordinator_data().rename(self.dir / aside)
        if back:
            (self.dir / back).rename(self.coordinator_data())
        else:
            make(self.coordinator_data())
        self.start_coordinator(answers)

    def trainer_pids(self):
        return sorted(pid for node in self.nodes.values() for pid in node.pids("trainer"))

    def start(self):
        self.start_coordinator()
        for node in self.nodes.values():
            node.start()
        return self

    def add_node(self, name):
        self.nodes[name] = Node(self, name).start()
        return self.nodes[name]

    def stop(self):
        for node in self.nodes.values():
            node.kill(wipe=False)
        if self.coordinator and self.coordinator.poll() is None:
            self.coordinator.terminate()
            try:
                self.coordinator.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.coordinator.kill()
                self.coordinator.wait()
        # The machines of local pools outlive their coordinator, so they are killed one by one.
        for name in self.machines():
            self.kill_machine(name)
        shutil.rmtree(self.shared_memory, ignore_errors=True)
        self.check_reports()

    def check_reports(self):
        """Fails if a fake device was used wrongly. Its trainer has ended then, and the job went on without it."""
        for report in self.reports.iterdir():
            raise AssertionError(f"the fake device of process {report.name} was used wrongly: {report.read_text()}")

    def machine_folder(self, name):
        return self.dir / "coordinator" / "nodes" / name

    def machines(self):
        """Returns the names of the local machines that run, whether or not their folders still exist."""
        begin = f"{self.machine_folder('')}/"
        return {word[len(begin):] for _, argv in processes_naming(begin) for word in argv
                if word.startswith(begin) and "/" not in word[len(begin):]}

    def kill_machine(self, name):
        """Kills a machine of a local pool with all it runs. The coordinator may start another."""
        folder = str(self.machine_folder(name))
        while found := processes(folder):
            kill(pid for pid, _ in found)
            for _, argv in found:
                if "--shm-dir" in argv:
                    shutil.rmtree(argv[argv.index("--shm-dir") + 1], ignore_errors=True)
            wait_until(lambda: not {p for p, _ in processes(folder)} & {p for p, _ in found}, 10, f"{name} to die")
        shutil.rmtree(folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.stop()

    def command(self, *args):
        return [program("rekindle"), *args, "--endpoint", self.endpoint, "-o", "json"]

    def cli(self, *args, check=True):
        """Runs `rekindle ARGS -o json` and returns its parsed output."""
        done = subprocess.run(self.command(*args), env=self.env, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            if check:
                raise RuntimeError(f"rekindle {' '.join(args)}: exit {done.returncode}: {error_message(done.stderr)}")
            return None
        return json.loads(done.stdout) if done.stdout.strip() else {}

    def try_cli(self, *args):
        return self.cli(*args, check=False) is not None

    def run_worker(self, *args):
        """Runs `rekindle-worker ARGS` to its end."""
        subprocess.run([program("rekindle-worker"), *args], env=self.env, check=True, capture_output=True, text=True,
                       timeout=60)

    def status(self, job):
        return self.cli("get", job)["status"]

    def await_end(self, job, seconds=300):
        """Returns the status of a job that is over. Raises an error after `seconds` seconds without a new step."""
        furthest = -1

        def moved():
            status = self.status(job)
            return status if status["state"] in ENDED or status["step"] > furthest else None
        while True:
            status = wait_until(moved, seconds, f"job {job} to end, or to go beyond step {furthest}", poll=0.5)
            if status["state"] in ENDED:
                return status
            furthest = status["step"]

    def submit(self, spec, folder=None):
        """Submits a job that is given as a dict, which is written as JSON because JSON is YAML."""
        path = pathlib.Path(folder or self.dir) / f"{spec['name']}.yaml"
        path.write_text(json.dumps(spec, indent=1))
        return self.cli("submit", str(path))

    def events(self, job):
        return self.cli("events", job)

    def marks(self):
        """Returns all lines of the trainers' timelines, sorted by time."""
        return self.timelines.marks()
