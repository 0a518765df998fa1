"""Plays two hours of a public spot trace to real processes, 20 times as fast, and measures what the job loses.

It also measures what share of the machines' time is useful."""
import collections
import pathlib
import statistics
import sys
import tempfile
import time

import _traces
from _bench_json import HIGHER, LOWER, NEITHER, Report
from _options import Options, run_all
from cluster import Cluster
from fleet import FleetCluster, Meter, local_pool
from step import write_data
from timelines import completions
from waiting import wait_until

# A row of the trace covers `TICK` seconds.
TRACE, TICK = "preempt_v100_4node_aws_2023-08-03.csv", 300
WINDOW, WORKERS = 7200, 4
# `NOTICE` is in seconds of the trace. Like all times of the trace, it is divided by the speed of the replay.
NOTICE = 120.0
PRICE = 0.92
METRICS = {"digest_equal": HIGHER, "steps_lost_while_a_replica_lived": LOWER, "goodput": HIGHER,
           "steps_redone_in_all": LOWER, "losses_without_notice": NEITHER, "paid_node_seconds": NEITHER}


def changes_of(rows):
    """Returns [(seconds, zone, nodes)] where a row differs from the one before."""
    return [(i * TICK, zone, now[zone]) for i, (then, now) in enumerate(zip(rows, rows[1:]), 1)
            for zone in now if now[zone] != then[zone]]


def window(args, traces):
    """Returns (nodes at first by zone, changes) of one stretch of the trace.

    It has the most changes of all stretches that begin with a machine and do not change too often."""
    lines = [line.split(",") for line in (traces / TRACE).read_text().split()]
    zones = lines[0][1:]
    rows = [dict(zip(zones, map(int, line[1:]))) for line in lines[1:] if all(line)]
    count, most = WINDOW // TICK, WINDOW / args.speed / args.least_gap
    best = None
    for first in range(len(rows) - count):
        found = changes_of(rows[first:first + count])
        if any(rows[first].values()) and len(found) <= most and (best is None or len(found) > len(best[1])):
            best = rows[first], found
    return best


def job(args, data):
    return {"name": "replay", "spec": {
        "seed": 1, "workers": {"min": 1, "max": WORKERS, "threads_per_rank": 1},
        "model": {"kind": "gpt", "layers": 2, "heads": 2, "width": args.width, "context": 128},
        "data": {"text": [str(data)], "validation_fraction": 0.05},
        "training": {"steps": args.steps, "global_batch": 48, "micro_batch": 2, "reduce": "exact", "clip_norm": 1.0},
        "optimizer": {"kind": "adamw", "learning_rate": 1e-3}, "schedule": {"kind": "constant"},
        "checkpoint": {"every_seconds": 10}}}


def await_end(cluster):
    def ended():
        status = cluster.status("replay")
        return status if status["state"] in ("SUCCEEDED", "FAILED") else None
    return wait_until(ended, 1200, "the job to end", poll=0.5)


def undisturbed(args, data):
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder, Cluster(folder, nodes=("a", "b")) as cluster:
        cluster.start()
        cluster.submit(job(args, data))
        return await_end(cluster)["state_digest"]


def useful_seconds(marks, begin, end):
    """Returns the node-seconds that were spent on completed steps.

    A step's time may contain an interruption, so it counts for at most twice the median with as many workers."""
    world = {m["step"]: m["world"] for m in marks if m["event"] == "step"}
    done = sorted((t, step) for step, t in completions(marks).items() if begin <= t <= end)
    took = [(t - before, world[step]) for (before, _), (t, step) in zip(done, done[1:])]
    by_world = collections.defaultdict(list)
    for seconds, workers in took:
        by_world[workers].append(seconds)
    middle = {workers: statistics.median(all_of) for workers, all_of in by_world.items()}
    return sum(min(seconds, 2 * middle[workers]) * workers for seconds, workers in took)


def play(args, data, first, changes):
    """Plays the changes of the spot market on a cluster that trains one job.

    Returns (job's status, marks of the timelines, (begin, end), paid node-seconds, losses without notice)."""
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder:
        pools = [local_pool(zone, PRICE, nodes, most=WORKERS) for zone, nodes in first.items()]
        with FleetCluster(folder, pools) as cluster:
            cluster.start()
            cluster.submit(job(args, data))
            wait_until(lambda: completions(cluster.marks()), 60, "the first step", poll=0.1)
            with Meter(cluster) as meter:
                begin, silent, losses = time.monotonic(), 0, 0
                for seconds, zone, nodes in changes:
                    # Each change is made at its time in the trace. Slow commands do not delay the later changes.
                    time.sleep(max(0.0, begin + seconds / args.speed - time.monotonic()))
                    losses += nodes < first[zone]
                    notice = NOTICE / args.speed if losses % 2 else 0.0
                    silent += nodes < first[zone] and not notice
                    first = {**first, zone: nodes}
                    cluster.market(zone, nodes, notice)
                    print(f"{seconds / args.speed:.0f} s: {zone} lets {nodes} run, "
                          f"step {cluster.status('replay')['step']}", file=sys.stderr)
                time.sleep(max(0.0, begin + WINDOW / args.speed - time.monotonic()))
                end = time.monotonic()
            for zone in first:
                cluster.market(zone, WORKERS)
            status = await_end(cluster)
            for event in cluster.events("replay")["events"]:
                print(event["kind"], event["text"], file=sys.stderr)
            return status, cluster.marks(), (begin, end), meter.node_seconds(begin, end), silent


def main():
    p = Options("replay", __doc__)
    p.size("steps", 1500, smoke=36)
    p.size("width", 128, smoke=16, text="of the model")
    p.size("speed", 20, smoke=4800, text="of the trace's clock")
    p.size("least-gap", 15.0, smoke=0.5, text="seconds between changes, on average, as played")
    args = p.parse()
    report = Report("replay", METRICS, args)
    traces = _traces.folder(args)
    if traces is None or not (traces / TRACE).exists():
        return report.skip(_traces.MISSING)
    first, changes = window(args, traces)
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data.txt"
        write_data(data)
        (status, marks, (begin, end), paid, silent), expected = run_all(
            args, (lambda: play(args, data, first, changes), lambda: undisturbed(args, data)))
    lost = sum(f["steps_redone"] for f in status["faults"] if f["kind"] != "all_killed")
    report.result["changes"] = len(changes)
    report.add("digest_equal", float(status["state_digest"] == expected), "yes or no", target=1)
    report.add("steps_lost_while_a_replica_lived", lost, "steps", target=0)
    report.add("goodput", useful_seconds(marks, begin, end) / paid, "ratio", target=0.9)
    report.add("steps_redone_in_all", status["steps_redone"], "steps")
    report.add("losses_without_notice", silent, "machines' losses")
    report.add("paid_node_seconds", paid, "s")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
