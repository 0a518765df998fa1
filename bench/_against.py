"""Runs one bench in turns with the programs of two builds and prints by how much each metric differs.

usage: _against.py NAME --ours BUILD --theirs BUILD --commit COMMIT [--turns N] [--report FILE] [OPTION...]

`scripts/bench --against` runs this file. The bench script itself is this checkout's for both builds. A ratio above 1
says that this checkout is better than COMMIT, both for metrics where higher is better and for those where lower is.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from _bench_json import HIGHER, LOWER, REPO, commit, machine
from _run import benches, command

# The speed of a shared machine changes by up to a factor of two within minutes, so a comparison in fewer than
# `LEAST_TURNS` turns means nothing.
LEAST_TURNS = 10


def ratio(better, ours, theirs):
    """Returns how many times as good the value `ours` of a metric is as `theirs`. Division by zero gives infinity."""
    above, below = (ours, theirs) if better == HIGHER else (theirs, ours)
    if above == below:
        return 1.0
    return above / below if below else math.inf


def middle_half(values):
    """Returns the lowest and the highest value after a quarter of the values is cut off at each end."""
    ordered, quarter = sorted(values), len(values) // 4
    return ordered[quarter], ordered[-1 - quarter]


def written(value):
    """Returns the value of a metric as it is written to JSON, where null stands for infinity."""
    return round(value, 4) if math.isfinite(value) else None


def compare(turns):
    """Compares the two sides of each turn, where a turn is a pair (our metrics, their metrics).

    Returns {name: figures}. Metrics for which the bench does not declare whether higher is better are left out."""
    result = {}
    for name, first in turns[0][0].items():
        if first["better"] not in (HIGHER, LOWER) or any(name not in side for turn in turns for side in turn):
            continue
        values = [[side[name]["value"] for side in turn] for turn in turns]
        ratios = [ratio(first["better"], *pair) for pair in values]
        low, high = middle_half(ratios)
        ours, theirs = map(statistics.median, zip(*values))
        result[name] = {"unit": first["unit"], "better": first["better"], "ours": written(ours),
                        "theirs": written(theirs), "ratio": written(statistics.median(ratios)),
                        "middle_half": [written(low), written(high)], "no_worse": high >= 1}
    return result


def file_of(bench):
    return benches()[bench].relative_to(REPO)


def play(bench, build, whose, options):
    """Runs the bench once with the programs of one build and returns its metrics."""
    with tempfile.TemporaryDirectory(prefix="rekindle-against-") as folder:
        report = pathlib.Path(folder, "report.json")
        done = subprocess.run(command(bench, "--turn", *options, "--report", str(report)),
                              stdout=subprocess.DEVNULL, env={**os.environ, "REKINDLE_BUILD": str(build)})
        if done.returncode != 0:
            sys.exit(f"error: {file_of(bench)} ended with {done.returncode} on the programs of {whose}: "
                     "read its messages above")
        return json.loads(report.read_text())["metrics"]


def parse(argv):
    p = argparse.ArgumentParser(prog="scripts/bench NAME --against COMMIT", allow_abbrev=False)
    p.add_argument("bench")
    p.add_argument("--ours", required=True)
    p.add_argument("--theirs", required=True)
    p.add_argument("--commit", required=True)
    p.add_argument("--turns", type=int, default=LEAST_TURNS)
    p.add_argument("--report", metavar="FILE")
    args, options = p.parse_known_args(argv)
    if args.turns < LEAST_TURNS:
        p.error(f"--turns {args.turns} say nothing: take at least {LEAST_TURNS}")
    return args, options


def main(argv):
    args, options = parse(argv)
    sides = {"this checkout": args.ours, args.commit: args.theirs}
    turns = []
    for turn in range(args.turns):
        # The order of the two builds changes with each turn, so that what a run leaves behind on the machine affects
        # both.
        order = list(sides) if turn % 2 == 0 else list(reversed(sides))
        got = {whose: play(args.bench, sides[whose], whose, options) for whose in order}
        turns.append(tuple(got[whose] for whose in sides))
        print(f"turn {turn + 1} of {args.turns}", file=sys.stderr, flush=True)
    metrics = compare(turns)
    if not metrics:
        sys.exit(f"error: {file_of(args.bench)} has no metric to compare")
    result = {"bench": args.bench, "commit": commit(), "against": args.commit, "machine": machine(),
              "turns": args.turns, "ok": all(metric["no_worse"] for metric in metrics.values()),
              "metrics": metrics}
    text = json.dumps(result, indent=1)
    print(text)
    if args.report:
        pathlib.Path(args.report).write_text(text + "\n")
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
