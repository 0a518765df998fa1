"""Measures the cost of a deadline on spot traces for a job of many nodes: elastic and gangs, each divided by a bound.

The bound is the cost of a plan without any overhead."""
import sys

import _resample
import _traces
from _bench_json import LOWER, Report
from _fleet import groups, mean, p95
from _options import Options
from fleet_cost import SLACK, STARTS_TAKE, sizes

# `PAUSE` is the time in hours for which training pauses when members change, as measured on the real daemon.
PAUSE = 0.3 / 3600
PUBLISHED = {16: {"uniform_progress": 1.52, "gang_optimum": 1.25}, 4: {"uniform_progress": 1.19, "gang_optimum": 1.07}}
# `NAIVE` has the published figures of an elastic job that is always filled up with on-demand nodes.
NAIVE = {16: 1.26, 4: 1.15}
TARGET, UNSEEN_TARGET = 1.13, 1.15
# On the resampled traces, the published policies may cost at most `AS_HARD` percent more or less than on the real
# trace.
AS_HARD = 5
# On each resampled trace the number of jobs that start is that of the real trace divided by `FEWER_STARTS`.
FEWER_STARTS = 3


def published_errors(name, sizes):
    return [name.format(policy=policy, n=n) for n in sizes for policy in PUBLISHED.get(n, {})]


def half_metrics(sizes, half):
    names = [f"{figure}_{n}_nodes_{half}" for n in sizes for figure in ("cost", "deadlines_missed")]
    return dict.fromkeys(names + published_errors(f"{half}_{{policy}}_{{n}}_nodes_error", sizes), LOWER)


def metrics(sizes):
    names = [f"{figure}_{n}_nodes" for n in sizes for figure in ("cost", "deadlines_missed")]
    names += published_errors("model_{policy}_{n}_nodes_error", sizes)
    return {**dict.fromkeys(names, LOWER), **half_metrics(sizes, "unseen")}


METRICS = metrics(PUBLISHED)


def measure(args, group, planner=True):
    """Returns {policy: [cost / bound]}, and how many of the planner's jobs missed their deadline."""
    base = [{"first": first, "hours": args.hours, "deadline": args.hours * slack, "start": start, "pause": PAUSE}
            for start in STARTS_TAKE for slack in SLACK for first in group.starts(args.hours * max(SLACK), args.starts)]
    bounds = group.play([{**job, "policy": "optimum"} for job in base], min=1)
    answers = {"uniform_progress": group.play([{**job, "policy": "uniform_progress"} for job in base]),
               "gang_optimum": group.play([{**job, "policy": "optimum"} for job in base])}
    if planner:
        answers["planner"] = group.play([{**job, "policy": "planner"} for job in base], min=1)
    missed = sum(answer["missed"] for answer in answers.get("planner", []))
    return {name: [answer["cost"] / bound["cost"] for answer, bound in zip(of, bounds)]
            for name, of in answers.items()}, missed


def show(name, ratios):
    for policy, values in ratios.items():
        print(f"{name:16} {policy:18} mean {mean(values):.3f}  p95 {p95(values):.3f}  max {max(values):.3f}",
              file=sys.stderr)


def measure_half(args, report, traces, real):
    """Measures the cost and the missed deadlines of jobs on resampled traces.

    `real` has the mean cost of each policy on the real trace, by number of nodes."""
    half = _resample.half(args)
    resampled, fewer = _resample.of_half(args, traces)
    for nodes, before in real.items():
        ratios, missed = {}, 0
        for group in groups(resampled):
            if group.nodes != nodes:
                continue
            of_seed, late = measure(fewer, group)
            missed += late
            print(f"{group.name}: planner {mean(of_seed['planner']):.3f}", file=sys.stderr)
            for policy, values in of_seed.items():
                ratios.setdefault(policy, []).extend(values)
        name = f"{nodes}_nodes_{half}"
        show(name, ratios)
        report.add(f"cost_{name}", mean(ratios["planner"]), "x bound", target=UNSEEN_TARGET, peer=NAIVE.get(nodes))
        report.add(f"deadlines_missed_{name}", missed, f"of {len(ratios['planner'])}", target=0)
        for policy in PUBLISHED.get(nodes, {}):
            harder = mean(ratios[policy]) / before[policy] - 1
            print(f"{name:16} {policy} costs {100 * harder:+.1f} % of what it does on the real trace", file=sys.stderr)
            report.add(f"{half}_{policy}_{nodes}_nodes_error", 100 * abs(harder), "%", target=AS_HARD)


def main():
    p = Options("fleet_elastic", __doc__)
    sizes(p)
    _resample.options(p, seeds=8, fewer=FEWER_STARTS)
    args = p.parse()
    report = Report("fleet_elastic", METRICS, args)
    if (traces := _traces.folder(args)) is None:
        return report.skip(_traces.MISSING)
    gangs = [group for group in groups(traces) if group.nodes > 1]
    of = {group.nodes for group in gangs}
    report.expect(half_metrics(of, "seen") if args.seen else metrics(of))
    real = {}
    for group in gangs:
        ratios, missed = measure(args, group, planner=not args.seen)
        real[group.nodes] = {policy: mean(values) for policy, values in ratios.items()}
        if args.seen:
            continue
        name = f"{group.nodes}_nodes"
        show(name, ratios)
        report.add(f"cost_{name}", mean(ratios["planner"]), "x bound", target=TARGET, peer=NAIVE.get(group.nodes))
        report.add(f"deadlines_missed_{name}", missed, f"of {len(ratios['planner'])}", target=0)
        for policy, published in PUBLISHED.get(group.nodes, {}).items():
            report.add(f"model_{policy}_{name}_error", 100 * abs(mean(ratios[policy]) / published - 1), "%", target=2)
    measure_half(args, report, traces, real)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
