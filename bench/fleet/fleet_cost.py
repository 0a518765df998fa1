"""Measures the cost of a deadline on spot traces: planner and known policies, each divided by the optimum."""
import sys

import _resample
import _traces
from _bench_json import LOWER, NEITHER, Report
from _fleet import groups, mean, p95
from _options import Options

# `STARTS_TAKE` has the times, in hours, that a new node takes to start.
STARTS_TAKE = (0.02, 0.1, 0.25, 0.5)
# `SLACK` has values of the deadline divided by the work.
SLACK = (1.1, 1.2, 1.4, 1.6)
# On a trace longer than `LONG_DAYS` days, twice as many jobs start.
LONG_DAYS = 40
# `BASELINES` maps a name to (policy, which zones, mean in the published table). The model of this bench must repeat the
# published mean to 2 %.
BASELINES = {"on_demand": ("on_demand", "all", 2.50), "greedy_one_zone": ("next_zone", "each", 1.42),
             "uniform_progress_one_zone": ("uniform_progress", "each", 1.36), "next_zone": ("next_zone", "all", 1.19),
             "uniform_progress": ("uniform_progress", "all", 1.16)}
BEST_TWO = ("next_zone", "uniform_progress")
# `DEARER` maps the price of an on-demand node, as a multiple of a spot node's, to a target for the mean or to None.
DEARER = {5: 1.18, 9: None}
METRICS = {**dict.fromkeys(("mean", "p95", "cells_above_the_better_baseline", "deadlines_missed"), LOWER),
           **{f"model_{name}": NEITHER for name in BASELINES}, **{f"model_{name}_error": LOWER for name in BASELINES},
           **{f"mean_at_price_ratio_{ratio}": LOWER for ratio in DEARER}, "mean_unseen": LOWER,
           "deadlines_missed_unseen": LOWER}
TARGET = 1.10


def sizes(options):
    """Adds the options that all benches of jobs with a deadline have: the work of a job, and how many jobs start."""
    options.size("hours", 48.0, smoke=6.0, text="of work of a job")
    options.size("starts", 12, smoke=2, text="of jobs, on each trace")


class Job:
    """Holds what one job of a group cost under each policy, divided by the optimum."""

    def __init__(self, group, start, slack, weight):
        self.group, self.start, self.slack, self.weight = group, start, slack, weight
        self.ratios, self.missed = {}, {}


# OPTIMA maps (price of an on-demand node divided by that of a spot node, group) to the optimal cost of each job of the
# group, in the order in which `measure` lists the jobs.
OPTIMA = {}


def measure(args, traces, ratio, policies, **surprises):
    """Plays all jobs. An on-demand node costs `ratio` times as much as a spot node.

    `surprises`, such as slow starts of nodes, happen to the planner's jobs and not to those of the other policies."""
    jobs = []
    for group in groups(traces):
        count = args.starts * (2 if group.steps * group.step_hours > 24 * LONG_DAYS else 1)
        firsts = group.starts(args.hours * max(SLACK), count)
        of_group, runs, optima = [], [], []
        for start in STARTS_TAKE:
            for slack in SLACK:
                for first in firsts:
                    base = {"first": first, "hours": args.hours, "deadline": args.hours * slack, "start": start}
                    of_group.append(Job(group, start, slack, 1 / count))
                    optima.append({**base, "policy": "optimum"})
                    for name in policies:
                        if name == "planner":
                            runs.append({**base, "policy": "planner", **surprises})
                        elif BASELINES[name][1] == "all":
                            runs.append({**base, "policy": BASELINES[name][0]})
                        else:
                            runs += [{**base, "policy": BASELINES[name][0], "zone": z} for z in range(group.zones)]
        if (ratio, group.name) not in OPTIMA:
            OPTIMA[ratio, group.name] = [answer["cost"] for answer in group.play(optima, on_demand=ratio)]
        answers = iter(group.play(runs, on_demand=ratio))
        for job, optimum in zip(of_group, OPTIMA[ratio, group.name]):
            for name in policies:
                zones = group.zones if name != "planner" and BASELINES[name][1] == "each" else 1
                got = [next(answers) for _ in range(zones)]
                job.ratios[name] = [g["cost"] / optimum for g in got]
                job.missed[name] = sum(g["missed"] for g in got)
        jobs += of_group
    return jobs


