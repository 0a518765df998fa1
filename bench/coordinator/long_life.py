"""Measures whether memory, disk and time for an event stay constant in a year of machines that live for an hour."""
import json
import os
import subprocess
import sys
import tempfile

from _bench_json import LOWER, NEITHER, Report, program
from _options import Options

# By default a coordinator keeps the records of the last `KEPT` finished jobs.
KEPT, DAYS_OF_A_YEAR = 1000, 365
# `MOST_GROWTH` is the largest factor by which a figure may grow from a tenth of the time to its end.
MOST_GROWTH = 1.05
# The database is in memory, because how fast a disk makes half a million transactions durable is not measured.
MEMORY = "/dev/shm"
# In a run of at least `SETTLED` days, the log of events is full before a tenth of the time has passed.
SETTLED = 170
METRICS = {"memory_growth": LOWER, "database_growth": LOWER, "event_growth": LOWER, "not_admitted": LOWER,
           "paused": LOWER, "memory": LOWER, "database": LOWER, "event": LOWER, "crowded_out": NEITHER,
           "nodes": NEITHER, "jobs": NEITHER}


class Life:
    """Runs rekindle-bench-long-life, which plays a window of the life by turns.

    The core in it keeps 0.8 times as many finished jobs as end in a tenth of the time, so that their number no longer
    grows after that tenth. It keeps at most as many as a coordinator does by default."""

    def __init__(self, args, window, folder):
        keep = max(1, min(KEPT, int(0.8 * args.jobs_a_year * args.days / DAYS_OF_A_YEAR / 10)))
        sizes = {"window": window, "nodes": args.nodes, "days": args.days, "jobs-a-year": args.jobs_a_year,
                 "keep-jobs": keep, "seed": args.seed, "folder": folder}
        flags = [word for name, value in sizes.items() for word in (f"--{name}", str(value))]
        self.process = subprocess.Popen([program("rekindle-bench-long-life"), *flags], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.figures = None

    def read(self):
        """Waits until the program has played a turn, or its whole life."""
        line = self.process.stdout.readline()
        if line.startswith("{"):
            self.figures = json.loads(line)
        elif not line:
            sys.exit(f"error: {' '.join(self.process.args)} ended with exit code {self.process.wait()}")

    def turn(self):
        if self.figures is None:
            print(file=self.process.stdin, flush=True)
            self.read()


def play(args):
    """Returns the figures of the first window and of the last one, which are played by turns."""
    memory = MEMORY if os.path.isdir(MEMORY) else None
    with tempfile.TemporaryDirectory(dir=memory) as early, tempfile.TemporaryDirectory(dir=memory) as late:
        lives = [Life(args, "first", early), Life(args, "last", late)]
        try:
            for life in lives:
                life.read()
            while any(life.figures is None for life in lives):
                for life in lives:
                    life.turn()
        finally:
            for life in lives:
                life.process.kill()
                life.process.wait()
        return [life.figures for life in lives]


def main():
    p = Options("long_life", __doc__)
    p.size("days", 365.0, smoke=1.0, turn=2.0, text="of virtual time, in steps of a minute")
    p.size("nodes", 100, smoke=100, text="at any time: one that ends is replaced by one of another name")
    p.size("jobs-a-year", 10_000.0, smoke=10_000.0, text="submitted, at times drawn at random")
    p.size("seed", 1, smoke=1, text="of all that is drawn")
    args = p.parse()
    report = Report("long_life", METRICS, args)
    early, late = play(args)
    first, last, counts = late["tenth"], late["end"], late["counts"]
    for at, sample, window in (("after a tenth", first, early["end"]), ("at the end", last, last)):
        print(f"{at}: {sample['rss_bytes'] / 1e6:.1f} MB of memory, {sample['database_bytes'] / 1e6:.1f} MB on "
              f"disk, {window['event_us']:.1f} us an event; {sample['nodes_known']} nodes and "
              f"{sample['jobs_known']} jobs known", file=sys.stderr)
    print(json.dumps(counts), file=sys.stderr)
    target = MOST_GROWTH if args.days >= SETTLED else None
    report.add("memory_growth", last["rss_bytes"] / first["rss_bytes"], "of a tenth's", target=target)
    report.add("database_growth", last["database_bytes"] / first["database_bytes"], "of a tenth's", target=target)
    report.add("event_growth", last["event_us"] / early["end"]["event_us"], "of a tenth's", target=target)
    waiting = counts["jobs_submitted"] - counts["jobs_started"] - counts["jobs_active"]
    not_admitted = (counts["nodes_came"] - counts["nodes_admitted"] + counts["jobs_refused"] + counts["jobs_failed"]
                    + max(0, waiting))
    report.add("not_admitted", not_admitted, "nodes and jobs", target=0)
    # Nobody pauses a job here, so a paused one has met a fault that the coordinator could not handle.
    report.add("paused", counts["jobs_paused"], "jobs", target=0)
    report.add("memory", last["rss_bytes"] / 1e6, "MB")
    report.add("database", last["database_bytes"] / 1e6, "MB")
    report.add("event", last["event_us"], "us in the core")
    report.add("crowded_out", counts["crowded_out"], "of full lists")
    report.add("nodes", counts["nodes_came"], "that came")
    report.add("jobs", counts["jobs_started"], "that trained")
    if (not_admitted or counts["jobs_paused"]) and not args.judged:
        report.fail(f"{not_admitted} nodes and jobs were not admitted, {counts['jobs_paused']} were paused: {counts}")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
