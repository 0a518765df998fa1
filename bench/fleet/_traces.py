"""Finds the spot traces that benches play beside the checkout. For --smoke, makes small ones with their names."""
import csv
import datetime
import json
import os
import pathlib
import random
import tempfile

from _bench_json import REPO

MISSING = "no spot traces beside the checkout; set REKINDLE_TRACES"
DAYS = 2
# `CAPACITY` maps the file of a trace to (seconds of a row, nodes, zones).
CAPACITY = {"avail_v100_1node_aws_2022-10-26.csv": (600, 1, ("us-west-2a", "us-west-2b")),
            "preempt_v100_4node_aws_2023-08-03.csv": (300, 4, ("us-east-2a", "us-west-2c")),
            "avail_v100_16node_aws_2023-08-27.csv": (300, 16, ("us-east-2b",))}
# In a trace made for --smoke, the capacity stays as it is for `HOLD` rows.
HOLD = 8
EVENTS, COUNT = "events_g4dn_aws.csv", "count_a100_gcp_2021-12-11.csv"
REGIONS = ("US-CAL-CISO", "ES", "NO")
YEAR = 8760


def folder(args):
    """Returns the folder of traces, or None where there is none."""
    if args.smoke:
        return made_up()
    found = pathlib.Path(os.environ.get("REKINDLE_TRACES") or REPO.parent / "shared" / "traces")
    return found if (found / "manifest.json").exists() else None


def carbon_file(region):
    return f"carbon_{region}_2022.csv"


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def made_up():
    """Makes a folder of traces that exists until the program ends."""
    made = tempfile.TemporaryDirectory(prefix="rekindle-traces-")
    made_up.kept = made
    here, draw = pathlib.Path(made.name), random.Random(1)
    manifest = []
    for file, (gap, nodes, zones) in CAPACITY.items():
        count = DAYS * 86400 // gap
        columns = [[held for _ in range(count // HOLD) for held in [draw.randint(nodes > 1, nodes)] * HOLD]
                   for _ in zones]
        write(here / file, ["tick", *zones], [[i, *row] for i, row in enumerate(zip(*columns))])
        manifest.append({"file": file, "gap_seconds": gap, "ticks": {zone: len(columns[0]) for zone in zones},
                         "zones": zones, "max_nodes": nodes})
    nodes = [f"node{n}" for n in range(8)]
    events = [(3_600_000 * hour, "add" if hour % 2 == 0 else "remove", node) for hour in range(6) for node in nodes]
    write(here / EVENTS, ["time_ms", "event", "node"], events)
    write(here / COUNT, ["seconds", "count"], [(600 * i, draw.randint(20, 60)) for i in range(DAYS * 144)])
    first = datetime.datetime(2022, 1, 1)
    for region in REGIONS:
        grams = [100 + 50 * (h % 24 > 12) + draw.randint(0, 20) for h in range(YEAR)]
        hours = [(first + datetime.timedelta(hours=h), g, g + 10) for h, g in enumerate(grams)]
        write(here / carbon_file(region), ["datetime_utc", "direct_gco2eq_per_kwh", "lca_gco2eq_per_kwh"], hours)
    (here / "manifest.json").write_text(json.dumps(manifest))
    return here
