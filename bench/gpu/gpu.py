"""Measures this machine's GPU: kernels, NCCL, training in each precision, and GPT-2 beside PyTorch.

Kernels are compared with the CPU's and with the device's copy limit, training with the CPU's. scripts/gpu-check bundles
this bench. On the fake device of the tests it shows all rows and measures none."""
import json
import os
import pathlib
import subprocess
import sys
import time

import _gpu_product
from _bench_json import HIGHER, LOWER, REPO, Report, program
from _options import Options

PROGRAM, TRAIN = "rekindle-bench-gpu", "rekindle-bench-gpu-train"
PEER = pathlib.Path(__file__).with_name("_gpu_torch.py")
# `PEER_START` is what a program of PyTorch does before it can use the GPU.
PEER_START = "import torch; torch.zeros(1).cuda()"
NO_GPU = 3
RATES = dict.fromkeys((
    "copy", "accumulate_float", "accumulate_fixed", "squares_float", "squares_fixed", "squares_of_infinity",
    "update_adamw_float", "update_adamw_fixed", "update_lion_float", "update_lion_fixed", "update_sgd_float",
    "update_sgd_fixed", "running_mean", "to_bf16", "from_bf16", "hash", "dropout_mask", "split_half",
    "merge_half", "split_bf16", "merge_bf16", "layer_norm_forward", "layer_norm_backward",
    "gelu_forward", "gelu_backward", "cross_entropy"), HIGHER)
NCCL = {"nccl_all_reduce_bus": HIGHER}
SPEED = {"gpt2_tokens_per_second": HIGHER, "gpt2_share_outside_of_passes": LOWER}
# The program prints a row for each of `ROWS`: which direction is better, its unit, and the target in a full run.
ROWS = {
    "repeated_micro_batches_equal": (HIGHER, "micro-batches", 100),
    "bytes_a_parameter": (LOWER, "bytes", 22),
    "bytes_a_parameter_exact": (LOWER, "bytes", 30),
    "growth_in_steps": (LOWER, "bytes", 0),
    "speed_with_snapshots": (HIGHER, "ratio", 0.99),
    "snapshots_taken": (HIGHER, "share of steps", 1),
    "ready_seconds": (LOWER, "s", None),
}
TRAINING = {**SPEED, **{name: better for name, (better, _, _) in ROWS.items()}}
PRODUCT = {name: better for name, (better, _) in _gpu_product.ROWS.items()}
METRICS = {**RATES, **NCCL, **TRAINING, **PRODUCT}
# `UNITS` has the unit of each row, so that a run that measures little still shows all that there is to measure.
UNITS = {**dict.fromkeys((*RATES, *NCCL), "GB/s"), "gpt2_tokens_per_second": "tokens/s",
         "gpt2_share_outside_of_passes": "share",
         **{name: row[1] for name, row in (*ROWS.items(), *_gpu_product.ROWS.items())}}
# `SKIPS` maps the name of a skipped part to the metrics that are then left out.
SKIPS = {"kernels": RATES, "nccl": NCCL, "nccl bandwidth": NCCL, "training": TRAINING, "product": PRODUCT}
# `SMALL` has the sizes of GPT-2 in a run with --smoke.
SMALL = ("--layers=1", "--heads=2", "--width=64", "--context=32", "--vocabulary=256", "--sequences=2",
         "--micro-batches=1", "--repeats=3", "--steps=3")


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


def torch_is_missing(torch):
    """Says why the training program cannot use this machine's PyTorch, or returns an empty text if it can."""
    wanted = REPO / "TORCH"
    if torch is None:
        return "this machine's python3 has no PyTorch"
    if wanted.exists() and torch[1] != wanted.read_text().strip():
        return f"this machine has PyTorch {torch[1]}, the program was built with {wanted.read_text().strip()}"
    return ""


def what_torch_needs(report, part):
    """Returns the environment in which our programs find LibTorch, or skips the part and returns None."""
    if report.args.device == "fake":
        return {}
    torch = machines_torch()
    if missing := torch_is_missing(torch):
        skip(report, part, missing)
        return None
    return {"LD_LIBRARY_PATH": os.pathsep.join(filter(None, [os.environ.get("LD_LIBRARY_PATH"), torch[0]]))}


