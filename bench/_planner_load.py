"""The parts of bench/planner.py that go through gRPC: a coordinator on one core, its clients on another."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from _bench_json import HIGHER, LOWER, REPO, program

sys.path.insert(0, str(REPO / "tests" / "harness"))
from cluster import Cluster  # noqa: E402

LOAD, LEASE_LOAD = "rekindle-bench-coordinator-load", "rekindle-bench-lease-load"
HEARTBEATS = {"registrations_per_second": HIGHER, "heartbeats_per_second": HIGHER, "heartbeat_p99_seconds": LOWER,
              "coordinator_memory": LOWER}
RENEWALS = {"renewals_per_core_second": HIGHER, "renewal_p99_seconds": LOWER, "lease_share_of_a_core": LOWER}
RENEWALS_A_SECOND = 1000    # Of 10,000 nodes, each of which has a rank that asks every 10 s.
SUBMITS = {"jobs_placed_per_second": HIGHER, "jobs_taken_per_second": HIGHER, "submit_p99_seconds": LOWER,
           "coordinator_memory_with_jobs": LOWER}


class PinnedCluster(Cluster):
    """A coordinator alone, on the first core."""

    def __init__(self, folder):
        super().__init__(folder, nodes=())

    def spawn(self, command, log, enter=(), env=None):
        return super().spawn(command, log, ["taskset", "-c", "0", *enter], env)


def load(cluster, *arguments, by=LOAD):
    """What the load program printed, a line at a time; it has the other cores."""
    others = ",".join(map(str, range(1, os.cpu_count()))) or "0"
    done = subprocess.run(["taskset", "-c", others, program(by), "--endpoint", cluster.endpoint, *map(str, arguments)],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{by} exited with {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def peak_bytes(cluster):
    lines = pathlib.Path(f"/proc/{cluster.coordinator.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def job(folder):
    text = pathlib.Path(folder) / "text.txt"
    text.write_text("a rank is a process of one job " * 1000)
    path = pathlib.Path(folder) / "job.json"
    path.write_text(json.dumps({"name": "load", "spec": {
        "workers": {"min": 1, "max": 1}, "model": {"kind": "gpt", "layers": 1, "heads": 1, "width": 16, "context": 16},
        "data": {"text": [str(text)]}, "training": {"steps": 1000, "global_batch": 32, "micro_batch": 4}}}))
    return path


def heartbeats(report, nodes, seconds):
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder, PinnedCluster(folder) as cluster:
        cluster.start()
        registered, beats = load(cluster, "heartbeats", "--nodes", nodes, "--seconds", seconds)
        report.add("registrations_per_second", registered["calls"] / registered["seconds"], "1/s")
        report.add("heartbeats_per_second", beats["calls"] / beats["seconds"], "1/s", target=10_000)
        report.add("heartbeat_p99_seconds", beats["p99_seconds"], "s")
        report.add("coordinator_memory", peak_bytes(cluster) / 1e6, "MB", target=1000)


def submits(report, jobs):
    """From the first submit until every job has a trainer on some node: planned and placed, and the nodes know it."""
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder, PinnedCluster(folder) as cluster:
        cluster.start()
        _, taken, placed = load(cluster, "submits", "--job", job(folder), "--jobs", jobs, "--nodes", 1000, "--slots",
                                -(-jobs // 1000))
        report.add("jobs_placed_per_second", jobs / placed["seconds"], "1/s", target=500)
        report.add("jobs_taken_per_second", jobs / taken["seconds"], "1/s")
        report.add("submit_p99_seconds", taken["p99_seconds"], "s")
        report.add("coordinator_memory_with_jobs", peak_bytes(cluster) / 1e6, "MB", target=1000)


def renewals(report, jobs, seconds):
    """What it costs to answer ranks that ask whether their generation stands."""
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder, PinnedCluster(folder) as cluster:
        cluster.start()
        started, asked, answers = load(cluster, "--job", job(folder), "--jobs", jobs, "--seconds", seconds, by=LEASE_LOAD)
        if started["jobs"] < jobs or answers["stood"] < asked["calls"]:
            sys.exit(f"error: {answers['stood']} of {asked['calls']} answers said that a generation stands")
        # All its threads share one core, so this is the least that a second of a core answers.
        a_core_second = asked["calls"] / asked["seconds"]
        report.add("renewals_per_core_second", a_core_second, "1/s")
        report.add("renewal_p99_seconds", asked["p99_seconds"], "s")
        report.add("lease_share_of_a_core", RENEWALS_A_SECOND / a_core_second, "of one", target=0.1)
