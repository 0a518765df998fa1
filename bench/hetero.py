"""Throughput of two ranks, one with a third of a core, beside the sum of what each does in a job of its own; how soon ranges adapt."""
import argparse
import contextlib
import pathlib
import statistics
import sys
import tempfile

from _bench_json import REPO, Report

sys.path.insert(0, str(REPO / "tests" / "harness"))
from cluster import Cluster, completions, wait_until  # noqa: E402
from step import CONTEXT, job, write_data  # noqa: E402
from throttle import throttled  # noqa: E402

GLOBAL_BATCH, MICRO_BATCH = 64, 2    # 32 micro-batches: 24 and 8 when one rank is three times as fast.
SHARE = 1 / 3
MEASURED = 12    # Steps of the slowed rank on its own.
SETTLE = 2       # Steps after a start or a new cut of the ranges that do not count.
UNSLOWED = 10    # Steps before the slow rank is slowed.


def spec(data, steps, workers):
    made = job("hetero", data, steps, "exact", workers)
    made["spec"]["training"].update(global_batch=GLOBAL_BATCH, micro_batch=MICRO_BATCH)
    return made


@contextlib.contextmanager
def running(data, steps, nodes):
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder:
        with Cluster(folder, nodes=nodes) as cluster:
            cluster.start()
            cluster.submit(spec(data, steps, len(nodes)))
            yield cluster


def await_steps(cluster, count):
    """The times of the first `count` steps completed; {step: time} of all."""
    def there():
        done = completions(cluster.marks())
        return done if len(done) >= count else None
    return wait_until(there, 600, f"{count} steps", poll=0.1)


def await_end(cluster):
    def ended():
        status = cluster.status("hetero")
        return status if status["state"] in ("SUCCEEDED", "FAILED") else None
    status = wait_until(ended, 600, "the job to end", poll=0.5)
    if status["state"] != "SUCCEEDED":
        raise RuntimeError(status["reason"])
    return status


def rate(done, first, last):
    """Tokens a second over the steps after `first`, by the median step."""
    gaps = [done[s] - done[s - 1] for s in range(first + 1, last + 1)]
    return GLOBAL_BATCH * CONTEXT / statistics.median(gaps)


def undisturbed(data, steps):
    """The digest of one rank's run."""
    with running(data, steps, ("a",)) as cluster:
        return await_end(cluster)["state_digest"]


def apart(data):
    """Tokens a second of each rank with a job of its own, both at the same time: cores that share caches and memory are not
    as fast together as one is alone."""
    with running(data, 100_000, ("a",)) as fast, running(data, 100_000, ("a",)) as slow:
        for cluster in (fast, slow):
            await_steps(cluster, SETTLE)
        with throttled(slow.nodes["a"], SHARE):
            begun = [max(completions(cluster.marks())) for cluster in (fast, slow)]
            await_steps(slow, begun[1] + SETTLE + MEASURED)
            done = [completions(cluster.marks()) for cluster in (fast, slow)]
        return [rate(of, first + SETTLE, max(of)) for of, first in zip(done, begun)]


def recuts(cluster):
    return [e for e in cluster.events("hetero")["events"] if e["kind"] == "ranges"]


def together(data, steps):
    with running(data, steps, ("a", "b")) as cluster:
        await_steps(cluster, UNSLOWED)
        before = len(recuts(cluster))
        with throttled(cluster.nodes["b"], SHARE) as how:
            slowed = max(completions(cluster.marks()))
            status = await_end(cluster)
        done = completions(cluster.marks())
        told = recuts(cluster)[before:]
        # Who computed how much when, by the trainers' own timelines.
        shares = {}
        for mark in cluster.marks():
            if mark["event"] == "step":
                shares.setdefault(mark["step"], {})[mark["trainer"]] = mark["adds"]
        cuts = [s for s in range(slowed + 1, steps) if shares[s + 1] != shares[s]]
        for event in told:
            print(event["text"], file=sys.stderr)
        if not cuts:
            raise RuntimeError("the ranges were never cut anew")
        row = {"adapted_after": cuts[0] - slowed, "recuts": len(cuts), "how": how, "digest": status["state_digest"],
               "rate": rate(done, cuts[0] + SETTLE, steps), "straggler": [m for m in cluster.events("hetero")["events"]
                                                                         if m["kind"] == "straggler"]}
        # From the second slowed step on: the first one was slowed in part.
        row["unadapted"] = rate(done, slowed + 1, cuts[0]) if cuts[0] > slowed + 1 else None
        return row


def main():
    p = argparse.ArgumentParser(prog="scripts/bench hetero", description=__doc__)
    p.add_argument("--report", metavar="FILE")
    p.add_argument("--steps", type=int, default=50)
    p.add_argument("--rounds", type=int, default=3, help="interleaved repetitions of ranks apart and together")
    args = p.parse_args()
    report = Report("hetero")
    rows, fast, slow, digests = [], [], [], set()
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data.txt"
        write_data(data)
        digests.add(undisturbed(data, args.steps))
        for _ in range(args.rounds):
            for rates, got in zip((fast, slow), apart(data)):
                rates.append(got)
            rows.append(together(data, args.steps))
            digests.add(rows[-1]["digest"])
            print(f"apart {fast[-1]:.0f} and {slow[-1]:.0f} tokens/s, together", rows[-1], file=sys.stderr)
    middle = lambda key: statistics.median(r[key] for r in rows if r[key])
    total = statistics.median(a + b for a, b in zip(fast, slow))
    report.result["slowed_by"] = rows[0]["how"]
    report.add("tokens_per_second_apart", statistics.median(fast), "tokens/s")
    report.add("tokens_per_second_slowed_apart", statistics.median(slow), "tokens/s")
    report.add("tokens_per_second_together", middle("rate"), "tokens/s", peer=total, target_ratio=0.9)
    if any(r["unadapted"] for r in rows):
        report.add("tokens_per_second_before_adapting", middle("unadapted"), "tokens/s", peer=total)
    report.add("steps_to_adapt", max(r["adapted_after"] for r in rows), "steps", target=10, lower_is_better=True)
    report.add("cuts_of_ranges", max(r["recuts"] for r in rows), f"in {args.steps} steps", target=3, lower_is_better=True)
    report.add("digests", len(digests), "different ones", target=1, lower_is_better=True)
    report.add("straggler_named", min(len(r["straggler"]) for r in rows), "events", target=1)
    return report.finish(args.report)


if __name__ == "__main__":
    sys.exit(main())
