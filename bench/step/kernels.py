"""Measures our kernels beside LibTorch's operations for the same work, on one core."""
import json
import os
import subprocess
import sys

from _bench_json import HIGHER, Report, program
from _options import Options

PROGRAM = "rekindle-bench-kernels"
METRICS = dict.fromkeys(("layer_norm_forward", "layer_norm_backward", "gelu_forward", "gelu_backward", "cross_entropy",
                         "unscale_check_accumulate", "norm", "adamw"), HIGHER)


def main():
    p = Options("kernels", __doc__)
    p.size("rounds", 400, smoke=3, turn=50)
    args = p.parse()
    core = str(max(os.sched_getaffinity(0)))
    done = subprocess.run(["taskset", "-c", core, program(PROGRAM), "--rounds", str(args.rounds)],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {program(PROGRAM)} exited with {done.returncode}")
    report = Report("kernels", METRICS, args)
    for row in map(json.loads, done.stdout.splitlines()):
        gb = row["bytes"] / 1e9
        report.add(row["name"], gb / row["seconds"], "GB/s", peer=gb / row["peer_seconds"])
        print(f"{row['name']}: {row['seconds'] * 1e6:.0f} us, LibTorch {row['peer_seconds'] * 1e6:.0f} us",
              file=sys.stderr)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
