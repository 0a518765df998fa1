"""Counts what the fake device finds in thousands of plays, and the steps that kills cost while ranks use NCCL.

It runs two tests, which say what they have counted: plays of small jobs with a break, a joiner and a restore
(worker/train/engine/device_play_test.cc), and kills of ranks that exchange by NCCL (tests/e2e/nccl_kills_test.py). No
figure is a speed."""
import functools
import os
import re
import subprocess
import sys

from _bench_json import HIGHER, LOWER, NEITHER, REPO, Report, program
from _options import Options, run_all

PLAYS = "Kinds/DevicePlayTestOfKind.NoOrderIsMissingAndTheWeightsAreThoseOfTheHost/"
ORDERS = "DevicePlayTest.EachOrderThatIsTakenOutIsFound"
KINDS = ("Whole", "Sharded", "SixteenBit", "WholeByNccl", "ShardedByNccl")
KILLS = REPO / "tests" / "e2e" / "nccl_kills_test.py"
TESTS = ("test_two_ranks", "test_three_ranks", "test_four_ranks", "test_the_rank_that_makes_the_id",
         "test_a_joiner_that_is_given_the_state", "test_the_rank_that_gives_a_joiner_the_state")
METRICS = {"plays": NEITHER, "unordered_accesses": LOWER, "wrong_digests": LOWER, "orders_taken_out": NEITHER,
           "orders_found": HIGHER, "kills": NEITHER, "steps_lost": LOWER}


def counted(report, command, pattern, **settings):
    """Runs a test, and returns the numbers of each line of its output that has the pattern.

    A test that fails makes the bench fail, and still says what it has counted."""
    done = subprocess.run(command, env={**os.environ, **{name: str(value) for name, value in settings.items()}},
                          capture_output=True, text=True)
    if done.returncode != 0:
        report.fail(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    lines = re.findall(pattern, done.stdout, re.MULTILINE)
    if not lines:
        sys.exit(f"error: {' '.join(command)} has not said what it counted")
    return [[int(number) for number in line] for line in lines]


def plays(report, args, kind):
    return counted(report, [program("device_play_test"), f"--gtest_filter={PLAYS}{kind}"],
                   r"^(\d+) plays, .*?(\d+) unordered accesses, (\d+) wrong digests$",
                   REKINDLE_PLAY_SEEDS=args.seeds, REKINDLE_PLAY_FIRST_SEED=args.first_seed)


def orders(report, args):
    return counted(report, [program("device_play_test"), f"--gtest_filter={ORDERS}"],
                   r"^(\d+) orders taken out, (\d+) found$", REKINDLE_PLAY_ORDERS=args.orders)


def kills(report, args, test):
    return counted(report, [sys.executable, str(KILLS), f"NcclKillsTest.{test}"],
                   r"^kill at .* of (\d+) ranks: (\d+) steps lost$",
                   REKINDLE_KILL_POINTS=args.points, REKINDLE_KILL_STEPS=args.steps)


def main():
    p = Options("device", __doc__)
    p.size("seeds", 2000, smoke=1, turn=5, text="seeds of each of the five kinds of plays")
    p.size("orders", 1000, smoke=1, turn=3, text="the most orders that are taken out")
    p.size("points", 100, smoke=1, turn=1, text="the most points at which each number of ranks loses one")
    p.size("steps", 120, smoke=120, text="steps of a job that loses a rank")
    p.add_argument("--first-seed", type=int, default=0, help="the first seed (default: 0)")
    args = p.parse()
    report = Report("device", METRICS, args)
    # A run that is not judged has one kind of plays and one number of ranks.
    some = None if args.judged else 1
    kinds, tests = KINDS[:some], TESTS[1:2] if some else TESTS
    calls = [*(functools.partial(plays, report, args, kind) for kind in kinds), functools.partial(orders, report, args),
             *(functools.partial(kills, report, args, test) for test in tests)]
    got = run_all(args, calls)
    played, [taken_out], killed = sum(got[:len(kinds)], []), got[len(kinds)], sum(got[len(kinds) + 1:], [])
    report.add("plays", sum(play[0] for play in played), "plays")
    report.add("unordered_accesses", sum(play[1] for play in played), "reports", target=0)
    report.add("wrong_digests", sum(play[2] for play in played), "plays", target=0)
    report.add("orders_taken_out", taken_out[0], "orders")
    report.add("orders_found", taken_out[1], "orders", target=taken_out[0])
    report.add("kills", len(killed), "kills")
    report.add("steps_lost", sum(kill[1] for kill in killed), "steps", target=0)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
