"""Makes traces that are as hard as a public one by putting its windows in another order.

Nobody has looked at the course of such a trace, so a planner cannot have been fitted to it. A made-up trace of
independent spells would be too easy, because in real traces scarce periods follow each other. So windows of the real
trace are kept whole. The trace is treated as a ring and turned to a random start, cut into windows, and these are
shuffled. In each window the zones are exchanged. Each row appears once, so there is as much capacity as before.

A window is 48 h. In the trace of 16 nodes the autocorrelation falls from 0.76 after an hour to 0.34 after 48 h, the
first whole day below 1/e, and is gone after 72 h, so a window keeps nearly all of that memory. Whole days also keep the
hours of the day together, where scarcity repeats. Longer windows would leave too few of them in the eleven days of that
trace, and would give a job of two days the same course as before.
"""
import argparse
import csv
import json
import pathlib
import random
import tempfile

WINDOW_HOURS = 48
# `HALVES` has the seeds of two groups of resampled traces. Those of `seen` may be looked at while the planner is
# changed. Those of `unseen` are only for the last report.
HALVES = {"seen": range(1, 9), "unseen": range(101, 109)}


def options(parser, seeds, fewer):
    """Adds the options of a bench that plays `seeds` resampled traces.

    On each of them, the number of jobs that start is that of the real trace divided by `fewer`."""
    parser.size("seeds", seeds, smoke=1, turn=1, text="of resampled traces")
    parser.add_argument("--seen", action="store_true",
                        help="only the resampled traces that may be looked at while the planner is changed")
    parser.set_defaults(fewer=fewer)


def half(args):
    return "seen" if args.seen else "unseen"


def of_half(args, traces):
    """Returns the folder of resampled traces that the options ask for, and the options for a bench that plays them."""
    fewer = argparse.Namespace(**{**vars(args), "starts": max(2, args.starts // args.fewer)})
    return folder(traces, HALVES[half(args)][:args.seeds]), fewer


def resample(rows, window, draw):
    """Returns the rows of a trace in resampled order. A row has each zone's nodes at one tick.

    REQUIRES: `window` is positive."""
    start = draw.randrange(len(rows))
    ring = rows[start:] + rows[:start]
    windows = [ring[i:i + window] for i in range(0, len(ring), window)]
    draw.shuffle(windows)
    out = []
    for part in windows:
        order = draw.sample(range(len(rows[0])), len(rows[0]))
        out += [[row[zone] for zone in order] for row in part]
    return out


def read(path, zones, ticks):
    with open(path, newline="", encoding="utf-8") as file:
        lines = csv.DictReader(file)
        return [[line[zone] for zone in zones] for line, _ in zip(lines, range(ticks))]


def folder(traces, seeds):
    """Makes a folder that has each trace of spot capacity in `traces` once for each seed.

    The folder exists until the program ends."""
    made = tempfile.TemporaryDirectory(prefix="rekindle-resampled-")
    folder.kept.append(made)
    here, manifest = pathlib.Path(made.name), []
    for entry in json.loads((traces / "manifest.json").read_text()):
        if "zones" not in entry or not (traces / entry["file"]).exists():
            continue
        rows = read(traces / entry["file"], entry["zones"], min(entry["ticks"].values()))
        window = round(WINDOW_HOURS * 3600 / entry["gap_seconds"])
        for seed in seeds:
            name = f"seed_{seed}_{entry['file']}"
            again = resample(rows, window, random.Random(f"{seed} {entry['file']}"))
            with open(here / name, "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([["tick", *entry["zones"]], *([i, *row] for i, row in enumerate(again))])
            manifest.append({**entry, "file": name, "ticks": dict.fromkeys(entry["zones"], len(again))})
    (here / "manifest.json").write_text(json.dumps(manifest))
    return here


folder.kept = []
