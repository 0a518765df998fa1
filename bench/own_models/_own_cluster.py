"""Runs jobs of own models and plain loops, and says what the processes of both cost."""
import contextlib
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from _bench_json import REPO
from cluster import Cluster
from live_processes import end_all
from timelines import completions
from waiting import wait_until

HERE = pathlib.Path(__file__).resolve().parent
MICRO_BATCH, MICRO_BATCHES = {"resnet": 8}, 4
TICKS = os.sysconf("SC_CLK_TCK")


def interpreter():
    """Returns a Python that has PyTorch."""
    return sys.executable if importlib.util.find_spec("torch") else os.environ.get("REKINDLE_PYTHON", sys.executable)


def packages():
    """Returns the folder of transformers and torchvision, which tests/zoo installs, or "" where they are not needed."""
    done = subprocess.run([interpreter(), str(REPO / "tests" / "zoo" / "packages.py"), "install"],
                          capture_output=True, text=True, check=True)
    # What it prints ends with the folder, whose name may have spaces.
    return done.stdout.strip().partition(" are in ")[2]


def environment(more=""):
    """Returns what the interpreter of models gets: the package, this folder, and the folder `more`."""
    paths = [str(REPO / "python"), str(HERE), *filter(None, [more])]
    return {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}


def micro_batch(task):
    return MICRO_BATCH.get(task, 4)


def job(task, workers, steps, reduce="fp32"):
    """Returns a job with the work and the optimizer of _plain_loop.py."""
    return {"name": "job", "spec": {
        "seed": 1, "workers": {"min": 1, "max": workers, "threads_per_rank": 1},
        "model": {"python": f"_own_tasks:{task}", "folder": str(HERE), "data_workers": 1},
        "training": {"steps": steps, "global_batch": MICRO_BATCHES * micro_batch(task),
                     "micro_batch": micro_batch(task), "reduce": reduce, "clip_norm": 1.0},
        "optimizer": {"kind": "adamw", "learning_rate": 1e-3, "weight_decay": 0.1},
        "schedule": {"kind": "constant"}, "checkpoint": {"every_steps": 0}}}


@contextlib.contextmanager
def cluster(nodes, more=""):
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder:
        with Cluster(folder, nodes=nodes, env={"REKINDLE_LOG_FORMAT": "json"},
                     worker_flags={node: ["--python", interpreter()] for node in nodes},
                     worker_env={node: environment(more) for node in nodes}) as running:
            yield running.start()


def descendants(pid):
    """Returns the processes that `pid` has started, and those that these have started, and so on."""
    found = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                found += [int(child), *descendants(int(child))]
    return found


def of_model(running, node):
    """Returns the processes of a node that run the user's code: the agent's Python processes."""
    found = {child for init in running.nodes[node].pids("init") for child in descendants(init)}
    return sorted(pid for pid in found if os.path.basename(command(pid)[:1][0]).startswith("python"))


def model_process(running, node):
    """Returns the process of a node that runs the user's module. It is the parent of the process that makes batches."""
    leaves = [pid for pid in of_model(running, node) if not descendants(pid)]
    return int(pathlib.Path(f"/proc/{leaves[0]}/stat").read_text().rpartition(")")[2].split()[1])


def command(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1] or [""]
    return [""]


def cpu_seconds(pids):
    """Returns the processor's seconds that the processes have used."""
    used = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            used += int(fields[11]) + int(fields[12])
    return used / TICKS


def memory_bytes(pids):
    """Returns the memory of the processes, in which shared pages count once."""
    used = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            used += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return used * 1024


def progress(done, at):
    """Returns how many steps were done at a time, as a fraction between two steps. `done` is {step: time}."""
    steps = sorted(done)
    for before, after in zip(steps, steps[1:]):
        if done[before] <= at < done[after]:
            return before + (after - before) * (at - done[before]) / (done[after] - done[before])
    raise RuntimeError(f"no step was completed before and after {at}")


def watched(pids, done, warmup, steps):
    """Watches processes from step `warmup` for `steps` steps. `pids` and `done` are functions.

    Returns processor's seconds of a step and the most memory."""
    wait_until(lambda: max(done(), default=0) >= warmup, 300, "the first steps", poll=0.02)
    found = pids()
    begin, used = time.monotonic(), cpu_seconds(found)
    most = [memory_bytes(found)]

    def enough():
        most.append(memory_bytes(found))
        return max(done()) >= warmup + steps
    wait_until(enough, 600, "the measured steps", poll=0.25)
    end, used = time.monotonic(), cpu_seconds(found) - used
    last = max(done())
    wait_until(lambda: max(done()) > last, 60, "one more step", poll=0.02)
    return used / (progress(done(), end) - progress(done(), begin)), max(most)


def cost_of_job(task, args, more):
    """Returns the processor's seconds of a step of one worker and its peak memory: trainer, model and data."""
    with cluster(("a",), more) as running:
        running.submit(job(task, 1, 1_000_000, args.reduce))
        return watched(lambda: [*running.nodes["a"].pids("trainer"), *of_model(running, "a")],
                       lambda: completions(running.marks()), args.warmup, args.steps)


class PlainLoop:
    """Runs _plain_loop.py, alone or with `world` processes by torchrun. `events` are the lines that it has written."""

    def __init__(self, folder, task, more, world=1, steps=1_000_000, checkpoint=False):
        self.path = pathlib.Path(folder, "events.jsonl")
        start = [] if world == 1 else ["-m", "torch.distributed.run", f"--nproc-per-node={world}", "--max-restarts=20",
                                       "--monitor-interval=0.1", "--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0"]
        words = [task, str(steps), str(micro_batch(task)), str(MICRO_BATCHES), str(self.path)]
        # Without the variable, a group that starts again may read the addresses of the processes before it.
        self.process = subprocess.Popen(
            [interpreter(), *start, str(HERE / "_plain_loop.py"), *words,
             *([str(self.path.with_name("saved.pt"))] if checkpoint else [])], start_new_session=True,
            env={**os.environ, **environment(more), "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pids = [self.process.pid, *descendants(self.process.pid)]
        end_all(pids, 60)
        self.process.wait()

    def events(self):
        text = self.path.read_text() if self.path.exists() else ""
        return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]

    def done(self):
        """Returns {step: time} of the steps of rank 0, which are those of all."""
        return {event["step"]: event["t"] for event in self.events() if event["rank"] == 0}


def cost_of_plain(task, args, more):
    """Returns the same as cost_of_job for the plain loop."""
    with tempfile.TemporaryDirectory() as folder, PlainLoop(folder, task, more) as loop:
        return watched(lambda: [loop.process.pid, *descendants(loop.process.pid)], loop.done, args.warmup, args.steps)


def median_step(done, warmup):
    times = [t for _, t in sorted(done.items())][warmup:]
    return statistics.median(b - a for a, b in zip(times, times[1:]))


def step_seconds_of_job(task, args):
    """Returns the median seconds of a step of two workers."""
    with cluster(("a", "b")) as running:
        spec = job(task, 2, args.warmup + args.steps, args.reduce)
        spec["spec"]["workers"]["min"] = 2
        running.submit(spec)
        running.await_end("job")
        return median_step(completions(running.marks()), args.warmup)


def step_seconds_of_ddp(task, args):
    with tempfile.TemporaryDirectory() as folder:
        with PlainLoop(folder, task, "", world=2, steps=args.warmup + args.steps) as loop:
            loop.process.wait(600)
            return median_step(loop.done(), args.warmup)