def weighted(jobs, name):
    """Returns the mean over the jobs of what the policy costs. Each trace group has the same weight in it."""
    return sum(mean(j.ratios[name]) * j.weight for j in jobs) / sum(j.weight for j in jobs)


def spread(jobs, name):
    return [ratio for job in jobs for ratio in job.ratios[name]]


def cells(jobs, name):
    return {(d, s): weighted([j for j in jobs if (j.start, j.slack) == (d, s)], name) for d in STARTS_TAKE
            for s in SLACK}


def show(jobs):
    print(f"{'policy':28} {'mean':>6} {'p95':>6} {'max':>6} {'missed':>6}", file=sys.stderr)
    for name in jobs[0].ratios:
        all_of = spread(jobs, name)
        print(f"{name:28} {weighted(jobs, name):6.3f} {p95(all_of):6.3f} {max(all_of):6.3f} "
              f"{sum(j.missed[name] for j in jobs):6d}", file=sys.stderr)
    print("\nmean by start (h) and deadline / work: planner (next zone / uniform progress)", file=sys.stderr)
    by = {name: cells(jobs, name) for name in ("planner", *BEST_TWO)}
    for d in STARTS_TAKE:
        row = (f"{by['planner'][d, s]:.3f} ({by['next_zone'][d, s]:.2f} / {by['uniform_progress'][d, s]:.2f})"
               for s in SLACK)
        print(f"{d:5} h  " + "   ".join(row), file=sys.stderr)


def better(jobs):
    """Takes the mean of the better baseline in each cell, a pair (start, slack). Returns the mean over all cells."""
    return mean(min(cells(jobs, name)[cell] for name in BEST_TWO) for cell in cells(jobs, "planner"))


def measure_half(args, report, traces):
    resampled, fewer = _resample.of_half(args, traces)
    jobs = measure(fewer, resampled, 3, ("planner", *BEST_TWO))
    half = _resample.half(args)
    report.add(f"mean_{half}", weighted(jobs, "planner"), "x optimum", target=TARGET, peer=better(jobs))
    report.add(f"deadlines_missed_{half}", sum(j.missed["planner"] for j in jobs), f"of {len(jobs)}", target=0)


def main():
    p = Options("fleet_cost", __doc__)
    sizes(p)
    _resample.options(p, seeds=4, fewer=6)
    args = p.parse()
    report = Report("fleet_cost", METRICS, args)
    if (traces := _traces.folder(args)) is None:
        return report.skip(_traces.MISSING)
    if args.seen:
        report.expect(dict.fromkeys(("mean_seen", "deadlines_missed_seen"), LOWER))
        measure_half(args, report, traces)
        return report.finish()
    jobs = measure(args, traces, 3, ("planner", *BASELINES))
    show(jobs)
    report.add("mean", weighted(jobs, "planner"), "x optimum", target=TARGET, peer=better(jobs))
    report.add("p95", p95(spread(jobs, "planner")), "x optimum", target=1.35,
               peer=p95(spread(jobs, "uniform_progress")))
    dearer = sum(cells(jobs, "planner")[c] > min(cells(jobs, n)[c] for n in BEST_TWO) for c in cells(jobs, "planner"))
    report.add("cells_above_the_better_baseline", dearer, "of 16", target=0)
    report.add("deadlines_missed", sum(j.missed["planner"] for j in jobs), f"of {len(jobs)}", target=0)
    for name, (_, _, published) in BASELINES.items():
        report.add(f"model_{name}", weighted(jobs, name), "x optimum", peer=published)
        error = abs(weighted(jobs, name) / published - 1)
        report.add(f"model_{name}_error", 100 * error, "%", target=2)
    for ratio, target in DEARER.items():
        jobs = measure(args, traces, ratio, ("planner", *BEST_TWO))
        report.add(f"mean_at_price_ratio_{ratio}", weighted(jobs, "planner"), "x optimum", target=target,
                   peer=better(jobs))
    measure_half(args, report, traces)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
