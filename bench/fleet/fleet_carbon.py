"""Measures how much CO2 a job saves in cleaner hours and regions, at a cost at most 2 % above the cheapest plan."""
import sys

import _traces
from _bench_json import HIGHER, LOWER, Report
from _fleet import mean, play
from _options import Options

# `WORK` is the work of one job in node-hours. A job has 1 to `NODES` nodes.
WORK = 24
NODES = 4
DEADLINE = 36
# `START` is the time in hours that a machine takes to boot and to join, together 180 s.
START = 0.05
STEP = 600
# `HISTORY` is the number of hours of the year before the first job starts.
HISTORY = 8 * 24
# `EVERY` is the number of hours between the starts of two jobs. It makes the jobs cover all hours of the day and all
# days of the week.
EVERY = 97
TARGETS = {"US-CAL-CISO": 26, "ES": 15, "NO": None}
METRICS = {f"{figure}_{case}": better for case in (*TARGETS, "clean_region") for figure, better in (
    ("saved", HIGHER), ("cost", LOWER), ("over_budget", LOWER), ("deadlines_missed", LOWER))}


def measure(traces, zones, base_region):
    """Plays jobs in `zones` and compares them with one node that starts at once in `base_region`.

    Returns the percent of CO2 saved, the highest cost divided by that of the cheapest plan, and the most by which a job
    exceeds its budget."""
    hours = 8760 - DEADLINE - 2
    request = {"constant": {region: NODES for region in zones}, "steps": hours * 3600 // STEP, "step_seconds": STEP,
               "regions": {region: region for region in zones},
               "carbon": {region: str(traces / _traces.carbon_file(region)) for region in zones}}
    firsts = range(HISTORY * 3600 // STEP, request["steps"] - DEADLINE * 3600 // STEP, EVERY * 3600 // STEP)
    at_once = play({**request, "constant": {base_region: 1}, "nodes": 1,
                    "runs": [{"policy": "next_zone", "first": f, "hours": WORK, "deadline": DEADLINE, "start": START}
                             for f in firsts]})
    cheapest = WORK + START
    jobs = [{"policy": "planner", "first": f, "hours": WORK / NODES, "deadline": DEADLINE, "start": START,
             "green": True, "budget": 1.02 * cheapest} for f in firsts]
    green = play({**request, "nodes": NODES, "min": 1, "runs": jobs})
    pairs = list(zip(at_once["runs"], green["runs"]))
    saved = 100 * (1 - sum(g["grams"] for _, g in pairs) / sum(a["grams"] for a, _ in pairs))
    each = 100 * mean(1 - g["grams"] / a["grams"] for a, g in pairs)
    return {"saved": saved, "each": each, "cost": max(g["cost"] for _, g in pairs) / cheapest,
            "over_budget": max(g["over_budget"] for _, g in pairs), "missed": sum(g["missed"] for _, g in pairs),
            "jobs": len(pairs)}


def main():
    p = Options("fleet_carbon", __doc__)
    args = p.parse()
    report = Report("fleet_carbon", METRICS, args)
    if (traces := _traces.folder(args)) is None:
        return report.skip(_traces.MISSING)
    cases = {region: ((region,), region, target) for region, target in TARGETS.items()}
    cases["clean_region"] = (("US-CAL-CISO", "NO"), "US-CAL-CISO", 50)
    for name, (zones, base, target) in cases.items():
        got = measure(traces, zones, base)
        report.add(f"saved_{name}", got["saved"], "%", target=target)
        report.add(f"cost_{name}", got["cost"], "x cheapest plan", target=1.02)
        report.add(f"over_budget_{name}", got["over_budget"], "node-hours on spot", target=0)
        report.add(f"deadlines_missed_{name}", got["missed"], f"of {got['jobs']}", target=0)
        print(f"{name:14} saved {got['saved']:.1f} % (mean of jobs {got['each']:.1f} %), "
              f"highest cost {got['cost']:.3f}", file=sys.stderr)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
