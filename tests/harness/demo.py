"""Runs the demo: one job on real text loses trainers, nodes, the coordinator and at last everything.

It must end with the very weights of an undisturbed run. scripts/demo builds the programs and calls this file."""
import argparse
import json
import os
import pathlib
import shutil
import sys
import tempfile
import textwrap
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cluster import Cluster  # noqa: E402
from faults import Injector  # noqa: E402
from programs import program  # noqa: E402

STEPS = 240
HEADERS = "/usr/include/**/*.h"


def job_spec(name, text, workers, steps):
    return {
        "name": name,
        "spec": {
            "seed": 1,
            "workers": {"min": 1, "max": workers},
            "model": {"kind": "gpt", "layers": 4, "heads": 4, "width": 96, "context": 128},
            "data": {"text": text, "max_bytes": 8e6, "validation_fraction": 0.05},
            "training": {"steps": steps, "global_batch": 24, "micro_batch": 2, "reduce": "exact",
                         "evaluate_every": 60, "evaluate_micro_batches": 24},
            "optimizer": {"kind": "adamw", "learning_rate": 2e-3, "weight_decay": 0.1},
            "schedule": {"kind": "cosine", "warmup_steps": 20, "final_ratio": 0.1},
            "checkpoint": {"every_steps": 20, "keep_last": 2},
        },
    }


class Screen:
    """Draws one line over and over, with lines of news above it. A lock makes it safe for threads."""

    def __init__(self):
        self.terminal = sys.stdout.isatty()
        self.lock = threading.Lock()
        self.bar = ""
        self.start = time.monotonic()

    def say(self, text):
        with self.lock:
            clear = "\r\033[2K" if self.terminal else ""
            print(f"{clear}[{time.monotonic() - self.start:6.1f} s] {text}", flush=True)
            if self.terminal and self.bar:
                print(self.bar, end="", flush=True)

    def draw(self, bar):
        with self.lock:
            self.bar = bar
            if self.terminal:
                print(f"\r\033[2K{bar}", end="", flush=True)

    def end(self):
        with self.lock:
            if self.terminal:
                print("\r\033[2K", end="", flush=True)
            self.bar = ""


class Progress(threading.Thread):
    """Draws the job's progress from the coordinator's status, until it is stopped."""

    def __init__(self, screen, cluster, job):
        super().__init__(daemon=True)
        self.screen, self.cluster, self.job = screen, cluster, job
        self.stopped = threading.Event()

    def run(self):
        while not self.stopped.wait(0.4):
            found = self.cluster.cli("get", self.job, check=False)
            if not found:
                self.screen.draw("  (the coordinator is away; ranks keep stepping)")
                continue
            s = found["status"]
            total = s["resolved_spec"]["training"]["steps"]
            cells = 30 * s["step"] // total
            members = " ".join(f"{m['node']}:{m['micro_batch_begin']}-{m['micro_batch_end']}" for m in s["members"])
            self.screen.draw(f"  {'█' * cells}{'░' * (30 - cells)} step {s['step']}/{total}  loss {s['loss']:.3f}  "
                             f"{s['tokens_per_second']:.0f} tok/s  generation {s['generation']}  {members}")

    def stop(self):
        self.stopped.set()
        self.join()
        self.screen.end()


def await_success(cluster, job):
    status = cluster.await_end(job)
    if status["state"] != "SUCCEEDED":
        raise RuntimeError(f"job {job} ended as {status['state']}: {status['reason']}")
    return status


def disturbed(screen, folder, text, steps, device):
    with Cluster(folder, nodes=("n1", "n2", "n3"), device=device) as cluster:
        screen.say("start: a coordinator and three nodes (agent, trainer and checkpoint service each)")
        cluster.start()
        spec = job_spec("demo", text, 4, steps)
        cluster.submit(spec)
        progress = Progress(screen, cluster, "demo")
        progress.start()
        try:
            inject = Injector(cluster, "demo",
                              on_fault=lambda kind, why: screen.say(f"  answered: {why}" if why else f"FAULT {kind}"))
            inject.every_fault()
            status = await_success(cluster, "demo")
        finally:
            progress.stop()
        return status, inject.rows


def undisturbed(screen, folder, text, steps):
    with Cluster(folder, nodes=("only",), device="cpu") as cluster:
        cluster.start()
        cluster.submit(job_spec("undisturbed", text, 1, steps))
        progress = Progress(screen, cluster, "undisturbed")
        progress.start()
        try:
            return await_success(cluster, "undisturbed")
        finally:
            progress.stop()


