"""Measures the parts of planner.py that go through gRPC: a coordinator on one core, its clients on the others."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from _bench_json import HIGHER, LOWER, program
from cluster import Cluster

LOAD, LEASE_LOAD = "rekindle-bench-coordinator-load", "rekindle-bench-lease-load"
HEARTBEATS = {"registrations_per_second": HIGHER, "heartbeats_per_second": HIGHER, "heartbeat_p99_seconds": LOWER,
              "coordinator_memory": LOWER}
RENEWALS = {"renewals_per_core_second": HIGHER, "renewal_p99_seconds": LOWER, "lease_share_of_a_core": LOWER}
# With 10,000 nodes whose ranks each ask every 10 s, a coordinator gets `RENEWALS_A_SECOND` renewals a second.
RENEWALS_A_SECOND = 1000
SUBMITS = {"jobs_placed_per_second": HIGHER, "jobs_taken_per_second": HIGHER, "submit_p99_seconds": LOWER,
           "coordinator_memory_with_jobs": LOWER}
LISTS = {"list_jobs_seconds": LOWER, "list_jobs_memory": LOWER, "list_nodes_seconds": LOWER, "list_nodes_memory": LOWER,
         "coordinator_growth": LOWER}


class PinnedCluster(Cluster):
    """Runs a coordinator without nodes, pinned to the first core."""

    def __init__(self, folder):
        super().__init__(folder, nodes=())

    def spawn(self, command, log, enter=(), env=None):
        return super().spawn(command, log, ["taskset", "-c", "0", *enter], env)


def load(cluster, *arguments, by=LOAD):
    """Runs the load program on all cores but the coordinator's. Returns the lines that it printed, parsed from JSON."""
    others = ",".join(map(str, range(1, os.cpu_count()))) or "0"
    done = subprocess.run(["taskset", "-c", others, program(by), "--endpoint", cluster.endpoint, *map(str, arguments)],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{by} exited with {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def coordinator_bytes(cluster, field="VmHWM"):
    lines = pathlib.Path(f"/proc/{cluster.coordinator.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


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
        report.add("coordinator_memory", coordinator_bytes(cluster) / 1e6, "MB", target=1000)


def submits(report, jobs):
    """Measures from the first submit until every job has a trainer on some node."""
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder, PinnedCluster(folder) as cluster:
        cluster.start()
        _, taken, placed = load(cluster, "submits", "--job", job(folder), "--jobs", jobs, "--nodes", 1000, "--slots",
                                -(-jobs // 1000))
        report.add("jobs_placed_per_second", jobs / placed["seconds"], "1/s", target=500)
        report.add("jobs_taken_per_second", jobs / taken["seconds"], "1/s")
        report.add("submit_p99_seconds", taken["p99_seconds"], "s")
        report.add("coordinator_memory_with_jobs", coordinator_bytes(cluster) / 1e6, "MB", target=1000)


def renewals(report, jobs, seconds):
    """Measures what it costs to answer RenewLease, with which a rank asks whether its generation is still valid."""
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder, PinnedCluster(folder) as cluster:
        cluster.start()
        started, asked, answers = load(cluster, "--job", job(folder), "--jobs", jobs, "--seconds", seconds,
                                       by=LEASE_LOAD)
        if started["jobs"] < jobs or answers["stood"] < asked["calls"]:
            sys.exit(f"error: {answers['stood']} of {asked['calls']} answers said that a generation stands")
        # The coordinator's other threads use the same core. So a core that did nothing but answer RenewLease calls
        # could answer at least as many a second as are measured.
        a_core_second = asked["calls"] / asked["seconds"]
        report.add("renewals_per_core_second", a_core_second, "1/s")
        report.add("renewal_p99_seconds", asked["p99_seconds"], "s")
        report.add("lease_share_of_a_core", RENEWALS_A_SECOND / a_core_second, "of one", target=0.1)


def listed(cluster, verb, rows):
    """Runs `rekindle VERB`, which must print `rows` lines below its heading.

    Returns its seconds and the peak of its memory in bytes."""
    with tempfile.TemporaryFile("w+") as out:
        begun = time.monotonic()
        process = subprocess.Popen([program("rekindle"), verb, "--endpoint", cluster.endpoint], stdout=out)
        # The kernel begins the peak memory of a child with that of its parent, so the peak may be too high but never
        # too low.
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        printed = len(out.readlines()) - 1
    if process.returncode != 0 or printed != rows:
        sys.exit(f"error: `rekindle {verb}` ended with {process.returncode} and printed {printed} of {rows} rows")
    return seconds, used.ru_maxrss * 1024


def lists(report, jobs, nodes, times):
    """Measures what it costs to print all jobs, and all nodes, of coordinators that have nothing else to do."""
    growth = 0
    for verb, rows in (("jobs", jobs), ("nodes", nodes)):
        with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder, PinnedCluster(folder) as cluster:
            cluster.start()
            if verb == "jobs":
                load(cluster, "submits", "--job", job(folder), "--jobs", jobs, "--nodes", 0)
            else:
                load(cluster, "heartbeats", "--nodes", nodes, "--seconds", 0.1)
            before = coordinator_bytes(cluster, "VmRSS")
            runs = [listed(cluster, verb, rows) for _ in range(times)]
            growth += coordinator_bytes(cluster, "VmRSS") - before
        report.add(f"list_{verb}_seconds", statistics.median(seconds for seconds, _ in runs), "s", target=1)
        report.add(f"list_{verb}_memory", max(peak for _, peak in runs) / 1e6, "MB", target=100)
    report.add("coordinator_growth", growth / 1e6, "MB", target=50)
