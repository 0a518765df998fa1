"""Measures a planning cycle on up to 10,000 nodes and 1,000 jobs, its growth, and a coordinator's load through gRPC.

The load is heartbeats, leases, submits and lists."""
import json
import math
import subprocess
import sys

from _bench_json import LOWER, Report, program
from _options import Options
from _planner_load import HEARTBEATS, LISTS, RENEWALS, SUBMITS, heartbeats, lists, renewals, submits

# `SIZES` are numbers of nodes. A cluster has a tenth as many jobs.
SIZES = (100, 300, 1000, 3000, 10_000)
# With --smoke, the number of nodes is divided by `SMOKE_SHARE`, but is at least `SMOKE_LEAST`.
SMOKE_SHARE, SMOKE_LEAST = 10, 100
CYCLES = {**{f"cycle_{nodes}_nodes": LOWER for nodes in SIZES}, "growth": LOWER, "heartbeat": LOWER}


def cycles(report, args):
    """Measures the median time of a planning cycle for each number n of nodes, and compares its growth to n log n."""
    took = {}
    for size in SIZES:
        nodes = max(size // SMOKE_SHARE, SMOKE_LEAST) if args.smoke else size
        done = subprocess.run([program("rekindle-bench-planner"), str(nodes), str(nodes // 10), str(args.rounds)],
                              capture_output=True, text=True, check=True)
        got = took[size] = json.loads(done.stdout)
        if got["running"] < nodes / 2:
            sys.exit(f"error: of {nodes} nodes only {got['running']} train: "
                     "that is not the fleet that was to be planned")
        print(f"{nodes:6} nodes, {got['jobs']:4} jobs: cycle {got['cycle_ms']:.2f} ms, "
              f"heartbeat {1e3 * got['heartbeat_ms']:.1f} us", file=sys.stderr)
    for nodes, got in took.items():
        report.add(f"cycle_{nodes}_nodes", got["cycle_ms"], "ms", target=50 if nodes == SIZES[-1] else None)
    first, last = SIZES[0], SIZES[-1]
    work = (last * math.log(last)) / (first * math.log(first))
    exponent = math.log(took[last]["cycle_ms"] / took[first]["cycle_ms"]) / math.log(work)
    report.add("growth", exponent, "exponent of n log n", target=1)
    report.add("heartbeat", 1e3 * took[last]["heartbeat_ms"], "us in the core", target=100)


# `PARTS` maps a part to (what measures it, its metrics). `cycles` runs the core alone, the other parts a whole
# coordinator through gRPC.
PARTS = {"cycles": (cycles, CYCLES),
         "heartbeats": (lambda report, args: heartbeats(report, args.nodes, args.seconds), HEARTBEATS),
         "renewals": (lambda report, args: renewals(report, args.ranks, args.seconds), RENEWALS),
         "submits": (lambda report, args: submits(report, args.jobs), SUBMITS),
         "lists": (lambda report, args: lists(report, args.jobs, args.nodes, args.lists), LISTS)}
METRICS = {name: better for _, of_part in PARTS.values() for name, better in of_part.items()}


def main():
    p = Options("planner", __doc__)
    p.add_argument("--part", choices=PARTS, action="append", help="only this one; may be repeated")
    p.size("rounds", 41, smoke=1, turn=11, text="of cycles; the first ones come before a fleet has settled")
    p.size("nodes", 10_000, smoke=400, text="that send heartbeats")
    p.size("seconds", 10.0, smoke=0.5, turn=5.0, text="of heartbeats")
    p.size("ranks", 1000, smoke=20, text="that renew their leases, each of a job of its own")
    p.size("jobs", 15_000, smoke=100, text="to submit")
    p.size("lists", 10, smoke=1, text="of all jobs, and as many of all nodes")
    args = p.parse()
    report = Report("planner", METRICS, args)
    parts = args.part or list(PARTS)
    report.expect({name: better for part in parts for name, better in PARTS[part][1].items()})
    for part in parts:
        PARTS[part][0](report, args)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
