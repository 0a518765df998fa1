"""What a deadline costs a job of many nodes on spot traces: elastic, beside gangs, each over a bound without any overhead."""
import sys

import _traces
from _bench_json import LOWER, Report
from _fleet import groups, mean, p95
from _options import Options
from fleet_cost import SLACK, STARTS_TAKE, sizes

PAUSE = 0.3 / 3600  # As measured on the real daemon.
PUBLISHED = {16: {"uniform_progress": 1.52, "gang_optimum": 1.25}, 4: {"uniform_progress": 1.19, "gang_optimum": 1.07}}
NAIVE = {16: 1.26, 4: 1.15}  # Published: elastic, always filled up on demand.
TARGET = 1.13


def metrics(sizes):
    names = [f"{figure}_{n}_nodes" for n in sizes for figure in ("cost", "deadlines_missed")]
    names += [f"model_{policy}_{n}_nodes_error" for n in sizes for policy in PUBLISHED.get(n, {})]
    return dict.fromkeys(names, LOWER)


METRICS = metrics(PUBLISHED)


def measure(args, group):
    """{policy: [cost / bound]}, and how many jobs missed their deadline."""
    ratios, missed = {name: [] for name in ("planner", "uniform_progress", "gang_optimum")}, 0
    base = [{"first": first, "hours": args.hours, "deadline": args.hours * slack, "start": start, "pause": PAUSE}
            for start in STARTS_TAKE for slack in SLACK for first in group.starts(args.hours * max(SLACK), args.starts)]
    bounds = group.play([{**job, "policy": "optimum"} for job in base], min=1)
    ours = group.play([{**job, "policy": "planner"} for job in base], min=1)
    gangs = group.play([{**job, "policy": "uniform_progress"} for job in base])
    optima = group.play([{**job, "policy": "optimum"} for job in base])
    for bound, our, gang, optimum in zip(bounds, ours, gangs, optima):
        missed += our["missed"]
        for name, answer in (("planner", our), ("uniform_progress", gang), ("gang_optimum", optimum)):
            ratios[name].append(answer["cost"] / bound["cost"])
    return ratios, missed


def main():
    p = Options("fleet_elastic", __doc__)
    sizes(p)
    args = p.parse()
    report = Report("fleet_elastic", METRICS, args)
    if (traces := _traces.folder(args)) is None:
        return report.skip(_traces.MISSING)
    gangs = [group for group in groups(traces) if group.nodes > 1]
    report.expect(metrics([group.nodes for group in gangs]))
    for group in gangs:
        ratios, missed = measure(args, group)
        name = f"{group.nodes}_nodes"
        for policy, values in ratios.items():
            print(f"{name:10} {policy:18} mean {mean(values):.3f}  p95 {p95(values):.3f}  max {max(values):.3f}", file=sys.stderr)
        report.add(f"cost_{name}", mean(ratios["planner"]), "x bound", target=TARGET, peer=NAIVE.get(group.nodes))
        report.add(f"deadlines_missed_{name}", missed, f"of {len(ratios['planner'])}", target=0)
        for policy, published in PUBLISHED.get(group.nodes, {}).items():
            report.add(f"model_{policy}_{name}_error", 100 * abs(mean(ratios[policy]) / published - 1), "%", target=2)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
