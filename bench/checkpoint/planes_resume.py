"""Compares the loss after a resume from plane 0 alone, in FP16 and BF16, with the loss of the undisturbed run."""
import functools
import pathlib
import re
import sys
import tempfile

from _bench_json import LOWER, NEITHER, Report
from _options import Options, run_all
from cluster import Cluster
from live_processes import kill
from step import write_data
from waiting import wait_until

PRECISIONS = ("exact", "fp16", "bf16")
# `AFTER` has the numbers of steps after the resume at which the loss is compared.
AFTER = (1, 100)
# `TARGET` is the allowed difference from the loss of the undisturbed run, as a share of that loss.
TARGET = 0.005
# `SECONDS` is the longest time that a run may take.
SECONDS = 300
METRICS = {f"{precision}_{n}_steps_after_resume_{figure}": better for precision in PRECISIONS for n in AFTER
           for figure, better in (("loss", LOWER), ("undisturbed_loss", NEITHER), ("difference", LOWER))}


def job(args, data, steps, precision):
    return {"name": "planes", "spec": {
        "seed": 1, "workers": {"min": 1, "max": 1, "threads_per_rank": 1},
        "model": {"kind": "gpt", "layers": 2, "heads": 4, "width": args.width, "context": 64},
        "data": {"text": [str(data)], "validation_fraction": 0.05},
        "training": {"steps": steps, "global_batch": 12, "micro_batch": 12, "reduce": "exact"},
        "optimizer": {"kind": "adamw", "learning_rate": 2e-3}, "schedule": {"kind": "constant"},
        "checkpoint": {"every_steps": args.every, "keep_last": 2, "precision": precision}}}


def run(args, data, steps, precision, kill_after=None):
    """Returns ({step: loss}, the step from which the run was resumed).

    Once a checkpoint of step `kill_after` or later is durable, everything except the store is lost."""
    with tempfile.TemporaryDirectory(prefix="rekindle-bench-") as folder, Cluster(folder, nodes=("a",)) as cluster:
        cluster.start()
        cluster.submit(job(args, data, steps, precision))
        if kill_after is not None:
            # The trainer of a small model would make its last step while it is looked for, so it is known before.
            trainers = wait_until(lambda: cluster.nodes["a"].pids("trainer"), SECONDS, "a trainer", poll=0.02)
            wait_until(lambda: cluster.status("planes")["checkpoint_step"] >= kill_after, SECONDS, "a checkpoint",
                       poll=0.02)
            kill(trainers)
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
    p = Options("planes_resume", __doc__)
    p.size("rounds", 1, smoke=1, text="resumes of each precision, each later in the run")
    p.size("every", 50, smoke=8, text="steps from checkpoint to checkpoint")
    p.size("last", max(AFTER), smoke=4, text="steps after the resume, what is named 100")
    p.size("spare", 0, smoke=360, text="steps more: all is to be lost before the end, however small the model")
    p.size("width", 128, smoke=64, text="of the model")
    args = p.parse()
    report = Report("planes_resume", METRICS, args)
    after = dict(zip(AFTER, (AFTER[0], args.last)))
    # The loss curve of a job with fewer than 400 steps has every step.
    steps = (args.rounds + 2) * args.every + args.last + args.spare
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data.txt"
        write_data(data)
        kills = [("exact", None),
                 *((precision, (i + 2) * args.every) for i in range(args.rounds) for precision in PRECISIONS)]
        (undisturbed, _), *others = run_all(args, (functools.partial(run, args, data, steps, *kill) for kill in kills))
    for (precision, _), (losses, resumed) in zip(kills[1:], others):
        if not resumed or not undisturbed.keys() >= {resumed + n for n in after.values()}:
            sys.exit(f"error: the job with precision {precision} was resumed from step {resumed}")
        for name, n in after.items():
            ours, whole = losses[resumed + n], undisturbed[resumed + n]
            print(f"{precision}: step {resumed}+{n}: {ours:.6f}, undisturbed {whole:.6f}", file=sys.stderr)
            found.setdefault((precision, name), []).append((abs(ours / whole - 1), ours, whole))
    for (precision, name), rows in found.items():
        # The report has the round with the largest difference between the loss after the resume and the undisturbed
        # loss.
        difference, ours, whole = max(rows)
        at = f"{precision}_{name}_steps_after_resume"
        report.add(f"{at}_loss", ours, "nats")
        report.add(f"{at}_undisturbed_loss", whole, "nats")
        report.add(f"{at}_difference", difference, "of the undisturbed loss",
                   target=0 if precision == "exact" else TARGET)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
