"""Measures a user's own model beside a plain PyTorch loop, DDP and torchrun: steps, memory, deaths, the first step."""
import statistics
import sys

import _own_cluster as own
import _own_faults as faults
from _bench_json import LOWER, HIGHER, NEITHER, Report
from _options import Options, run_all
from step import CONTEXT

MODELS = ("gpt", "llama", "resnet")
METRICS = {"tokens_per_second": HIGHER, "round_trip_microseconds": LOWER, "trainer_killed_seconds": LOWER,
           "trainer_killed_seconds_to_torchrun": LOWER, "trainer_killed_steps_redone": LOWER,
           "survivors_processes_restarted": LOWER, "normal_step_seconds": NEITHER, "child_killed_pause_seconds": LOWER,
           "child_killed_steps_redone": LOWER, "child_killed_trainers_restarted": LOWER, "task_seconds": NEITHER,
           "redone_micro_batches_seconds": NEITHER, "first_step_seconds": LOWER, "weights_off_adamw": LOWER,
           "weights_off_sgd": LOWER, "unstable_models_adamw": NEITHER, "unstable_models_sgd": NEITHER}
for name in MODELS:
    METRICS.update({f"cpu_seconds_{name}": LOWER, f"peak_bytes_{name}": LOWER})
# A job may need the memory of the plain loop by this factor, and so many bytes for each parameter.
MEMORY_FACTOR, BYTES_OF_PARAMETER = 1.15, 12
# The targets of a kill, beside the peer's seconds.
OF_BUILT_IN, OF_TORCHRUN, CHILD_SECONDS = 1.1, 1 / 15, 1.0
# Weights may differ from PyTorch's by so much.
PARITY = 1e-4


def costs(args, name):
    """Returns what a step of one worker costs and the memory, as (seconds, bytes), and the same of the plain loop."""
    task = "small" if args.smoke else name
    more = "" if task in ("small", "gpt") else args.packages
    ours, plain = [], []
    for _ in range(args.rounds):
        ours.append(own.cost_of_job(task, args, more))
        if args.peers:
            plain.append(own.cost_of_plain(task, args, more))
        print(name, ours[-1], plain[-1:], file=sys.stderr)

    def middle(rows):
        return [statistics.median(row[i] for row in rows) for i in range(2)] if rows else [None, None]
    return middle(ours), middle(plain)


def add_costs(report, args):
    found = {name: costs(args, name) for name in MODELS[:1 if args.smoke else None]}
    for name in MODELS:
        # A run with --smoke has the same small model in place of each, so it is measured once.
        (seconds, peak), (of_loop, loop_peak) = found.get(name, found[MODELS[0]])
        report.add(f"cpu_seconds_{name}", seconds, "s", peer=of_loop, target_ratio=1.05)
        allowed = None
        if loop_peak:
            parameters = faults.round_trip(args, name)["parameters"]
            allowed = MEMORY_FACTOR * loop_peak + BYTES_OF_PARAMETER * parameters
        report.add(f"peak_bytes_{name}", peak, "bytes", target=allowed, peer=loop_peak)


def add_throughput(report, args, task):
    ours, ddp = [], []
    for _ in range(args.rounds):
        ours.append(own.step_seconds_of_job(task, args))
        if args.peers:
            ddp.append(own.step_seconds_of_ddp(task, args))
    tokens = own.MICRO_BATCHES * own.micro_batch(task) * CONTEXT
    report.add("tokens_per_second", tokens / statistics.median(ours), "tokens/s",
               peer=tokens / statistics.median(ddp) if ddp else None, target_ratio=1.0)


def add_trainer_kills(report, args, task):
    """Adds what the death of a trainer costs, beside that of the built-in model of the same sizes."""
    rows = faults.trainer_kills(args, task)
    seconds = faults.median(rows, "seconds")
    built_in = torchrun = None
    if args.judged:
        built_in = faults.median(faults.trainer_kills(args, task, built_in=True), "seconds")
    if args.peers:
        torchrun = statistics.median(faults.torchrun_kills(args, task))
    report.add("trainer_killed_seconds", seconds, "s", peer=built_in, target_ratio=OF_BUILT_IN)
    report.add("trainer_killed_seconds_to_torchrun", seconds, "s", peer=torchrun, target_ratio=OF_TORCHRUN)
    report.add("trainer_killed_steps_redone", max(row["redone"] for row in rows), "steps", target=0)
    report.add("survivors_processes_restarted", max(row["restarted"] for row in rows), "processes", target=0)
    report.add("normal_step_seconds", faults.median(rows, "normal"), "s")


def add_child_kills(report, args, task):
    """Adds what the death of a model process costs, beside what a new one has to do."""
    rows, told = faults.child_kills(args, task), faults.round_trip(args, task)
    redone = faults.median(rows, "normal")
    report.add("child_killed_pause_seconds", faults.median(rows, "pause"), "s",
               target=CHILD_SECONDS + told["task_seconds"] + redone)
    report.add("task_seconds", told["task_seconds"], "s")
    # A process that has died has to make at most the micro-batches of one step of its rank once more.
    report.add("redone_micro_batches_seconds", redone, "s")
    report.add("child_killed_steps_redone", max(row["redone"] for row in rows), "steps", target=0)
    report.add("child_killed_trainers_restarted", max(row["trainers"] for row in rows), "trainers", target=0)
    report.add("round_trip_microseconds", told["microseconds"], "us", target=100)


def add_parity(report, args):
    """Adds how far weights are from those of PyTorch's optimizers after 20 steps, for the model that is farthest.

    A model on which PyTorch does not agree with itself after other rounding errors is counted as unstable instead."""
    found = {}
    for kind in ("adamw", "sgd"):
        found = found if args.smoke and found else faults.parity(args, kind, PARITY)
        print(kind, found, file=sys.stderr)
        stable = [one["off"] for one in found.values() if (one["itself"] or 0) <= PARITY]
        report.add(f"weights_off_{kind}", max(stable), "of the largest weight", target=PARITY)
        report.add(f"unstable_models_{kind}", len(found) - len(stable), "models")


def main():
    p = Options("own_models", __doc__)
    p.size("steps", 60, smoke=6, turn=30)
    p.size("warmup", 10, smoke=2, turn=5)
    p.size("rounds", 3, smoke=1, turn=1, text="interleaved repetitions of ours and the peer")
    p.size("kills", 6, smoke=1, turn=2)
    p.size("torchrun-kills", 4, smoke=1)
    p.size("round-trips", 5000, smoke=100)
    p.size("zoo", "all", smoke="custom_function", turn="always", text="models whose weights are compared")
    p.add_argument("--reduce", default="fp32", choices=("exact", "fp32"), help="how gradients are added up")
    args = p.parse()
    args.packages = "" if args.smoke else own.packages()
    report = Report("own_models", METRICS, args)
    task = "small" if args.smoke else "gpt"
    # The weights come first: a model of the zoo that cannot be compared then ends the run before the long parts.
    run_all(args, [lambda: add_parity(report, args), lambda: add_costs(report, args),
                   lambda: add_throughput(report, args, task), lambda: add_trainer_kills(report, args, task),
                   lambda: add_child_kills(report, args, task),
                   lambda: report.add("first_step_seconds", faults.first_step(args), "s", target=20)])
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
