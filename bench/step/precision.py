"""Measures tokens a second, memory and loss of each precision on one core, beside PyTorch's autocast.

Rekindle and PyTorch train the same model on the same data."""
import functools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from _bench_json import HIGHER, LOWER, NEITHER, Report
from _options import Options, run_all
from cluster import Cluster
from step import write_data
from timelines import completions
from waiting import wait_until

PEER = pathlib.Path(__file__).with_name("_autocast.py")
GLOBAL_BATCH, MICRO_BATCH = 8, 4
PRECISIONS = ("fp32", "bf16", "fp16")
# `RUNS` maps the name of a run to (precision, reduction, activations).
RUNS = {**{p: (p, "fp32", "keep") for p in PRECISIONS},
        **{f"{p}_exact": (p, "exact", "keep") for p in PRECISIONS},
        **{f"{p}_recompute": (p, "exact", "recompute") for p in ("fp32", "bf16")}}
METRICS = {**{f"{run}_{figure}": better for run in RUNS for figure, better in (
    ("tokens_per_second", HIGHER), ("peak_memory", LOWER), ("loss", LOWER), ("loss_to_fp32", LOWER))},
           "fp16_skipped_steps": NEITHER, "exact_to_fp32_step_time": LOWER}


def job(args, data, precision, reduce, activations):
    return {"name": "precision", "spec": {
        "seed": 1, "workers": {"min": 1, "max": 1, "threads_per_rank": 1},
        "model": {"kind": "gpt", "layers": args.layers, "heads": args.heads, "width": args.width,
                  "context": args.context},
        "data": {"text": [str(data)], "validation_fraction": 0.05},
        "training": {"steps": args.warmup + args.steps, "global_batch": GLOBAL_BATCH, "micro_batch": MICRO_BATCH,
                     "precision": precision, "reduce": reduce, "activations": activations, "clip_norm": 1.0},
        "optimizer": {"kind": "adamw", "learning_rate": 1e-3, "weight_decay": 0.1},
        "schedule": {"kind": "constant", "warmup_steps": 0}, "checkpoint": {"every_steps": 0}}}


def peak_bytes(pid):
    """Returns the peak memory of a live process in bytes, or 0 where the process does not live."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)


def ours(args, data, precision, reduce, activations):
    """Runs a job and returns the seconds of each step, the trainer's peak memory in bytes, and the final status."""
    peak = 0
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder, Cluster(folder, nodes=("a",)) as cluster:
        cluster.start()
        cluster.submit(job(args, data, precision, reduce, activations))

        def ended():
            nonlocal peak
            peak = max([peak, *(peak_bytes(pid) for pid in cluster.nodes["a"].pids("trainer"))])
            status = cluster.status("precision")
            return status if status["state"] in ("SUCCEEDED", "FAILED") else None
        status = wait_until(ended, 600, "the job to end", poll=0.05 if args.smoke else 0.3)
        if status["state"] != "SUCCEEDED":
            sys.exit(f"error: the job in {precision} failed: {status['reason']}")
        done = [t for _, t in sorted(completions(cluster.marks()).items())]
    return {"times": [b - a for a, b in zip(done, done[1:])][args.warmup:], "peak": peak, "status": status}


def autocast(args, data, precision):
    """Runs the same model with PyTorch in a process of its own, where PyTorch may use every instruction of the CPU."""
    command = [sys.executable, str(PEER), str(data), precision, str(args.layers),
               str(args.heads), str(args.width), str(args.context), str(GLOBAL_BATCH), str(MICRO_BATCH),
               str(args.warmup + args.steps)]
    done = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, check=True,
                          text=True)
    result = json.loads(done.stdout)
    return {**result, "times": result["times"][args.warmup:]}


def rate(args, times):
    return GLOBAL_BATCH * args.context / statistics.median(times)


def late_loss(losses):
    """Returns the mean loss of the last ten steps."""
    return statistics.mean(losses[-10:])


def main():
    p = Options("precision", __doc__)
    p.size("steps", 60, smoke=2, turn=20)
    p.size("warmup", 5, smoke=1)
    p.size("layers", 4, smoke=1)
    p.size("heads", 4, smoke=1)
    p.size("width", 256, smoke=16)
    p.size("context", 128, smoke=16)
    args = p.parse()
    report = Report("precision", METRICS, args)
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data.txt"
        write_data(data)
        got, peer = {}, {}

        def measure(name):
            got[name] = ours(args, data, *RUNS[name])
            print(name, statistics.median(got[name]["times"]), file=sys.stderr)
            if name in PRECISIONS and args.peers:
                peer[name] = autocast(args, data, name)
                print("autocast", name, statistics.median(peer[name]["times"]), file=sys.stderr)
        run_all(args, (functools.partial(measure, name) for name in RUNS))
    fp32_loss = late_loss([point["value"] for point in got["fp32"]["status"]["loss_curve"]])
    for name, result in got.items():
        theirs = peer.get(name.split("_")[0])
        report.add(f"{name}_tokens_per_second", rate(args, result["times"]), "tokens/s",
                   peer=theirs and rate(args, theirs["times"]))
        report.add(f"{name}_peak_memory", result["peak"] / 1e6, "MB", peer=theirs and theirs["peak"] / 1e6)
        loss = late_loss([point["value"] for point in result["status"]["loss_curve"]])
        report.add(f"{name}_loss", loss, "nats a token", peer=theirs and late_loss(theirs["losses"]))
        report.add(f"{name}_loss_to_fp32", abs(loss / fp32_loss - 1), "of FP32's", target=0.01)
    report.add("fp16_skipped_steps", got["fp16_exact"]["status"]["skipped_steps"], "attempts")
    exact = statistics.median(got["fp32_exact"]["times"]) / statistics.median(got["fp32"]["times"])
    report.add("exact_to_fp32_step_time", exact, "ratio", target=1.3)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
