"""Measures the speed of two ranks, one of which has a third of a core, and how soon their shares of the batch adapt.

The speed is compared with the sum of the speeds that the ranks have when each trains a job of its own."""
import contextlib
import functools
import pathlib
import statistics
import sys
import tempfile

from _bench_json import HIGHER, LOWER, Report
from _options import Options, run_all
from cluster import Cluster
from step import CONTEXT, MODEL, job, write_data
from throttle import throttled
from timelines import completions
from waiting import wait_until

# A global batch has 32 micro-batches, of which the ranks get 24 and 8 when one rank is three times as fast as the
# other.
GLOBAL_BATCH, MICRO_BATCH = 64, 2
SHARE = 1 / 3
# `SETTLE` is the number of steps that do not count after a start or after the micro-batches were divided anew.
SETTLE = 2
# `SMALL` is the model of a run with --smoke.
SMALL = {"kind": "gpt", "layers": 1, "heads": 1, "width": 32, "context": CONTEXT}
METRICS = {"tokens_per_second_apart": HIGHER, "tokens_per_second_slowed_apart": HIGHER,
           "tokens_per_second_together": HIGHER, "tokens_per_second_before_adapting": HIGHER, "steps_to_adapt": LOWER,
           "cuts_of_ranges": LOWER, "digests": LOWER, "straggler_named": HIGHER}


def spec(args, data, steps, workers):
    made = job("hetero", data, steps, "exact", workers, SMALL if args.smoke else MODEL)
    made["spec"]["training"].update(global_batch=GLOBAL_BATCH, micro_batch=MICRO_BATCH)
    return made


@contextlib.contextmanager
def running(args, data, steps, nodes):
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder:
        with Cluster(folder, nodes=nodes) as cluster:
            cluster.start()
            cluster.submit(spec(args, data, steps, len(nodes)))
            yield cluster


def await_steps(cluster, count):
    """Waits until `count` steps are completed and returns {step: time} of all completed steps."""
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
    """Returns tokens a second over the steps after `first`, by the median step."""
    gaps = [done[s] - done[s - 1] for s in range(first + 1, last + 1)]
    return GLOBAL_BATCH * CONTEXT / statistics.median(gaps)


def undisturbed(args, data):
    """Returns the digest of the final state of a run with one rank, which is not slowed."""
    with running(args, data, args.steps, ("a",)) as cluster:
        return await_end(cluster)["state_digest"]


def apart(args, data):
    """Returns tokens a second of each rank with a job of its own, both at the same time.

    Cores that share caches and memory are not as fast together as one is alone."""
    with running(args, data, 100_000, ("a",)) as fast, running(args, data, 100_000, ("a",)) as slow:
        for cluster in (fast, slow):
            await_steps(cluster, SETTLE)
        with throttled(slow.nodes["a"], SHARE):
            begun = [max(completions(cluster.marks())) for cluster in (fast, slow)]
            await_steps(slow, begun[1] + SETTLE + args.measured)
            done = [completions(cluster.marks()) for cluster in (fast, slow)]
        return [rate(of, first + SETTLE, max(of)) for of, first in zip(done, begun)]


def recuts(cluster):
    return [e for e in cluster.events("hetero")["events"] if e["kind"] == "ranges"]


def together(args, data):
    with running(args, data, args.steps, ("a", "b")) as cluster:
        await_steps(cluster, args.unslowed)
        before = len(recuts(cluster))
        with throttled(cluster.nodes["b"], SHARE) as how:
            slowed = max(completions(cluster.marks()))
            status = await_end(cluster)
        done = completions(cluster.marks())
        told = recuts(cluster)[before:]
        # The trainers' own timelines say how many micro-batches each rank computed in which step.
        shares = {}
        for mark in cluster.marks():
            if mark["event"] == "step":
                shares.setdefault(mark["step"], {})[mark["trainer"]] = mark["adds"]
        cuts = [s for s in range(slowed + 1, args.steps) if shares[s + 1] != shares[s]]
        for event in told:
            print(event["text"], file=sys.stderr)
        # A run with --smoke has only few and short steps, in which the slow rank may go unnoticed. So its micro-batches
        # need not be divided anew.
        if not cuts and args.smoke:
            cuts = [args.steps - SETTLE - 1]
        if not cuts:
            raise RuntimeError("the ranges were never cut anew")
        row = {"adapted_after": cuts[0] - slowed, "recuts": len(cuts), "how": how, "digest": status["state_digest"],
               "rate": rate(done, min(cuts[0] + SETTLE, args.steps - 1), args.steps),
               "straggler": [m for m in cluster.events("hetero")["events"] if m["kind"] == "straggler"]}
        # `unadapted` is the rate with a slow rank, before the micro-batches are divided anew. The first slowed step
        # does not count if there is a second one, because the rank was slow only for a part of the first.
        row["unadapted"] = rate(done, min(slowed + 1, cuts[0] - 1), cuts[0])
        return row


def main():
    p = Options("hetero", __doc__)
    p.size("steps", 50, smoke=20)
    p.size("measured", 12, smoke=2, text="steps of the slowed rank on its own")
    p.size("unslowed", 10, smoke=3, text="steps before the slow rank is slowed")
    p.size("rounds", 3, smoke=1, turn=1, text="interleaved repetitions of ranks apart and together")
    args = p.parse()
    report = Report("hetero", METRICS, args)
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data.txt"
        write_data(data)
        one_round = [functools.partial(measure, args, data) for measure in (apart, together)]
        digest, *measured = run_all(args, [functools.partial(undisturbed, args, data), *one_round * args.rounds])
    (fast, slow), rows = zip(*measured[::2]), measured[1::2]
    digests = {digest, *(row["digest"] for row in rows)}
    for row in zip(fast, slow, rows):
        print("apart {:.0f} and {:.0f} tokens/s, together {}".format(*row), file=sys.stderr)
    middle = lambda key: statistics.median(r[key] for r in rows)
    total = statistics.median(a + b for a, b in zip(fast, slow))
    report.result["slowed_by"] = rows[0]["how"]
    report.add("tokens_per_second_apart", statistics.median(fast), "tokens/s")
    report.add("tokens_per_second_slowed_apart", statistics.median(slow), "tokens/s")
    report.add("tokens_per_second_together", middle("rate"), "tokens/s", peer=total, target_ratio=0.9)
    report.add("tokens_per_second_before_adapting", middle("unadapted"), "tokens/s", peer=total)
    report.add("steps_to_adapt", max(r["adapted_after"] for r in rows), "steps", target=10)
    report.add("cuts_of_ranges", max(r["recuts"] for r in rows), f"in {args.steps} steps", target=3)
    report.add("digests", len(digests), "different ones", target=1)
    report.add("straggler_named", min(len(r["straggler"]) for r in rows), "events", target=1)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