def curve(points, width=60, height=10):
    """Draws a loss curve in text. A column shows the mean of its points."""
    if not points:
        return ""
    last = points[-1]["step"]
    columns = [[] for _ in range(width)]
    for p in points:
        columns[min(width - 1, p["step"] * width // (last + 1))].append(p["value"])
    means = [sum(c) / len(c) if c else None for c in columns]
    known = [m for m in means if m is not None]
    low, high = min(known), max(known)
    rows = []
    for row in range(height):
        floor = high - (high - low) * (row + 1) / height
        ceiling = high - (high - low) * row / height
        line = "".join("●" if m is not None and floor <= m <= ceiling + 1e-12 else " " for m in means)
        rows.append(f"  {ceiling:6.3f} │{line}")
    return "\n".join([*rows, "         └" + "─" * width, f"          step 1{'':{width - 12}}step {last}"])


def table(rows):
    head = f"  {'fault':<19}{'pause':>8}  {'steps':>6}  {'micro-batches':>13}  decided, and why"
    lines = [head, f"  {'':<19}{'':>8}  {'redone':>6}  {'redone':>13}"]
    for row in rows:
        why = textwrap.wrap(row["reason"], 78)
        lines.append(f"  {row['kind']:<19}{row['pause_seconds']:>6.2f} s  {row['steps_redone']:>6}  "
                     f"{row['micro_batches_redone']:>13}  {why[0] if why else ''}")
        lines += [" " * 54 + line for line in why[1:]]
    return "\n".join(lines)


def summary(first, second, rows, seconds):
    """Returns what the demo prints at its end about the job with faults, `first`, and the one without, `second`."""
    unigram = f"(byte frequencies alone: {first['unigram_bits_per_byte']:.4f})"
    equal = "EQUAL: every bit of weights, moments and data cursor"
    return f"""
{table(rows)}

  training loss, nats a byte
{curve(first["loss_curve"])}

  final validation    {first["validation_bits_per_byte"]:.4f} bits a byte  {unigram}
  disturbed weights   {first["state_digest"]}
  undisturbed weights {second["state_digest"]}
  {equal if are_equal(first, second) else "DIFFERENT: this is a bug"}
  {seconds:.0f} s in all

  By hand:
    {program("rekindle")} up --workers 3          # terminal 1
    rekindle submit examples/gpt-text.yaml          # terminal 2
    rekindle watch gpt-text
    pkill -9 rekindle-train                         # terminal 3; then: rekindle events gpt-text"""


def are_equal(first, second):
    return first["state_digest"] == second["state_digest"] and bool(first["state_digest"])


def main():
    p = argparse.ArgumentParser(prog="scripts/demo", description=__doc__)
    p.add_argument("--text", action="append", metavar="FILE",
                   help="text to train on, a file or glob; may be repeated "
                        "(default: the C/C++ headers of this machine)")
    p.add_argument("--report", metavar="FILE", help="write everything as JSON")
    p.add_argument("--steps", type=int, default=STEPS, help=f"training steps (default {STEPS})")
    p.add_argument("--device", default="cpu", choices=("auto", "cpu", "fake"),
                   help="what the disturbed job computes on: cpu; auto for the machine's GPUs; fake for a device that "
                        "finds mistakes in how it is used (default cpu)")
    p.add_argument("--keep", action="store_true", help="keep the folder with logs and timelines")
    args = p.parse_args()
    text = [str(pathlib.Path(t).absolute()) for t in args.text] if args.text else [HEADERS]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rekindle-demo-"))
    screen, started = Screen(), time.monotonic()
    try:
        first, rows = disturbed(screen, folder / "disturbed", text, args.steps, args.device)
        screen.say(f"the disturbed job is done: {first['generation']} generations, digest {first['state_digest']}")
        screen.say("the same spec again, undisturbed, on one worker")
        second = undisturbed(screen, folder / "undisturbed", text, args.steps)
    except BaseException:
        print(f"\nlogs and timelines are in {folder}", file=sys.stderr)
        args.keep = True
        raise
    finally:
        screen.end()
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    seconds = time.monotonic() - started
    equal = are_equal(first, second)
    print(summary(first, second, rows, seconds))
    if args.report:
        report = {
            "digests": {"disturbed": first["state_digest"], "undisturbed": second["state_digest"], "equal": equal},
            "faults": rows,
            "loss": [[p["step"], p["value"]] for p in first["loss_curve"]],
            "validation_bits_per_byte": first["validation_bits_per_byte"],
            "unigram_bits_per_byte": first["unigram_bits_per_byte"],
            "seconds": round(seconds, 1),
        }
        pathlib.Path(args.report).write_text(json.dumps(report, indent=1) + "\n")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
