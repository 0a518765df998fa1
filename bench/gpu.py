"""The CUDA plugin on this machine's GPU: kernels beside the CPU's and the device's copy limit, NCCL; scripts/gpu-check bundles it."""
import argparse
import json
import subprocess
import sys

from _bench_json import Report, program

PROGRAM = "rekindle-bench-gpu"
NO_GPU = 3


def fill(report, rows):
    """Adds the program's lines to the report. A check counts 1 or 0; a part that had nothing to run says so."""
    checks = {}
    copy = next((row["gb_per_s"] for row in rows if row.get("name") == "copy"), None)
    for row in rows:
        if "check" in row:
            checks[row["check"]] = row["ok"]
            if not row["ok"]:
                report.fail(f"{row['check']}: {row['detail']}")
        elif "name" in row:
            limit = copy if row["name"] != "copy" and not row.get("own_limit") else None
            report.add(row["name"], row["gb_per_s"], "GB/s", limit=limit)
        elif "skipped" in row:
            report.result.setdefault("skipped", {})[row["skipped"]] = row["detail"]
        elif "gpu" in row:
            report.result["gpu"] = row
    report.result["checks"] = checks
    if not checks:
        report.fail("the program printed no check")


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--report", metavar="FILE", help="write the JSON to a file too")
    args = p.parse_args()
    path = program(PROGRAM)
    done = subprocess.run([path], stdout=subprocess.PIPE, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    report = Report("gpu")
    absent = next((row["no_gpu"] for row in rows if "no_gpu" in row), None)
    if absent is not None:
        print(f"error: no GPU to check: {absent}", file=sys.stderr)
        return NO_GPU if done.returncode == NO_GPU else 1
    fill(report, rows)
    if done.returncode != 0:
        report.fail(f"{path} exited with {done.returncode}")
    return report.finish(args.report)


if __name__ == "__main__":
    sys.exit(main())
