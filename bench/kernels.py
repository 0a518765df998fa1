"""Our kernels beside LibTorch's operations for the same work, on one core."""
import argparse
import json
import os
import subprocess
import sys

from _bench_json import Report, program

PROGRAM = "rekindle-bench-kernels"


def main():
    p = argparse.ArgumentParser(prog="scripts/bench kernels", description=__doc__)
    p.add_argument("--report", metavar="FILE")
    p.add_argument("--rounds", type=int, default=400)
    args = p.parse_args()
    core = str(max(os.sched_getaffinity(0)))
    done = subprocess.run(["taskset", "-c", core, program(PROGRAM), "--rounds", str(args.rounds)],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {program(PROGRAM)} exited with {done.returncode}")
    report = Report("kernels")
    for row in map(json.loads, done.stdout.splitlines()):
        gb = row["bytes"] / 1e9
        report.add(row["name"], gb / row["seconds"], "GB/s", peer=gb / row["peer_seconds"])
        print(f"{row['name']}: {row['seconds'] * 1e6:.0f} us, LibTorch {row['peer_seconds'] * 1e6:.0f} us", file=sys.stderr)
    return report.finish(args.report)


if __name__ == "__main__":
    sys.exit(main())
