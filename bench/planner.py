"""How long a planning cycle takes on up to 10,000 nodes and 1,000 jobs, and how that grows; heartbeats and submits through gRPC."""
import argparse
import json
import math
import subprocess
import sys

from _bench_json import Report, program
from _planner_load import heartbeats, submits

SIZES = (100, 300, 1000, 3000, 10_000)  # Nodes; a tenth as many jobs.
ROUNDS = 41


def cycles(report):
    """Medians of one cycle, and its growth against that of n log n."""
    took = {}
    for nodes in SIZES:
        done = subprocess.run([program("rekindle-bench-planner"), str(nodes), str(nodes // 10), str(ROUNDS)],
                              capture_output=True, text=True, check=True)
        got = took[nodes] = json.loads(done.stdout)
        if got["running"] < nodes / 2:
            sys.exit(f"error: of {nodes} nodes only {got['running']} train: that is not the fleet that was to be planned")
        print(f"{nodes:6} nodes, {got['jobs']:4} jobs: cycle {got['cycle_ms']:.2f} ms, heartbeat {1e3 * got['heartbeat_ms']:.1f} us",
              file=sys.stderr)
    low = dict(lower_is_better=True)
    for nodes, got in took.items():
        report.add(f"cycle_{nodes}_nodes", got["cycle_ms"], "ms", target=50 if nodes == SIZES[-1] else None, **low)
    first, last = SIZES[0], SIZES[-1]
    work = (last * math.log(last)) / (first * math.log(first))
    exponent = math.log(took[last]["cycle_ms"] / took[first]["cycle_ms"]) / math.log(work)
    report.add("growth", exponent, "exponent of n log n", target=1, **low)
    report.add("heartbeat", 1e3 * took[last]["heartbeat_ms"], "us in the core", target=100, **low)


PARTS = {"cycles": cycles,    # The core alone.
         "heartbeats": lambda report: heartbeats(report, nodes=10_000, seconds=10),    # The whole coordinator, through gRPC.
         "submits": lambda report: submits(report, jobs=15_000)}


def main():
    p = argparse.ArgumentParser(prog="scripts/bench planner", description=__doc__)
    p.add_argument("--report", metavar="FILE")
    p.add_argument("--part", choices=PARTS, action="append", help="only this one; may be repeated")
    args = p.parse_args()
    report = Report("planner")
    for part in args.part or PARTS:
        PARTS[part](report)
    return report.finish(args.report)


if __name__ == "__main__":
    sys.exit(main())
