"""Seconds from "all trainers dead" to the next step of a GPT of 124 million parameters, from each tier of state.

A context of 16 bytes and two sequences a step: what is measured is the way of 1.5 GB of state, not the arithmetic. One
node with one trainer; two for peers' memory, where node a's service has lost all it held, and its trainer takes
everything from node b's.
"""
import re
import sys
import time

from _bench_json import REPO

sys.path.insert(0, str(REPO / "tests" / "harness"))
import servers  # noqa: E402
from cluster import Cluster, kill, wait_until  # noqa: E402
from step import write_data  # noqa: E402

JOB = "tiers"
EVERY = 24   # Steps: in between, the copies for a peer are made.
PATIENCE = 180


def job(data, workers):
    return {"name": JOB, "spec": {
        "seed": 1, "workers": {"min": workers, "max": workers, "threads_per_rank": 1},
        "model": {"kind": "gpt", "layers": 12, "heads": 8, "width": 928, "context": 16},
        "data": {"text": [str(data)], "validation_fraction": 0.05},
        "training": {"steps": 100_000, "global_batch": 2, "micro_batch": 1, "reduce": "fp32"},
        "optimizer": {"kind": "adamw", "learning_rate": 1e-4}, "schedule": {"kind": "constant"},
        "checkpoint": {"every_steps": EVERY, "keep_last": 1}}}


def steps_done(cluster):
    return max((m["step"] for m in cluster.marks() if m["event"] == "step"), default=0)


def await_checkpoint(cluster):
    """Until one more is durable, and its copies are at a peer."""
    before = cluster.status(JOB)["checkpoint_step"]
    wait_until(lambda: cluster.status(JOB)["checkpoint_step"] > max(before, 0), PATIENCE, "a checkpoint", poll=0.1)
    done = steps_done(cluster)
    wait_until(lambda: steps_done(cluster) >= done + 2, PATIENCE, "two steps", poll=0.05)
    wait_until(lambda: not any(node.checkpoint_metric("rekindle_checkpoint_copies_waiting")
                               for node in cluster.nodes.values()), PATIENCE, "copies at a peer", poll=0.05)


def told_by_a(cluster):
    """What node a's trainers told of their restores."""
    texts = [e["text"] for e in cluster.events(JOB)["events"] if e["kind"] == "checkpoint_restored"]
    return [text.split(": ", 1)[1] for text in texts if text.startswith("a/")]


def resume(cluster, source, lose):
    """The seconds until each stage of what follows `lose`, which kills all trainers."""
    await_checkpoint(cluster)
    known = len(told_by_a(cluster))
    dead = time.monotonic()
    lose()

    def last(event, after):
        """When the last node was there."""
        seen = {m["trainer"]: m["t"] for m in reversed(cluster.marks()) if m["event"] == event and m["t"] > after}
        return max(seen.values()) if len(seen) == len(cluster.nodes) else None
    restored = wait_until(lambda: last("restored", dead), PATIENCE, "a restore", poll=0.01)
    step = wait_until(lambda: last("step", restored), PATIENCE, "the next step", poll=0.01)
    wait_until(lambda: len(told_by_a(cluster)) > known, PATIENCE, "the event of the restore", poll=0.1)
    told = told_by_a(cluster)[-1]
    if not re.fullmatch(r"\d+ bytes from " + source, told):
        raise RuntimeError(f"the state was to come back from {source}, and came: {told}")
    row = {"ready": last("ready", dead) - dead, "restored": restored - dead, "step": step - dead}
    print(source, {k: round(v, 2) for k, v in row.items()}, file=sys.stderr, flush=True)
    return row


def lose_trainers(cluster, services=""):
    """All at once, with the memory of these nodes' checkpoint services."""
    for node in cluster.nodes.values():
        node.kill_trainers()
    for name in services:
        node = cluster.nodes[name]
        kill(node.pids("checkpoint"))
        wait_until(lambda: not node.pids("checkpoint"), 10, "a checkpoint service to end")
        node.start_checkpoint()


def run(folder, data, nodes, rows, store="", env=None):
    """`rows`: of each name, from where node a's trainer takes the state once these nodes' services died too."""
    with Cluster(folder, nodes=nodes, env=env, checkpoint_flags=["--metrics", "127.0.0.1:0"]) as cluster:
        cluster.start()
        spec = job(data, len(nodes))
        spec["spec"]["checkpoint"]["store"] = store
        cluster.submit(spec)
        for name, source, services in rows:
            yield name, resume(cluster, source, lambda: lose_trainers(cluster, services))


def tiers(report, folder):
    folder.mkdir()
    data = folder / "data.txt"
    write_data(data)
    rows = {}

    def collect(*run_args):
        try:
            rows.update(run(*run_args))
        except (RuntimeError, TimeoutError) as why:
            report.fail(why)
    collect(folder / "one", data, "a", [("memory", "memory", ""), ("file_store", "store", "a")])
    collect(folder / "two", data, "ab", [("peer", "peers' memory", "a")])
    try:
        with servers.S3(folder / "server") as server:
            collect(folder / "bucket", data, "a", [("s3", "store", "a")], server.uri("tiers"), server.env)
    except servers.Missing as why:
        print(f"no S3 server, left out: {why}", file=sys.stderr)
    for tier, row in rows.items():
        report.add(f"resume_from_{tier}_ready", row["ready"], "s from the death of all trainers")
        report.add(f"resume_from_{tier}_restored", row["restored"], "s from the death of all trainers")
        report.add(f"resume_from_{tier}_next_step", row["step"], "s from the death of all trainers")
