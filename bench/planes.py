"""Split of the FP32 state into checkpoint planes and back on one core, hashing and writing the files, beside memcpy."""
import argparse
import json
import os
import subprocess
import sys

from _bench_json import Report, program

PROGRAM = "rekindle-bench-planes"
TARGET = {"exact": 0.6}   # Split and merge together, to two memcpys of the state.
PLANE0_SHARE = 0.51       # Of the FP32 state.


def main():
    p = argparse.ArgumentParser(prog="scripts/bench planes", description=__doc__)
    p.add_argument("--report", metavar="FILE")
    p.add_argument("--elements", type=int, default=64 << 20, help="of the state; 12 bytes each")
    p.add_argument("--rounds", type=int, default=9)
    args = p.parse_args()
    core = str(max(os.sched_getaffinity(0)))
    done = subprocess.run(["taskset", "-c", core, program(PROGRAM), "--elements", str(args.elements), "--rounds",
                           str(args.rounds)], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {program(PROGRAM)} exited with {done.returncode}")
    report = Report("planes")
    for row in map(json.loads, done.stdout.splitlines()):
        name = row["precision"]
        report.add(f"{name}_split_and_merge_to_memcpy", row["ratio"], "ratio", target=TARGET.get(name))
        report.add(f"{name}_split", row["split_gb_s"], "GB/s", limit=row["memcpy_gb_s"])
        report.add(f"{name}_merge", row["merge_gb_s"], "GB/s", limit=row["memcpy_gb_s"])
        report.add(f"{name}_plane0_share", row["plane0_share"], "of FP32", target=PLANE0_SHARE, lower_is_better=True)
    return report.finish(args.report)


if __name__ == "__main__":
    sys.exit(main())
