"""Measures how many jobs miss their deadline when starts take longer than stated or on-demand capacity is refused."""
import sys

import _traces
from _bench_json import LOWER, NEITHER, Report
from _options import Options
from fleet_cost import measure, sizes, weighted

# `REFUSAL` is the number of hours for which on-demand capacity is refused each time it is asked for.
REFUSAL = 0.5
# Each case is (name, what happens that the planner does not expect, share of jobs that may miss their deadline).
CASES = [("starts_as_stated", {}, 0), ("starts_take_twice", {"factor": 2}, 0),
         ("starts_take_four_times", {"factor": 4}, 0.05), ("on_demand_refused_30_min", {"refusal": REFUSAL}, 0.05)]
METRICS = {**{f"{figure}_{name}": LOWER for name, _, _ in CASES for figure in ("missed", "cost")},
           "cost_of_the_margin": NEITHER}


def main():
    p = Options("fleet_robust", __doc__)
    sizes(p)
    args = p.parse()
    report = Report("fleet_robust", METRICS, args)
    if (traces := _traces.folder(args)) is None:
        return report.skip(_traces.MISSING)
    for name, surprises, target in CASES:
        jobs = measure(args, traces, 3, ("planner",), **surprises)
        missed = sum(job.missed["planner"] for job in jobs) / len(jobs)
        report.add(f"missed_{name}", 100 * missed, "%", target=100 * target)
        report.add(f"cost_{name}", weighted(jobs, "planner"), "x optimum of starts as stated")
        print(f"{name:28} missed {100 * missed:5.2f} %   cost {weighted(jobs, 'planner'):.3f}", file=sys.stderr)
    # The planner keeps a margin before the deadline for unexpected events. `cost_of_the_margin` is how much more jobs
    # cost with the margin when no such event happens.
    careless = weighted(measure(args, traces, 3, ("planner",), margin=0), "planner")
    careful = weighted(measure(args, traces, 3, ("planner",)), "planner")
    report.add("cost_of_the_margin", careful - careless, "x optimum", target=0.02)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
