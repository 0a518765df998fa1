"""Measures the split of the FP32 state into checkpoint planes and its merge on one core, beside memcpy.

The split includes hashing and writing the files."""
import json
import os
import subprocess
import sys

from _bench_json import HIGHER, LOWER, Report, program
from _options import Options

PROGRAM = "rekindle-bench-planes"
# The time of two memcpys of the state, divided by the time of split and merge together, has to reach `TARGET`.
TARGET = {"exact": 0.6}
# `PLANE0_SHARE` is the share of the FP32 state that plane 0 may take.
PLANE0_SHARE = 0.51
METRICS = {f"{precision}_{figure}": better for precision in ("exact", "fp16", "bf16") for figure, better in (
    ("split_and_merge_to_memcpy", HIGHER), ("split", HIGHER), ("merge", HIGHER), ("plane0_share", LOWER))}


def main():
    p = Options("planes", __doc__)
    p.size("elements", 64 << 20, smoke=1 << 20, text="of the state; 12 bytes each")
    p.size("rounds", 9, smoke=1, turn=3)
    args = p.parse()
    core = str(max(os.sched_getaffinity(0)))
    done = subprocess.run(["taskset", "-c", core, program(PROGRAM), "--elements", str(args.elements), "--rounds",
                           str(args.rounds)], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {program(PROGRAM)} exited with {done.returncode}")
    report = Report("planes", METRICS, args)
    for row in map(json.loads, done.stdout.splitlines()):
        name = row["precision"]
        report.add(f"{name}_split_and_merge_to_memcpy", row["ratio"], "ratio", target=TARGET.get(name))
        report.add(f"{name}_split", row["split_gb_s"], "GB/s", limit=row["memcpy_gb_s"])
        report.add(f"{name}_merge", row["merge_gb_s"], "GB/s", limit=row["memcpy_gb_s"])
        report.add(f"{name}_plane0_share", row["plane0_share"], "of FP32", target=PLANE0_SHARE)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
