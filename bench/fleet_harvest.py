"""What share of the spot node-hours that are granted becomes useful work, where nodes come and go and no deadline presses."""
import argparse
import sys

from _bench_json import Report
from _fleet import TRACES, groups, play, skipped

SECOND = 1 / 3600
# As measured on the real daemon (docs/benchmarks.md, Recovery): the survivors' pause, and joining once the machine is up.
PAUSE = 0.3
JOINING = 1.6
PUBLISHED = {"events_g4dn_aws": 0.91, "count_a100_gcp_2021-12-11": 0.97}  # A joiner needs 360 s, survivors pause 30 s.
TARGETS = {"events_g4dn_aws": 0.965, "count_a100_gcp_2021-12-11": 0.99}


def share(request, start, pause):
    run = {"policy": "planner", "hours": 1e6, "start": start * SECOND, "pause": pause * SECOND, "spot_only": True}
    answer = play({**request, "min": 1, "runs": [run]})
    return answer["runs"][0]["useful"] / answer["granted"]


def main():
    p = argparse.ArgumentParser(prog="scripts/bench fleet-harvest", description=__doc__)
    p.add_argument("--report", metavar="FILE")
    args = p.parse_args()
    report = Report("fleet_harvest")
    if (code := skipped(report, args.report)) is not None:
        return code
    requests = {"events_g4dn_aws": {"trace": str(TRACES / "events_g4dn_aws.csv"), "step_seconds": 10, "nodes": 24},
                "count_a100_gcp_2021-12-11": {"trace": str(TRACES / "count_a100_gcp_2021-12-11.csv"), "step_seconds": 10, "nodes": 64}}
    for group in groups():
        if group.nodes > 1:
            requests[group.name] = {**group.request, "nodes": group.nodes * group.zones}
    for name, request in requests.items():
        if name in PUBLISHED:
            as_published = share(request, 360, 30)
            report.add(f"model_{name}_error", 100 * abs(as_published / PUBLISHED[name] - 1), "%", target=2, lower_is_better=True)
        for boot in (180, 360):
            value = share(request, boot + JOINING, PAUSE)
            target = TARGETS.get(name) if boot == 180 else None
            report.add(f"useful_{name}_boot_{boot}_s", value, "of granted", target=target, peer=PUBLISHED.get(name))
            print(f"{name:34} machine boot {boot} s: {value:.4f}", file=sys.stderr)
    return report.finish(args.report)


if __name__ == "__main__":
    sys.exit(main())
