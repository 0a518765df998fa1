"""Measures the seconds from the death of all trainers to the next step of a GPT, from each tier of state.

The GPT has 124 million parameters, a context of 16 bytes and two sequences a step, so the bench measures how 1.5 GB of
state move, not the arithmetic. One node has one trainer. Peers' memory is measured with two nodes: node a's service has
lost all it held, and its trainer takes everything from node b's.
"""
import itertools
import re
import sys
import time

import servers
from _bench_json import LOWER
from _options import run_all
from cluster import Cluster
from live_processes import kill
from step import write_data
from waiting import wait_until

JOB = "tiers"
# `EVERY` is the interval of checkpoints. Its steps leave enough time to copy one checkpoint to a peer before the next
# one.
EVERY = {"every_steps": 24}
SMALL_EVERY = {"every_steps": 60}
# `LATER` steps after a checkpoint was saved, its copies are already on their way to a peer.
LATER, SMALL_LATER = 2, 20
PATIENCE = 180
MODEL = {"kind": "gpt", "layers": 12, "heads": 8, "width": 928, "context": 16}
# `SMALL` is the model of a run with --smoke.
SMALL = {"kind": "gpt", "layers": 1, "heads": 1, "width": 128, "context": 64}
STAGES = {"ready": "ready", "restored": "restored", "step": "next_step"}


def metrics(tier):
    return {f"resume_from_{tier}_{stage}": LOWER for stage in STAGES.values()}


TIERS = {name: better for tier in ("memory", "file_store", "peer", "s3") for name, better in metrics(tier).items()}


def job(args, data, workers):
    return {"name": JOB, "spec": {
        "seed": 1, "workers": {"min": workers, "max": workers, "threads_per_rank": 1},
        "model": SMALL if args.smoke else MODEL,
        "data": {"text": [str(data)], "validation_fraction": 0.05},
        "training": {"steps": 100_000, "global_batch": 2, "micro_batch": 1, "reduce": "fp32"},
        "optimizer": {"kind": "adamw", "learning_rate": 1e-4}, "schedule": {"kind": "constant"},
        "checkpoint": {**(SMALL_EVERY if args.smoke else EVERY), "keep_last": 1}}}


def steps_done(cluster):
    return max((m["step"] for m in cluster.marks() if m["event"] == "step"), default=0)


def await_checkpoint(args, cluster):
    """Waits until one more checkpoint is durable and its copies are at a peer."""
    before = cluster.status(JOB)["checkpoint_step"]
    wait_until(lambda: cluster.status(JOB)["checkpoint_step"] > max(before, 0), PATIENCE, "a checkpoint", poll=0.1)
    enough = steps_done(cluster) + (SMALL_LATER if args.smoke else LATER)
    wait_until(lambda: steps_done(cluster) >= enough, PATIENCE, "steps after it", poll=0.05)
    wait_until(lambda: not any(node.checkpoint_metric("rekindle_checkpoint_copies_waiting")
                               for node in cluster.nodes.values()), PATIENCE, "copies at a peer", poll=0.05)


def told_by_a(cluster):
    """Returns the texts in which node a's trainers reported their restores."""
    texts = [e["text"] for e in cluster.events(JOB)["events"] if e["kind"] == "checkpoint_restored"]
    return [text.split(": ", 1)[1] for text in texts if text.startswith("a/")]


def resume(args, cluster, source, lose):
    """Returns the seconds from `lose`, which kills all trainers, to each stage of the recovery."""
    await_checkpoint(args, cluster)
    known = len(told_by_a(cluster))
    dead = time.monotonic()
    lose()

    def last(event, after):
        """Returns the time at which the last node reported `event`, or None if not all nodes have reported it yet."""
        marks = itertools.takewhile(lambda m: m["t"] > after, reversed(cluster.marks()))
        seen = {m["trainer"]: m["t"] for m in marks if m["event"] == event}
        return max(seen.values()) if len(seen) == len(cluster.nodes) else None
    restored = wait_until(lambda: last("restored", dead), PATIENCE, "a restore", poll=0.01)
    step = wait_until(lambda: last("step", restored), PATIENCE, "the next step", poll=0.01)
    wait_until(lambda: len(told_by_a(cluster)) > known, PATIENCE, "the event of the restore", poll=0.1)
    told = told_by_a(cluster)[-1]
    # A run with --smoke kills a node's service so early that the new service may not know its peers yet. The state then
    # comes from another source.
    if not re.fullmatch(r"\d+ bytes from " + source, told) and "--smoke" not in sys.argv:
        raise RuntimeError(f"the state was to come back from {source}, and came: {told}")
    row = {"ready": last("ready", dead) - dead, "restored": restored - dead, "step": step - dead}
    print(source, {k: round(v, 2) for k, v in row.items()}, file=sys.stderr, flush=True)
    return row


def lose_trainers(cluster, services=""):
    """Kills all trainers at once, and the checkpoint services of the named nodes with all that their memory holds."""
    # The processes are looked up before any is killed. Else the first node's trainer could be back, with the state from
    # a peer, before the last one is dead, and nobody would restore anything.
    kill([pid for node in cluster.nodes.values() for pid in node.pids("trainer")])
    for name in services:
        node = cluster.nodes[name]
        node.kill_checkpoint()
        node.start_checkpoint()


def run(args, folder, data, nodes, rows, store="", env=None):
    """Kills all trainers for each row (name, source, services) and yields (name, seconds to each recovery stage).

    The checkpoint services of the nodes `services` are killed, too. `source` names from where the new trainer of node a
    has to take the state."""
    with Cluster(folder, nodes=nodes, env=env, checkpoint_flags=["--metrics", "127.0.0.1:0"],
                 nice=19 if args.smoke else 0) as cluster:
        cluster.start()
        spec = job(args, data, len(nodes))
        spec["spec"]["checkpoint"]["store"] = store
        cluster.submit(spec)
        for name, source, services in rows:
            yield name, resume(args, cluster, source, lambda: lose_trainers(cluster, services))


def tiers(report, args, folder, started):
    data = folder / "data.txt"
    write_data(data)
    rows = {}

    def collect(name, *run_args):
        try:
            rows.update(run(args, folder / name, data, *run_args))
        except (RuntimeError, TimeoutError) as why:
            report.fail(why)

    def bucket():
        try:
            with started.running_in(folder / "server", servers.S3) as server:
                collect("bucket", "a", [("s3", "store", "a")], server.uri("tiers"), server.env)
        except servers.Missing as why:
            report.leave_out(metrics("s3"), str(why))
    run_all(args, [lambda: collect("one", "a", [("memory", "memory", ""), ("file_store", "store", "a")]),
                   lambda: collect("two", "ab", [("peer", "peers' memory", "a")]), bucket])
    for tier, row in rows.items():
        for stage, name in STAGES.items():
            report.add(f"resume_from_{tier}_{name}", row[stage], "s from the death of all trainers")
