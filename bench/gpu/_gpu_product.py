"""Measures the whole product on one GPU: three trainers share it, and some of them are killed or frozen."""
import contextlib
import json
import pathlib
import signal
import statistics
import tempfile
import time

from _bench_json import HIGHER, LOWER
from cluster import Cluster
from jobs import small_job, text_file
from live_processes import kill, processes
from timelines import completions
from waiting import wait_until

# `ROWS` has the direction and the unit of each figure.
ROWS = {
    "kill_to_next_step": (LOWER, "s"),
    "kills_survived": (HIGHER, "kills"),
    "steps_redone_after_kills": (LOWER, "steps"),
    "freeze_to_next_step": (LOWER, "s"),
    "exchanged_by_nccl": (HIGHER, "share of looks"),
    "digests_equal": (HIGHER, "jobs"),
}
NODE, TRAINERS = "gpu", 3
# Ranks notice a peer that does nothing after `DEADLINE_SECONDS`. A kill or a freeze may cost a second more than a step.
DEADLINE_SECONDS, MOST_SECONDS = 2, 1
WAIT_SECONDS = 120


class Product:
    """Runs a job of three trainers on one node, whose GPU they share."""

    def __init__(self, folder, device, steps, model):
        self.folder, self.steps, self.model = pathlib.Path(folder), steps, model
        self.text = text_file(folder)
        # `by_nccl` says of each moment at which the job was looked at whether its ranks exchanged by NCCL.
        self.by_nccl = []
        flags = ["--gpu-share", str(TRAINERS)]
        environment = {} if device == "fake" else {"NCCL_MULTI_RANK_GPU_ENABLE": "1", "NCCL_MAX_CTAS": "1"}
        self.options = {"nodes": (NODE,), "worker_flags": {NODE: flags}, "worker_env": {NODE: environment}}
        if device == "fake":
            self.options["device"] = device

    @contextlib.contextmanager
    def running(self, name):
        spec = small_job(name, self.text, steps=self.steps, workers=TRAINERS)
        spec["spec"]["model"].update(self.model)
        with Cluster(self.folder / name, **self.options) as cluster:
            cluster.start()
            cluster.submit(spec)
            yield cluster

    def digest(self, cluster, name):
        status = cluster.await_end(name, WAIT_SECONDS)
        if status["state"] != "SUCCEEDED":
            raise RuntimeError(f"job {name} is {status['state']}: {status['reason']}")
        return status["state_digest"]

    def await_members(self, cluster, name):
        """Waits until several trainers step together. Returns the seconds of a step of theirs."""
        def stepping():
            members = len(cluster.status(name).get("members", []))
            done = sorted(completions(cluster.marks()).values())[-6:]
            return members > 1 and len(done) == 6 and [b - a for a, b in zip(done, done[1:])]
        normal = statistics.median(wait_until(stepping, WAIT_SECONDS, "several trainers to step", poll=0.05))
        self.by_nccl.append(cluster.status(name).get("exchange") == "by NCCL")
        return normal

    def hurt(self, cluster, name, sig):
        """Sends a signal to one member. Returns the seconds until the others have made a step, and those of a step."""
        normal = self.await_members(cluster, name)
        members = [member["trainer"] for member in cluster.status(name)["members"]]
        pids = [pid for pid, _ in processes(members[-1])]
        before = max(completions(cluster.marks()))
        start = time.monotonic()
        kill(pids, sig)
        def next_step():
            return [t for step, t in completions(cluster.marks()).items() if step > before + 1 and t > start]
        seconds = min(wait_until(next_step, WAIT_SECONDS, "the next step")) - start
        if sig == signal.SIGSTOP:
            kill(pids)
        return seconds, normal


def show(name, value, target=None):
    """Prints a row. A row that is shown again replaces the one before, and none is lost if this process is ended."""
    print(json.dumps({"row": name, "value": value, "target": target}), flush=True)


def measure(device, kills):
    """Shows the rows of a job without faults, and of one whose members are killed and frozen."""
    small = device == "fake"
    model = {} if small else {"layers": 6, "heads": 8, "width": 512, "context": 256}
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder:
        product = Product(folder, device, 150 if small else 3000, model)
        with product.running("undisturbed") as cluster:
            digests = [product.digest(cluster, "undisturbed")]
        with product.running("killed") as cluster:
            hurt = []
            for _ in range(kills):
                hurt.append(product.hurt(cluster, "killed", signal.SIGKILL))
                show("kill_to_next_step", statistics.median(seconds for seconds, _ in hurt),
                     statistics.median(step for _, step in hurt) + MOST_SECONDS)
                show("kills_survived", len(hurt), kills)
            freeze, normal = product.hurt(cluster, "killed", signal.SIGSTOP)
            show("freeze_to_next_step", freeze, normal + DEADLINE_SECONDS + MOST_SECONDS)
            show("exchanged_by_nccl", statistics.mean(product.by_nccl))
            digests.append(product.digest(cluster, "killed"))
            show("steps_redone_after_kills", cluster.status("killed")["steps_redone"], 0)
            show("digests_equal", digests.count(digests[0]), 2)


def main(device, kills):
    """Runs in a process of its own, which gpu.py can end. Returns its exit code."""
    try:
        measure(device, kills)
    except (RuntimeError, TimeoutError) as error:
        print(json.dumps({"broken": str(error)}), flush=True)
        return 1
    return 0
