"""Seconds from "all trainers dead" to the next step of a GPT of 124 million parameters, from each tier of state.

A context of 16 bytes and one sequence a step: what is measured is the way of 1.5 GB of state, not the arithmetic.
"""
import contextlib
import pathlib
import re
import sys
import time

from _bench_json import REPO

sys.path.insert(0, str(REPO / "tests" / "harness"))
import servers  # noqa: E402
from cluster import Cluster, kill, wait_until  # noqa: E402
from step import write_data  # noqa: E402

JOB = "tiers"
EVERY = 4   # Steps.
PATIENCE = 180


def job(data):
    return {"name": JOB, "spec": {
        "seed": 1, "workers": {"min": 1, "max": 1, "threads_per_rank": 2},
        "model": {"kind": "gpt", "layers": 12, "heads": 8, "width": 928, "context": 16},
        "data": {"text": [str(data)], "validation_fraction": 0.05},
        "training": {"steps": 100_000, "global_batch": 1, "micro_batch": 1, "reduce": "fp32"},
        "optimizer": {"kind": "adamw", "learning_rate": 1e-4}, "schedule": {"kind": "constant"},
        "checkpoint": {"every_steps": EVERY, "keep_last": 1}}}


def await_checkpoints(cluster, more):
    """Until `more` checkpoints were made durable from now on: their copies have reached a peer by then, but for the last."""
    status = cluster.status(JOB)
    begin = status["checkpoint_step"]
    wait_until(lambda: cluster.status(JOB)["checkpoint_step"] >= begin + more * EVERY, PATIENCE, "checkpoints", poll=0.1)


def sources(cluster):
    return [e["text"] for e in cluster.events(JOB)["events"] if e["kind"] == "checkpoint_restored"]


def resume(cluster, tier, prepare):
    """Kills everything that `prepare` kills, with all trainers; the seconds until each stage of what follows."""
    await_checkpoints(cluster, 2)
    known = len(sources(cluster))
    dead = time.monotonic()
    prepare()
    def first(event):
        return next((m["t"] for m in cluster.marks() if m["event"] == event and m["t"] > dead), None)
    step = wait_until(lambda: first("restored") and first("step"), PATIENCE, "the next step", poll=0.01)
    wait_until(lambda: len(sources(cluster)) > known, PATIENCE, "the event of the restore", poll=0.1)
    told = sources(cluster)[-1].split(": ", 1)[1]
    if not re.fullmatch(r"\d+ bytes from " + tier, told):
        sys.exit(f"error: the state was to come back from {tier}, and came: {told}")
    row = {"ready": first("ready") - dead, "restored": first("restored") - dead, "step": step - dead}
    print(tier, {k: round(v, 2) for k, v in row.items()}, file=sys.stderr, flush=True)
    return row


def from_this_machine(folder, data):
    """Memory, a peer's memory, and the file store, in turn: node b is drained, so only its checkpoint service is of use."""
    with Cluster(folder, nodes=("a", "b")) as cluster:
        cluster.start()
        cluster.cli("drain", "b")
        cluster.submit(job(data))
        a, b = cluster.nodes["a"], cluster.nodes["b"]
        wait_until(lambda: cluster.status(JOB)["checkpoint_step"] > 0, PATIENCE, "the first checkpoint", poll=0.1)

        def lose_memory_of(*nodes):
            a.kill_trainers()
            for node in nodes:
                kill(node.pids("checkpoint"))
                wait_until(lambda: not node.pids("checkpoint"), 10, "a checkpoint service to end")
                node.start_checkpoint()

        yield "memory", resume(cluster, "memory", lose_memory_of)
        yield "peer", resume(cluster, "peers' memory", lambda: lose_memory_of(a))
        yield "file_store", resume(cluster, "store", lambda: lose_memory_of(a, b))


def from_bucket(folder, data):
    with servers.S3(folder / "server") as server:
        with Cluster(folder / "cluster", nodes=("a",), env=server.env) as cluster:
            cluster.start()
            spec = job(data)
            spec["spec"]["checkpoint"]["store"] = server.uri("tiers")
            cluster.submit(spec)
            node = cluster.nodes["a"]

            def lose_node():
                node.kill()
                node.start()

            wait_until(lambda: cluster.status(JOB)["checkpoint_step"] > 0, PATIENCE, "the first checkpoint", poll=0.1)
            yield "s3", resume(cluster, "store", lose_node)


def tiers(report, folder):
    folder.mkdir()
    data = pathlib.Path(folder) / "data.txt"
    write_data(data)
    rows = dict(from_this_machine(folder / "local", data))
    with contextlib.suppress(servers.Missing):
        rows.update(from_bucket(folder / "bucket", data))
    for tier, row in rows.items():
        report.add(f"resume_from_{tier}_ready", row["ready"], "s from the death of all trainers")
        report.add(f"resume_from_{tier}_restored", row["restored"], "s from the death of all trainers")
        report.add(f"resume_from_{tier}_next_step", row["step"], "s from the death of all trainers")
