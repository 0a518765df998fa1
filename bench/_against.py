"""One bench with the programs of two builds in turns: by how much each metric differs. Of scripts/bench --against.

usage: _against.py NAME --ours BUILD --theirs BUILD --commit COMMIT [--turns N] [--report FILE] [OPTION...]

The bench itself is this checkout's for both. A ratio above 1 is better than COMMIT, whichever way a metric goes.
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

LEAST_TURNS = 10    # Machines that are shared differ by up to two within minutes: fewer say nothing.


def ratio(better, ours, theirs):
    """How many times as good as theirs; infinite where theirs would have to be divided by nothing."""
    above, below = (ours, theirs) if better == HIGHER else (theirs, ours)
    if above == below:
        return 1.0
    return above / below if below else math.inf


def middle_half(values):
    """(lowest, highest) of the values without a quarter of them at each end."""
    ordered, quarter = sorted(values), len(values) // 4
    return ordered[quarter], ordered[-1 - quarter]


def written(value):
    """A number as JSON has it: infinite is null."""
    return round(value, 4) if math.isfinite(value) else None


def compare(turns):
    """`turns`: (our metrics, their metrics) of each. {name: figures} of those that have a better and a worse."""
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


def play(bench, build, whose, options):
    """The metrics of one turn."""
    with tempfile.TemporaryDirectory(prefix="rekindle-against-") as folder:
        report = pathlib.Path(folder, "report.json")
        script = str(REPO / "bench" / f"{bench}.py")
        done = subprocess.run([sys.executable, script, "--turn", *options, "--report", str(report)],
                              stdout=subprocess.DEVNULL, env={**os.environ, "REKINDLE_BUILD": str(build)})
        if done.returncode != 0:
            sys.exit(f"error: bench/{bench}.py ended with {done.returncode} on the programs of {whose}: "
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
        # Who comes first changes, so that what a turn leaves behind meets both.
        order = list(sides) if turn % 2 == 0 else list(reversed(sides))
        got = {whose: play(args.bench, sides[whose], whose, options) for whose in order}
        turns.append(tuple(got[whose] for whose in sides))
        print(f"turn {turn + 1} of {args.turns}", file=sys.stderr, flush=True)
    metrics = compare(turns)
    if not metrics:
        sys.exit(f"error: bench/{args.bench}.py has no metric to compare")
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
