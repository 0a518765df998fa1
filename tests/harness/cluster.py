"""Starts, inspects and kills the real programs on this machine: one coordinator, any number of nodes.

A node is what a machine would be: its own folder, `rekindle-worker init` (which runs the agent, which runs the
trainers) and `rekindle-checkpoint`. Standard library only; used by the demo, the end-to-end tests and the benches.
"""
import contextlib
import glob
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

REPO = pathlib.Path(__file__).resolve().parents[2]


def build_dir():
    """Where the programs are: REKINDLE_BUILD, else build/release of the checkout."""
    return pathlib.Path(os.environ.get("REKINDLE_BUILD", REPO / "build" / "release"))


def program(name):
    path = build_dir() / "bin" / name
    if not path.exists():
        raise SystemExit(f"{path} is not built: run scripts/bootstrap, or set REKINDLE_BUILD to the build folder")
    return str(path)


ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")   # The states of a job that is over.


def error_message(stderr):
    """Of `rekindle ... -o json`: warnings may stand before it."""
    try:
        return json.loads(stderr.strip().rpartition("\n")[2])["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return stderr.strip()


def wait_until(found, seconds, what, poll=0.005):
    """The first true value of found(), or an error that names what was waited for."""
    end = time.monotonic() + seconds
    while True:
        got = found()
        if got:
            return got
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(poll)


def processes(needle=None):
    """(pid, argv) of the live processes with `needle` among their arguments, or of all; zombies are dead."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            argv = pathlib.Path("/proc", entry, "cmdline").read_bytes().split(b"\0")[:-1]
            state = pathlib.Path("/proc", entry, "stat").read_text().rsplit(")", 1)[1].split()[0]
            argv = [a.decode(errors="replace") for a in argv]
            if needle in (None, *argv) and state not in "ZX":
                found.append((int(entry), argv))
    return found


def processes_naming(path):
    """(pid, argv) of those with `path`, or anything in that folder, within an argument."""
    return [(pid, argv) for pid, argv in processes() if any(path in word for word in argv)]


def free_port():
    """Nobody else takes it before a program of ours does, as far as one can know."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def metrics_page(port):
    """What a program serves to Prometheus on loopback."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return answer.read().decode()


def metric(port, name):
    """The sum of a metric over its labels."""
    lines = metrics_page(port).splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.split("{")[0].split(" ")[0] == name)


def kill(pids, sig=signal.SIGKILL):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sig)


def end_all(pids, seconds):
    """Kills the processes, until they have closed all files. Their arguments are gone long before that."""
    with contextlib.ExitStack() as stack:
        watched = []
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                watched.append(os.pidfd_open(pid))
                stack.callback(os.close, watched[-1])
        kill(pids)
        end = time.monotonic() + seconds
        while watched:
            ended, _, _ = select.select(watched, [], [], max(0, end - time.monotonic()))
            if not ended:
                raise TimeoutError(f"waited {seconds} s for {len(watched)} killed processes to end")
            watched = [fd for fd in watched if fd not in ended]


class Node:
    def __init__(self, cluster, name):
        self.cluster, self.name = cluster, name
        self.dir = cluster.dir / "nodes" / name
        self.children = []
        self.started_at = {}   # It maps each program to the length of its log at its newest start.

    def start(self):
        self.dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.start_checkpoint()
        self.start_worker()
        return self

    def start_worker(self):
        flags = ["--advertise", self.cluster.addresses[self.name]] if self.name in self.cluster.addresses else []
        if not self.cluster.host.startswith("127."):
            flags += ["--data-root", "/"]   # Elsewhere a node reads what is put into one folder.
        endpoint = self.cluster.endpoint_for.get(self.name, self.cluster.endpoint)
        env = {**self.cluster.worker_env.get(self.name, {})}
        if endpoint != self.cluster.endpoint and "REKINDLE_TLS_CERT" not in self.cluster.env:
            env.setdefault("REKINDLE_TOKEN_FILE", str(self.cluster.token_file()))   # None is found by a relay's port.
        self.started_at["worker"] = self.log_size("worker")
        self.worker = self.cluster.spawn(
            ["rekindle-worker", "init", "--dir", str(self.dir), "--coordinator", endpoint, "--node", self.name, *flags,
             *self.cluster.worker_flags.get(self.name, [])], f"{self.name}-worker", self.enter(), env)
        self.children.append(self.worker)

    def enter(self):
        """What puts a program into this node's namespaces; nothing as a rule."""
        return self.cluster.enter.get(self.name, [])

    def peer_flags(self):
        address = self.cluster.addresses.get(self.name)
        return ["--peer-listen", f"{address}:0"] if address else []

    def shared_memory_flags(self):
        """A folder of its own, so that nothing is left of a node that is killed. A namespace has one already."""
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
        """Of the `checkpoint` service or the `worker` that was started last, with `--metrics HOST:0`; 0: not known yet."""
        log = self.log_path(program).read_bytes()[self.started_at[program]:]
        ports = re.findall(rb" metrics (?:node=\S+ )?address=\S*:(\d+)", log)
        return int(ports[-1]) if ports else 0

    def checkpoint_metric(self, name):
        """What the checkpoint service that runs now says; it was started with `--metrics 127.0.0.1:0`."""
        return metric(self.metrics_port("checkpoint"), name)

    def pids(self, role):
        """Of `trainer`, `agent`, `init` or `checkpoint`."""
        found = []
        for pid, argv in processes(str(self.dir)):
            name = os.path.basename(argv[0])
            is_worker = name == "rekindle-worker" or (argv[0] == "/proc/self/exe" and len(argv) > 1)
            kind = {"rekindle-trainer": "trainer", self.cluster.checkpoint_program: "checkpoint"}.get(name)
            if kind is None and is_worker:
                kind = argv[1]
            if kind == role:
                found.append(pid)
        return found

    def all_pids(self):
        return [pid for pid, _ in processes(str(self.dir))]

    def kill_trainers(self, sig=signal.SIGKILL):
        pids = self.pids("trainer")
        kill(pids, sig)
        return pids

    def kill_checkpoint(self):
        """Until it is gone: it keeps its lock while gigabytes of its memory are given back."""
        end_all(self.pids("checkpoint"), 60)

    def kill(self, wipe=True):
        """As a machine that vanishes: everything at once, its disk and its shared memory with it."""
        while pids := {*self.all_pids(), *(child.pid for child in self.children if child.poll() is None)}:
            kill(pids, signal.SIGSTOP)    # So that none of them sees another one end.
            end_all(pids, 60)
        self.children.clear()
        shutil.rmtree(self.shared_memory(), ignore_errors=True)
        if wipe:
            shutil.rmtree(self.dir, ignore_errors=True)


class Cluster:
    """`host`: where the coordinator listens. `enter`, `addresses` and `worker_flags`, by node: the command that puts a
    program into the node's namespaces, the address its trainers advertise, more flags and environment of its worker, and
    of its checkpoint service."""

    def __init__(self, folder, nodes=("n1", "n2", "n3"), env=None, coordinator_flags=(), checkpoint_flags=(),
                 checkpoint_program="rekindle-checkpoint", host="127.0.0.1", enter=None, addresses=None,
                 worker_flags=None, worker_env=None, nice=0, checkpoint_env=None):
        self.dir = pathlib.Path(folder)
        self.dir.mkdir(parents=True, exist_ok=True)
        self.logs = self.dir / "logs"
        self.logs.mkdir(exist_ok=True)
        self.timeline = self.dir / "timeline"
        self.timeline.mkdir(exist_ok=True)
        self.env = {**os.environ, "REKINDLE_TIMELINE": str(self.timeline), **(env or {})}
        self.coordinator_flags, self.checkpoint_flags = list(coordinator_flags), list(checkpoint_flags)
        self.checkpoint_program = checkpoint_program
        self.host, self.enter, self.addresses = host, enter or {}, addresses or {}
        self.worker_flags, self.worker_env = worker_flags or {}, worker_env or {}
        self.checkpoint_env = checkpoint_env or {}
        self.shared_memory = pathlib.Path(f"/dev/shm/rekindle-{os.getpid()}-{self.dir.parent.name}-{self.dir.name}")
        self.nice = nice    # Of all its programs: beside what else this machine is to do at the same time.
        self.port = 0
        self.endpoint = ""
        self.endpoint_for = {}   # By node, where it is not that of the coordinator itself.
        self.lines, self.read_to = [], {}   # Of the timelines.
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
        """Until it answers, if it is to."""
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
        """The coordinator is killed, and started at its address on another folder: the one that was put aside as `back`,
        or what `make` makes there."""
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
        for name in self.machines():   # They outlive their coordinator.
            self.kill_machine(name)
        shutil.rmtree(self.shared_memory, ignore_errors=True)

    def machine_folder(self, name):
        return self.dir / "coordinator" / "nodes" / name

    def machines(self):
        """Names of the local machines that run, whether their folders are still there or not."""
        begin = f"{self.machine_folder('')}/"
        return {word[len(begin):] for _, argv in processes_naming(begin) for word in argv
                if word.startswith(begin) and "/" not in word[len(begin):]}

    def kill_machine(self, name):
        """A machine of a local pool, with all it runs; the coordinator may start another."""
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

    # ------------------------------------------------------------ the user's command

    def command(self, *args):
        return [program("rekindle"), *args, "--endpoint", self.endpoint, "-o", "json"]

    def cli(self, *args, check=True):
        """Runs `rekindle ARGS -o json`; its parsed output."""
        done = subprocess.run(self.command(*args), env=self.env, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            if check:
                raise RuntimeError(f"rekindle {' '.join(args)}: exit {done.returncode}: {error_message(done.stderr)}")
            return None
        return json.loads(done.stdout) if done.stdout.strip() else {}

    def try_cli(self, *args):
        return self.cli(*args, check=False) is not None

    def run_worker(self, *args):
        """`rekindle-worker ARGS`, to its end."""
        subprocess.run([program("rekindle-worker"), *args], env=self.env, check=True, capture_output=True, text=True,
                       timeout=60)

    def status(self, job):
        return self.cli("get", job)["status"]

    def await_end(self, job, seconds=300):
        """The status of a job that is over. Gives up where it completes no step for so many seconds: how fast it
        computes is up to the machine."""
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
        """`spec`: the job as a dict (JSON is YAML)."""
        path = pathlib.Path(folder or self.dir) / f"{spec['name']}.yaml"
        path.write_text(json.dumps(spec, indent=1))
        return self.cli("submit", str(path))

    def events(self, job):
        return self.cli("events", job)

    # ------------------------------------------------------------ what the trainers did, when

    def marks(self):
        """All lines of the trainers' timelines, in order of time. Reads only what is new since the last call."""
        for path in glob.glob(str(self.timeline / "*.jsonl")):
            with open(path, "rb") as file:
                file.seek(self.read_to.get(path, 0))
                text = file.read()
            whole = text.rfind(b"\n") + 1    # A killed trainer's last line may be torn.
            self.read_to[path] = self.read_to.get(path, 0) + whole
            self.lines += map(json.loads, text[:whole].splitlines())
        self.lines.sort(key=lambda m: m["t"])
        return list(self.lines)


def stray_steps(marks):
    """Steps that a rank of an older generation of a job applied after the first of a newer one, but for the one that it
    was in then: sentences, none where all is well."""
    newest, strays, in_flight = {}, [], set()   # newest: by job, the highest generation that has stepped, and since when.
    for mark in marks:
        if mark["event"] != "step":
            continue
        job, generation = mark["job"], mark["generation"]
        highest, since = newest.get(job, (0, 0))
        if generation > highest:
            newest[job] = (generation, mark["t"])
        elif generation < highest:
            key = (mark["trainer"], generation)
            if key in in_flight:
                strays.append(f"{mark['trainer']} applied step {mark['step']} in generation {generation}, "
                              f"{mark['t'] - since:.2f} s after the first step of generation {highest}")
            in_flight.add(key)
    return strays


def completions(marks):
    """{step: time} at which every member of a generation had applied the step."""
    seen, done = {}, {}
    for mark in marks:
        if mark["event"] != "step":
            continue
        key = (mark["generation"], mark["step"])
        seen.setdefault(key, set()).add(mark["trainer"])
        if len(seen[key]) == mark["world"]:
            done.setdefault(mark["step"], mark["t"])
    return done
