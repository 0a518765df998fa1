"""The loss 1 and 100 steps after a resume from plane 0 alone, FP16 and BF16, against the undisturbed run."""
import argparse
import pathlib
import re
import sys
import tempfile

from _bench_json import REPO, Report

sys.path.insert(0, str(REPO / "tests" / "harness"))
from cluster import Cluster, wait_until  # noqa: E402
from step import write_data  # noqa: E402

PRECISIONS = ("exact", "fp16", "bf16")
AFTER = (1, 100)     # Steps after the resume.
EVERY = 50           # Steps from checkpoint to checkpoint.
TARGET = 0.005       # Of the undisturbed loss.
SECONDS = 300        # A run may take.


def job(data, steps, precision):
    return {"name": "planes", "spec": {
        "seed": 1, "workers": {"min": 1, "max": 1, "threads_per_rank": 1},
        "model": {"kind": "gpt", "layers": 2, "heads": 4, "width": 128, "context": 64},
        "data": {"text": [str(data)], "validation_fraction": 0.05},
        "training": {"steps": steps, "global_batch": 12, "micro_batch": 12, "reduce": "exact"},
        "optimizer": {"kind": "adamw", "learning_rate": 2e-3}, "schedule": {"kind": "constant"},
        "checkpoint": {"every_steps": EVERY, "keep_last": 2, "precision": precision}}}


def run(data, steps, precision, kill_after=None):
    """({step: loss}, the step from which it was resumed). All there is but the store is lost once a checkpoint of step
    `kill_after` or later is durable."""
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder, Cluster(folder, nodes=("a",)) as cluster:
        cluster.start()
        cluster.submit(job(data, steps, precision))
        if kill_after is not None:
            wait_until(lambda: cluster.status("planes")["checkpoint_step"] >= kill_after, SECONDS, "a checkpoint",
                       poll=0.02)
            cluster.nodes["a"].kill()
            cluster.nodes["a"].start()
        wait_until(lambda: cluster.status("planes")["state"] in ("SUCCEEDED", "FAILED"), SECONDS, "the end", poll=0.5)
        status = cluster.status("planes")
        if status["state"] != "SUCCEEDED":
            sys.exit(f"error: the job with precision {precision} failed: {status['reason']}")
        restored = [e["text"] for e in cluster.events("planes")["events"] if e["kind"] == "checkpoint_restored"]
    resumed = int(re.search(r"restored \d+-(\d+)-", restored[-1]).group(1)) if restored else None
    return {point["step"]: point["value"] for point in status["loss_curve"]}, resumed


def main():
    p = argparse.ArgumentParser(prog="scripts/bench planes_resume", description=__doc__)
    p.add_argument("--report", metavar="FILE")
    p.add_argument("--rounds", type=int, default=1, help="resumes of each precision, each later in the run")
    args = p.parse_args()
    report = Report("planes_resume")
    steps = (args.rounds + 1) * EVERY + max(AFTER) + EVERY   # Below 400, every step is in the job's curve.
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data.txt"
        write_data(data)
        undisturbed, _ = run(data, steps, "exact")
        for i in range(args.rounds):
            for precision in PRECISIONS:
                losses, resumed = run(data, steps, precision, kill_after=(i + 2) * EVERY)
                if not resumed or not undisturbed.keys() >= {resumed + n for n in AFTER}:
                    sys.exit(f"error: the job with precision {precision} was resumed from step {resumed}")
                for n in AFTER:
                    ours, whole = losses[resumed + n], undisturbed[resumed + n]
                    print(f"{precision}: step {resumed}+{n}: {ours:.6f}, undisturbed {whole:.6f}", file=sys.stderr)
                    at = f"{precision}_{n}_after_step_{resumed}"
                    report.add(f"{at}_loss", ours, "nats")
                    report.add(f"{at}_undisturbed_loss", whole, "nats")
                    report.add(f"{at}_difference", abs(ours / whole - 1), "of the undisturbed loss",
                               target=0 if precision == "exact" else TARGET, lower_is_better=True)
    return report.finish(args.report)


if __name__ == "__main__":
    sys.exit(main())
