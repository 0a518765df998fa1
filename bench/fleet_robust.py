"""Deadlines that surprises make a job miss: starts that take longer than stated, on-demand capacity that is refused."""
import argparse
import sys

from _bench_json import Report
from _fleet import skipped
from fleet_cost import measure, weighted

REFUSAL = 0.5  # Hours, each time on-demand capacity is asked for.
# (name, the planner's surprises, share of jobs that may miss)
CASES = [("starts_as_stated", {}, 0), ("starts_take_twice", {"factor": 2}, 0), ("starts_take_four_times", {"factor": 4}, 0.05),
         ("on_demand_refused_30_min", {"refusal": REFUSAL}, 0.05)]


def main():
    p = argparse.ArgumentParser(prog="scripts/bench fleet-robust", description=__doc__)
    p.add_argument("--report", metavar="FILE")
    args = p.parse_args()
    report = Report("fleet_robust")
    if (code := skipped(report, args.report)) is not None:
        return code
    for name, surprises, target in CASES:
        jobs = measure(3, ("planner",), **surprises)
        missed = sum(job.missed["planner"] for job in jobs) / len(jobs)
        report.add(f"missed_{name}", 100 * missed, "%", target=100 * target, lower_is_better=True)
        report.add(f"cost_{name}", weighted(jobs, "planner"), "x optimum of starts as stated")
        print(f"{name:28} missed {100 * missed:5.2f} %   cost {weighted(jobs, 'planner'):.3f}", file=sys.stderr)
    # What being ready for all this costs where nothing happens.
    careless = weighted(measure(3, ("planner",), margin=0), "planner")
    report.add("cost_of_the_margin", weighted(measure(3, ("planner",)), "planner") - careless, "x optimum", target=0.02,
               lower_is_better=True)
    return report.finish(args.report)


if __name__ == "__main__":
    sys.exit(main())
