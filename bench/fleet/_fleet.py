"""Holds what the fleet benches share: the development traces and the program that plays jobs on them."""
import json
import pathlib
import subprocess
import sys

from _bench_json import program

PROGRAM = "rekindle-bench-fleet"
# If the ticks of a trace are shorter than `SHORT_TICK` seconds, `MERGED` of its ticks are played as one.
SHORT_TICK = 60
MERGED = 6


def play(request):
    done = subprocess.run([program(PROGRAM)], input=json.dumps(request), stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"error: the simulator exited with {done.returncode}")
    return json.loads(done.stdout)


class Group:
    """Describes one trace file, whose zones were recorded at the same time."""

    def __init__(self, entry, folder):
        self.name = pathlib.Path(entry["file"]).stem
        self.zones = len(entry["zones"])
        self.nodes = entry["max_nodes"]
        merge = MERGED if entry["gap_seconds"] < SHORT_TICK else 1
        self.request = {"trace": str(folder / entry["file"]), "step_seconds": entry["gap_seconds"], "merge": merge,
                        "nodes": self.nodes}
        self.step_hours = entry["gap_seconds"] * merge / 3600
        self.steps = min(entry["ticks"].values()) // merge

    def starts(self, hours, count):
        """Returns `count` evenly spaced steps of the trace from which a run of `hours` ends within the trace."""
        room = self.steps - int(-(-hours // self.step_hours))
        return [room * i // (count - 1) for i in range(count)]

    def play(self, runs, **changes):
        return play({**self.request, **changes, "runs": runs})["runs"]


def groups(folder):
    """Returns a Group for each trace file of spot capacity in the folder, those with the fewest nodes first."""
    manifest = json.loads((folder / "manifest.json").read_text())
    found = [Group(entry, folder) for entry in manifest if "zones" in entry and (folder / entry["file"]).exists()]
    return sorted(found, key=lambda group: group.nodes)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def p95(values):
    values = sorted(values)
    return values[len(values) * 95 // 100]