def train(report):
    """Measures training. On a GPU it needs a LibTorch with CUDA of the version that the program was built with."""
    options = list(SMALL if report.args.smoke else ())
    if report.args.device == "fake":
        options += ["--device=fake"]
    needs = what_torch_needs(report, "training")
    if needs is None:
        return
    done = subprocess.run([program(TRAIN), *options], stdout=subprocess.PIPE, text=True, env={**os.environ, **needs})
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
        elif row.get("row") == "ready_seconds":
            report.add("ready_seconds", row["value"], "s", peer=seconds_of_peers_start(report), target_ratio=0.5)
        elif "row" in row:
            _, unit, target = ROWS[row["row"]]
            report.add(row["row"], row["value"], unit, target=target)


def product(report):
    """Measures three trainers on one GPU. Like training, that needs a LibTorch of the version of the programs."""
    if not pathlib.Path(program(PROGRAM)).with_name("rekindle-trainer").exists():
        skip(report, "product", "the product's programs are not here")
        return
    needs = what_torch_needs(report, "product")
    if needs is None:
        return
    try:
        _gpu_product.measure(report, report.args.device, needs, 1 if report.args.smoke else 10)
    except (RuntimeError, TimeoutError) as error:
        skip(report, "product", f"it broke off: {error}")
        report.fail(f"three trainers on one GPU: {error}")


def seconds_of_peers_start(report):
    """Returns how long PyTorch takes until it can use the GPU, or None where it is not measured."""
    if not report.args.peers:
        return None
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", PEER_START], stdout=subprocess.DEVNULL)
    if done.returncode != 0:
        report.fail(f"the peer's start ended with {done.returncode}")
        return None
    return time.monotonic() - start


def add_speed(report, row):
    peer = {}
    if report.args.peers:
        done = subprocess.run([sys.executable, str(PEER)], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            report.fail(f"the peer ended with {done.returncode}")
        else:
            peer = json.loads(done.stdout)
            report.result["pytorch_compile_tokens_per_second"] = peer.get("compile")
            report.result["pytorch_speed_with_checkpoints"] = peer.get("speed_with_checkpoints")
    # Training does six floating-point operations a parameter and token, so the speed of large products limits it.
    limit = peer["matmul_flops"] / (6 * row["parameters"]) if peer else None
    report.add("gpt2_tokens_per_second", row["tokens_per_s"], "tokens/s", peer=peer.get("eager"), target_ratio=1.0,
               limit=limit)
    report.add("gpt2_share_outside_of_passes", max(0.0, 1 - row["passes_seconds"] / row["step_seconds"]), "share",
               target=0.1)


def kernels(report):
    """Checks and measures the kernels and NCCL. Returns an exit code if there is no GPU to go on with."""
    path = program(PROGRAM)
    done = subprocess.run([path], stdout=subprocess.PIPE, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    absent = next((row["no_gpu"] for row in rows if "no_gpu" in row), None)
    if absent is not None:
        print(f"error: no GPU to check: {absent}", file=sys.stderr)
        return NO_GPU if done.returncode == NO_GPU else 1
    fill(report, rows)
    if done.returncode != 0:
        report.fail(f"{path} exited with {done.returncode}")
    return None


def main():
    options = Options("gpu", __doc__)
    options.add_argument("--device", choices=["cuda", "fake"],
                         help="fake: the device of the tests, which has no speed (default: cuda, with --smoke fake)")
    args = options.parse()
    args.device = args.device or ("fake" if args.smoke else "cuda")
    if args.device == "fake":
        args.smoke, args.judged, args.peers = True, False, False
    report = Report("gpu", METRICS, args)
    report.result["units"] = UNITS
    if args.device == "fake":
        report.result["checks"] = {}
        for part in ("kernels", "nccl"):
            skip(report, part, "the fake device has none")
    elif (ended := kernels(report)) is not None:
        return ended
    if pathlib.Path(program(PROGRAM)).with_name(TRAIN).exists():
        train(report)
    else:
        skip(report, "training", f"{TRAIN} is not beside {PROGRAM}")
    product(report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
