"""Measures seconds from a trainer's start as a process until it is ready, beside a Python peer's `import torch`."""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from _bench_json import LOWER, Report
from _options import Options
from cluster import Cluster
from waiting import wait_until

TARGET_SECONDS = 1.5
METRICS = {"start_seconds": LOWER}


def job(data):
    """Returns a job with the model of `scripts/bench step`."""
    return {"name": "start", "spec": {
        "workers": {"min": 1, "max": 1},
        "model": {"kind": "gpt", "layers": 4, "heads": 4, "width": 128, "context": 128},
        "data": {"text": [str(data)]}, "training": {"steps": 1_000_000, "global_batch": 16, "micro_batch": 4},
        "checkpoint": {"every_steps": 0}}}


def born(pid):
    """Returns the time at which the process began, on the clock of the timelines.

    The two clocks differ only while a machine sleeps, which a machine that runs benches does not do."""
    ticks = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19])
    since_boot = time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)
    return ticks / os.sysconf("SC_CLK_TCK") - since_boot


def ours(folder, rounds):
    """Returns each trainer's seconds until it is ready, without those of the first, whose start fills the page cache.

    A trainer is killed once it has made a step, and then the next one starts."""
    data = pathlib.Path(folder) / "text.txt"
    data.write_bytes(pathlib.Path(sys.executable).read_bytes()[:4 << 20])
    seconds, seen = [], set()
    with Cluster(pathlib.Path(folder) / "cluster", nodes=("a",)) as cluster:
        cluster.start()
        cluster.submit(job(data))

        def ready():
            return next((m for m in cluster.marks() if m["event"] == "ready" and m["pid"] not in seen), None)
        for _ in range(rounds + 1):
            mark = wait_until(ready, 120, "a trainer to be ready")
            seen.add(mark["pid"])
            seconds.append(mark["t"] - born(mark["pid"]))
            # The coordinator has to hear of a step before the trainer is killed. Otherwise it would count the start as
            # failed.
            wait_until(lambda: any(m["event"] == "step" and m["pid"] == mark["pid"] for m in cluster.marks()), 60,
                       "a step")
            wait_until(lambda: cluster.status("start")["step"] > 0, 60, "the coordinator to hear of a step", poll=0.1)
            cluster.nodes["a"].kill_trainers()
    return seconds[1:]


def import_torch():
    begin = time.monotonic()
    subprocess.run([sys.executable, "-c", "import torch"], check=True)
    return time.monotonic() - begin


def main():
    p = Options("start", __doc__)
    p.size("rounds", 5, smoke=1, turn=3)
    args = p.parse()
    report, peer = Report("start", METRICS, args), None
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder:
        if args.peers:
            import_torch()
            peer = statistics.median(import_torch() for _ in range(args.rounds))
        seconds = ours(folder, args.rounds)
    print("ready after", seconds, "import torch", peer, file=sys.stderr)
    report.add("start_seconds", statistics.median(seconds), "s", target=TARGET_SECONDS, peer=peer)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
