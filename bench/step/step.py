"""Measures tokens a second of two workers with one thread each, beside PyTorch DDP over Gloo on the same work.

The two workers are also compared with two jobs of one worker each, which have half of the batch and exchange
nothing."""
import argparse
import contextlib
import pathlib
import statistics
import sys
import tempfile

from _bench_json import HIGHER, LOWER, Report, peers_folder
from _options import Options
from cluster import Cluster
from timelines import completions
from waiting import wait_until

# The constants are the sizes of the training that is measured. The scripts that measure other systems use the same
# sizes.
GLOBAL_BATCH, MICRO_BATCH, CONTEXT, WORKERS = 16, 4, 128, 2
MODEL = {"kind": "gpt", "layers": 4, "heads": 4, "width": 128, "context": CONTEXT}
# `SMALL` is the model of a run with --smoke.
SMALL = {"kind": "gpt", "layers": 1, "heads": 1, "width": 16, "context": CONTEXT}
METRICS = {"tokens_per_second": HIGHER, "tokens_per_second_exact": HIGHER, "share_of_no_exchange": HIGHER,
           "exact_to_fp32_step_time": LOWER}


def job(name, data, steps, reduce, workers, model):
    """Returns a job with the same work for each worker, however many there are."""
    return {"name": name, "spec": {
        "seed": 1, "workers": {"min": workers, "max": workers, "threads_per_rank": 1},
        "model": model,
        "data": {"text": [str(data)], "validation_fraction": 0.05},
        "training": {"steps": steps, "global_batch": GLOBAL_BATCH * workers // WORKERS, "micro_batch": MICRO_BATCH,
                     "reduce": reduce, "clip_norm": 1.0},
        "optimizer": {"kind": "adamw", "learning_rate": 1e-3, "weight_decay": 0.1},
        "schedule": {"kind": "constant"}, "checkpoint": {"every_steps": 0}}}


def ours(args, data, reduce, jobs=1):
    """Returns the seconds of each step, from the times at which the workers' timelines say that steps were completed.

    `jobs` jobs share the workers, each on a cluster of its own."""
    workers = WORKERS // jobs
    with contextlib.ExitStack() as stack:
        clusters = []
        for _ in range(jobs):
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rekindle-bench-"))
            clusters.append(stack.enter_context(Cluster(folder, nodes=("a", "b")[:workers])))
            clusters[-1].start()
        for cluster in clusters:
            model = SMALL if args.smoke else MODEL
            cluster.submit(job("step", data, args.warmup + args.steps, reduce, workers, model))
        times = []
        for cluster in clusters:
            wait_until(lambda: cluster.status("step")["state"] == "SUCCEEDED", 300, "the job to end", poll=0.5)
            done = [t for _, t in sorted(completions(cluster.marks()).items())]
            times += [b - a for a, b in zip(done, done[1:])][args.warmup:]
    return times


def write_data(path):
    """Writes the text on which the scripts of other systems train by default: C headers, up to 4 MiB."""
    text = bytearray()
    for header in sorted(pathlib.Path("/usr/include").rglob("*.h")):
        try:
            text += header.read_bytes()
        except OSError:
            continue
        if len(text) >= 4 << 20:
            break
    path.write_bytes(text[:4 << 20])


def main():
    p = Options("step", __doc__)
    p.size("steps", 60, smoke=4, turn=30)
    p.size("warmup", 10, smoke=2, turn=5)
    p.size("rounds", 3, smoke=1, turn=1, text="interleaved repetitions of ours and the peer")
    args = p.parse()
    report = Report("step", METRICS, args)
    peers = args.peers and peers_folder()
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data.txt"
        write_data(data)
        times = {"fp32": [], "exact": [], "no_exchange": [], "ddp": []}
        for _ in range(args.rounds):
            for reduce in ("fp32", "exact"):
                times[reduce] += ours(args, data, reduce)
                print(reduce, statistics.median(times[reduce]), file=sys.stderr)
            times["no_exchange"] += ours(args, data, "fp32", jobs=WORKERS)
            print("no exchange", statistics.median(times["no_exchange"]), file=sys.stderr)
            if peers:
                sys.path.insert(0, str(peers))
                import ddp_step
                peer_args = argparse.Namespace(steps=args.steps, warmup=args.warmup, context=CONTEXT, layers=4,
                                               heads=4, embd=128, data=str(data))
                times["ddp"] += ddp_step.launch(peer_args, 2, 1)["times"]
                print("ddp", statistics.median(times["ddp"]), file=sys.stderr)
    tokens = GLOBAL_BATCH * CONTEXT
    rate = {name: tokens / statistics.median(got) for name, got in times.items() if got}
    report.add("tokens_per_second", rate["fp32"], "tokens/s", peer=rate.get("ddp"), target_ratio=1.15,
               limit=rate["no_exchange"])
    report.add("tokens_per_second_exact", rate["exact"], "tokens/s", peer=rate.get("ddp"))
    report.add("share_of_no_exchange", rate["fp32"] / rate["no_exchange"], "ratio", target=0.95)
    report.add("exact_to_fp32_step_time", rate["fp32"] / rate["exact"], "ratio", target=1.3)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
