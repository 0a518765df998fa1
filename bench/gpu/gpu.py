"""Measures this machine's GPU: kernels, NCCL, training in each precision, and GPT-2 beside PyTorch.

Kernels are compared with the CPU's and with the device's copy limit, training with the CPU's. scripts/gpu-check bundles
this bench."""
import json
import os
import pathlib
import subprocess
import sys

from _bench_json import HIGHER, NEITHER, REPO, Report, program
from _options import Options

PROGRAM, TRAIN = "rekindle-bench-gpu", "rekindle-bench-gpu-train"
PEER = pathlib.Path(__file__).with_name("_gpu_torch.py")
NO_GPU = 3
RATES = dict.fromkeys((
    "copy", "accumulate_float", "accumulate_fixed", "squares_float", "squares_fixed", "squares_of_infinity",
    "update_adamw_float", "update_adamw_fixed", "update_lion_float", "update_lion_fixed", "update_sgd_float",
    "update_sgd_fixed", "running_mean", "to_bf16", "from_bf16", "hash", "layer_norm_forward", "layer_norm_backward",
    "gelu_forward", "gelu_backward", "cross_entropy"), HIGHER)
NCCL = {"nccl_all_reduce_bus": HIGHER}
TRAINING = {"gpt2_tokens_per_second": HIGHER, "gpt2_compute_share_of_step": NEITHER}
METRICS = {**RATES, **NCCL, **TRAINING}
# `SKIPS` maps the name of a skipped part to the metrics that are then left out.
SKIPS = {"nccl": NCCL, "nccl bandwidth": NCCL, "training": TRAINING}
# `SMALL` has the sizes of GPT-2 in a run with --smoke.
SMALL = ("--layers=1", "--heads=2", "--width=64", "--context=32", "--vocabulary=256", "--sequences=2",
         "--micro-batches=1")


def fill(report, rows):
    """Adds to the report what rekindle-bench-gpu printed: its checks, its rates, and the parts that it skipped."""
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
            skip(report, row["skipped"], row["detail"])
        elif "gpu" in row:
            report.result["gpu"] = row
    report.result["checks"] = checks
    if not checks:
        report.fail("the program printed no check")


def skip(report, part, why):
    report.result.setdefault("skipped", {})[part] = why
    report.leave_out(SKIPS.get(part, ()), why)


def machines_torch():
    """Returns (folder of its libraries, version) of this machine's PyTorch, or None where there is none."""
    done = subprocess.run([sys.executable, "-c", "import torch; print(torch.__path__[0]); print(torch.__version__)"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return None
    folder, version = done.stdout.split()
    return str(pathlib.Path(folder, "lib")), version.split("+")[0]


def train(report):
    """Measures training, which needs a LibTorch with CUDA of the version that the program was built with."""
    wanted = REPO / "TORCH"
    torch = machines_torch()
    if torch is None:
        return skip(report, "training", "this machine's python3 has no PyTorch")
    if wanted.exists() and torch[1] != wanted.read_text().strip():
        return skip(report, "training",
                    f"this machine has PyTorch {torch[1]}, the program was built with {wanted.read_text().strip()}")
    libraries = os.pathsep.join(filter(None, [os.environ.get("LD_LIBRARY_PATH"), torch[0]]))
    done = subprocess.run([program(TRAIN), *(SMALL if report.args.smoke else ())], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "LD_LIBRARY_PATH": libraries})
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode != 0:
        report.fail(f"{TRAIN} exited with {done.returncode}: {rows[-1:]}")
    for row in rows:
        if "check" in row:
            report.result["checks"][row["check"]] = row["ok"]
            if not row["ok"]:
                report.fail(f"{row['check']}: {row['detail']}")
        elif "train" in row:
            add_speed(report, row)


def add_speed(report, row):
    peer = {}
    if report.args.peers:
        done = subprocess.run([sys.executable, str(PEER)], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            report.fail(f"the peer ended with {done.returncode}")
        else:
            peer = json.loads(done.stdout)
            report.result["pytorch_eager_tokens_per_second"] = peer["eager"]
    # Training does six floating-point operations a parameter and token, so the speed of large products limits it.
    limit = peer["matmul_flops"] / (6 * row["parameters"]) if peer else None
    report.add("gpt2_tokens_per_second", row["tokens_per_s"], "tokens/s", peer=peer.get("compile", peer.get("eager")),
               target_ratio=1.0, limit=limit)
    report.add("gpt2_compute_share_of_step", row["compute_seconds"] / row["step_seconds"], "share")


def main():
    args = Options("gpu", __doc__).parse()
    path = program(PROGRAM)
    done = subprocess.run([path], stdout=subprocess.PIPE, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    report = Report("gpu", METRICS, args)
    absent = next((row["no_gpu"] for row in rows if "no_gpu" in row), None)
    if absent is not None:
        if args.smoke:
            return report.skip(f"no GPU to check: {absent}")
        print(f"error: no GPU to check: {absent}", file=sys.stderr)
        return NO_GPU if done.returncode == NO_GPU else 1
    fill(report, rows)
    if done.returncode != 0:
        report.fail(f"{path} exited with {done.returncode}")
    elif pathlib.Path(path).with_name(TRAIN).exists():
        train(report)
    else:
        skip(report, "training", f"{TRAIN} is not beside {PROGRAM}")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
