"""Measures the share of granted spot node-hours that becomes useful work, for a job without a deadline."""
import pathlib
import sys

import _traces
from _bench_json import HIGHER, LOWER, Report
from _fleet import groups, play
from _options import Options

SECOND = 1 / 3600
# `PAUSE` is how long the other machines pause when one is lost, and `JOINING` how long a machine takes to join once it
# is up. Both are in seconds, as measured on the real daemon (docs/benchmarks.md, Recovery).
PAUSE = 0.3
JOINING = 1.6
# The published figures hold if a new machine takes 360 s to join and the loss of one makes the others pause for 30 s.
PUBLISHED = {"events_g4dn_aws": 0.91, "count_a100_gcp_2021-12-11": 0.97}
TARGETS = {"events_g4dn_aws": 0.965, "count_a100_gcp_2021-12-11": 0.99}
# `BOOTS` has the seconds until a machine is up.
BOOTS = (180, 360)
# `FILES` maps the traces without zones, which groups() leaves out, to the largest number of nodes of their job.
FILES = {_traces.EVENTS: 24, _traces.COUNT: 64}


def metrics(names):
    return {**{f"useful_{name}_boot_{boot}_s": HIGHER for name in names for boot in BOOTS},
            **{f"model_{name}_error": LOWER for name in names if name in PUBLISHED}}


METRICS = metrics((*PUBLISHED, "preempt_v100_4node_aws_2023-08-03", "avail_v100_16node_aws_2023-08-27"))


def share(request, start, pause):
    run = {"policy": "planner", "hours": 1e6, "start": start * SECOND, "pause": pause * SECOND, "spot_only": True}
    answer = play({**request, "min": 1, "runs": [run]})
    return answer["runs"][0]["useful"] / answer["granted"]


def main():
    p = Options("fleet_harvest", __doc__)
    args = p.parse()
    report = Report("fleet_harvest", METRICS, args)
    if (traces := _traces.folder(args)) is None:
        return report.skip(_traces.MISSING)
    requests = {pathlib.Path(file).stem: {"trace": str(traces / file), "step_seconds": 10, "nodes": nodes}
                for file, nodes in FILES.items()}
    for group in groups(traces):
        if group.nodes > 1:
            requests[group.name] = {**group.request, "nodes": group.nodes * group.zones}
    report.expect(metrics(requests))
    for name, request in requests.items():
        if name in PUBLISHED:
            as_published = share(request, 360, 30)
            report.add(f"model_{name}_error", 100 * abs(as_published / PUBLISHED[name] - 1), "%", target=2)
        for boot in BOOTS:
            value = share(request, boot + JOINING, PAUSE)
            target = TARGETS.get(name) if boot == 180 else None
            report.add(f"useful_{name}_boot_{boot}_s", value, "of granted", target=target, peer=PUBLISHED.get(name))
            print(f"{name:34} machine boot {boot} s: {value:.4f}", file=sys.stderr)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
