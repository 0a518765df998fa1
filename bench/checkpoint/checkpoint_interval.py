"""Measures the total cost of saves and lost work on real spot traces, with interval auto beside fixed intervals."""
import csv
import json
import statistics
import subprocess
import sys

import _traces
from _bench_json import LOWER, Report, program
from _options import Options

PROGRAM = "rekindle-bench-checkpoint-interval"
FIXED = [10, 30, 60, 300, 600, 1800, 3600]
# `SAVES` maps a name to (seconds of training that a save costs, seconds until it is durable). The entries stand for a
# small model, a large model and a slow store.
SAVES = {"cheap": (0.05, 3), "usual": (0.5, 15), "dear": (5, 90)}
LOSES = {"any": "every interruption loses the state", "all": "a live replica answers, while one is left"}
METRICS = {f"waste_{cost}_{loses}": LOWER for loses in LOSES for cost in SAVES}
# With `auto`, the cost of saves and lost work may be `RATIO` times as high as with the fixed interval that turned out
# best for the trace and the cost of a save. Nobody can know that interval in advance.
RATIO = 1.3


def merged(segments):
    """Joins neighbouring segments (seconds, nodes) that have the same number of nodes."""
    out = []
    for seconds, nodes in segments:
        if out and out[-1][1] == nodes:
            out[-1][0] += seconds
        else:
            out.append([seconds, nodes])
    return out


def traces(folder):
    """Returns {name: [[seconds, nodes], ...]}, with an entry for each zone of a trace."""
    found = {}
    for entry in json.loads((folder / "manifest.json").read_text()):
        gap = entry.get("gap_seconds")
        path = folder / entry["file"]
        if not gap or "ticks" not in entry or not path.exists():
            continue
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        for zone in entry["ticks"]:
            counts = [int(row[zone]) for row in rows if row[zone] != ""]
            found[f"{path.stem}/{zone}"] = merged([[gap, n] for n in counts])
    path = folder / _traces.COUNT
    if path.exists():
        with open(path, newline="") as file:
            rows = [(float(row["seconds"]), int(row["count"])) for row in csv.DictReader(file)]
        found[path.stem] = merged([[b[0] - a[0], a[1]] for a, b in zip(rows, rows[1:])])
    return found


def play(segments, loses, save, write):
    request = {"segments": segments, "loses": loses, "save_seconds": save, "write_seconds": write, "fixed": FIXED}
    done = subprocess.run([program(PROGRAM)], input=json.dumps(request), stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"error: the simulation exited with {done.returncode}")
    return json.loads(done.stdout)["policies"]


def main():
    p = Options("checkpoint_interval", __doc__)
    args = p.parse()
    report = Report("checkpoint_interval", METRICS, args)
    if (folder := _traces.folder(args)) is None:
        return report.skip(_traces.MISSING)

    names = ["auto"] + [str(s) for s in FIXED]
    found = traces(folder)
    for loses, meaning in LOSES.items():
        print(f"\n{meaning}: % of the time spent on saves + lost, mean of {len(found)} traces", file=sys.stderr)
        print(f"{'save':>8} " + " ".join(f"{name:>14}" for name in names), file=sys.stderr)
        for cost, (save, write) in SAVES.items():
            runs = [play(segments, loses, save, write) for segments in found.values()]
            total = lambda run, name: 100 * (run[name]["saves"] + run[name]["lost"])
            mean = lambda name, part: statistics.mean(100 * run[name][part] for run in runs)
            print(f"{cost:>8} " + " ".join(f"{mean(n, 'saves'):6.2f} +{mean(n, 'lost'):6.2f}" for n in names),
                  file=sys.stderr)
            best = statistics.mean(min(total(run, n) for n in names[1:]) for run in runs)
            report.add(f"waste_{cost}_{loses}", statistics.mean(total(run, "auto") for run in runs), "%", peer=best,
                       target_ratio=RATIO if loses == "any" else None)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
