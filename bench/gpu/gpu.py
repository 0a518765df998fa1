"""Measures this machine's GPU: kernels, NCCL, training in each precision, and GPT-2 beside PyTorch.

Kernels are compared with the CPU's and with the device's copy limit, training with the CPU's. scripts/gpu-check bundles
this bench. On the fake device of the tests it shows all rows and measures none."""
import argparse
import importlib.metadata
import importlib.util
import os
import pathlib
import signal
import sys

import _gpu_product
import _run
from _bench_json import HIGHER, LOWER, REPO, Report, program
from _gpu_budget import Budget
from _options import Options

PROGRAM, TRAIN = "rekindle-bench-gpu", "rekindle-bench-gpu-train"
NO_GPU = 3
# `SHARES` has the parts in the order in which they are played, and the seconds that each of them is sure to have. The
# check ends within ten minutes even if the last part must be killed, because a machine with a GPU may be lent for no
# longer.
SHARES = {"kernels": 80, "training": 130, "PyTorch's start": 20, "PyTorch eager": 40, "PyTorch compiled": 90,
          "PyTorch's checkpoints": 60, "product": 140}
LIMIT_SECONDS = sum(SHARES.values())
# `PEERS` has the programs of PyTorch. The first one does what a program does before it can use the GPU. The others are
# parts of their own, so that one that hangs does not take the figures of another along.
START = "PyTorch's start"
PEER = [sys.executable, str(pathlib.Path(__file__).with_name("_gpu_torch.py"))]
PEERS = {
    START: [sys.executable, "-c", "import torch; torch.zeros(1).cuda()"],
    "PyTorch eager": [*PEER, "eager", "matmul_flops"],
    "PyTorch compiled": [*PEER, "compile"],
    "PyTorch's checkpoints": [*PEER, "speed_with_checkpoints"],
}
RATES = dict.fromkeys((
    "copy", "accumulate_float", "accumulate_fixed", "squares_float", "squares_fixed", "squares_of_infinity",
    "update_adamw_float", "update_adamw_fixed", "update_lion_float", "update_lion_fixed", "update_sgd_float",
    "update_sgd_fixed", "running_mean", "to_bf16", "from_bf16", "hash", "dropout_mask", "split_half",
    "merge_half", "split_bf16", "merge_bf16", "layer_norm_forward", "layer_norm_backward",
    "gelu_forward", "gelu_backward", "cross_entropy"), HIGHER)
NCCL = {"nccl_all_reduce_bus": HIGHER}
COMPILED = {"gpt2_beside_compile": HIGHER}
SPEED = {"gpt2_tokens_per_second": HIGHER, **COMPILED, "gpt2_share_outside_of_passes": LOWER}
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
# `BESIDE` has for each row that has a peer's figure: the name of that figure, and the target for the ratio to it.
BESIDE = {"ready_seconds": (START, 0.5), "speed_with_snapshots": ("speed_with_checkpoints", None)}
TRAINING = {**SPEED, **{name: better for name, (better, _, _) in ROWS.items()}}
PRODUCT = {name: better for name, (better, _) in _gpu_product.ROWS.items()}
METRICS = {**RATES, **NCCL, **TRAINING, **PRODUCT}
# `UNITS` has the unit of each row, so that a run that measures little still shows all that there is to measure.
UNITS = {**dict.fromkeys((*RATES, *NCCL), "GB/s"), "gpt2_tokens_per_second": "tokens/s",
         "gpt2_beside_compile": "ratio", "gpt2_share_outside_of_passes": "share",
         **{name: row[1] for name, row in (*ROWS.items(), *_gpu_product.ROWS.items())}}
# `SKIPS` maps the name of a skipped part to the metrics that are then left out.
SKIPS = {"kernels": {**RATES, **NCCL}, "nccl": NCCL, "nccl bandwidth": NCCL,
         "training": TRAINING.keys() - COMPILED, "PyTorch compiled": COMPILED, "product": PRODUCT}
# `SMALL` has the sizes of GPT-2 in a run with --smoke.
SMALL = ("--layers=1", "--heads=2", "--width=64", "--context=32", "--vocabulary=256", "--sequences=2",
         "--micro-batches=1", "--repeats=3", "--steps=3")


def add_checks(report, rows):
    for row in rows:
        if "check" in row:
            report.result["checks"][row["check"]] = row["ok"]
            if not row["ok"]:
                report.fail(f"{row['check']}: {row['detail']}")


def fill(report, rows):
    """Adds to the report what rekindle-bench-gpu printed: its checks, its rates, and the parts that it skipped."""
    add_checks(report, rows)
    copy = next((row["gb_per_s"] for row in rows if row.get("name") == "copy"), None)
    for row in rows:
        if "name" in row:
            limit = copy if row["name"] != "copy" and not row.get("own_limit") else None
            report.add(row["name"], row["gb_per_s"], "GB/s", limit=limit)
        elif "skipped" in row:
            skip(report, row["skipped"], row["detail"])
        elif "gpu" in row:
            report.result["gpu"] = row
    if not report.result["checks"]:
        report.fail("the program printed no check")


def skip(report, part, why):
    """Records why a part was skipped, or was ended before it had measured all of its metrics."""
    report.result["skipped"][part] = why
    if missing := sorted(set(SKIPS.get(part, ())) - report.result["metrics"].keys()):
        report.leave_out(missing, why)


def add_training(report, rows, peers):
    """Adds what rekindle-bench-gpu-train printed, beside those figures of PyTorch that are there so far."""
    for row in rows:
        if "train" in row:
            add_speed(report, row, peers)
        elif "row" in row:
            name = row["row"]
            _, unit, target = ROWS[name]
            figure, target_ratio = BESIDE.get(name, (None, None))
            report.add(name, row["value"], unit, target=target, peer=peers.get(figure), target_ratio=target_ratio)


def add_speed(report, row, peers):
    # Training does six floating-point operations a parameter and token, so the speed of large products limits it.
    limit = peers["matmul_flops"] / (6 * row["parameters"]) if "matmul_flops" in peers else None
    speed = row["tokens_per_s"]
    report.add("gpt2_tokens_per_second", speed, "tokens/s", peer=peers.get("eager"), target_ratio=1.0, limit=limit)
    report.add("gpt2_share_outside_of_passes", max(0.0, 1 - row["passes_seconds"] / row["step_seconds"]), "share",
               target=0.1)
    if "compile" in peers:
        report.add("gpt2_beside_compile", speed / peers["compile"], "ratio")


def machines_torch():
    """Returns (folder of its libraries, version) of this machine's PyTorch, or None where there is none.

    PyTorch is not imported, because that may hang, too."""
    try:
        found, version = importlib.util.find_spec("torch"), importlib.metadata.version("torch")
    except ImportError:
        return None
    if found is None or not found.origin:
        return None
    return str(pathlib.Path(found.origin).with_name("lib")), version.split("+")[0]


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
        return dict(os.environ)
    torch = machines_torch()
    if missing := torch_is_missing(torch):
        skip(report, part, missing)
        return None
    folders = os.pathsep.join(filter(None, [os.environ.get("LD_LIBRARY_PATH"), torch[0]]))
    return {**os.environ, "LD_LIBRARY_PATH": folders}


class Check:
    """Plays the parts one after the other. After each of them, the file of --report has all rows so far."""

    def __init__(self, report):
        self.report, self.args = report, report.args
        self.budget = Budget(SHARES, self.args.limit)
        # `rows` are those of the training program, and `peers` the figures of PyTorch.
        self.rows, self.peers = [], {}
        report.result.update(units=UNITS, checks={}, skipped={}, seconds={})
        report.keep()

    def play(self, part, command, env=None):
        played = self.budget.play(part, command, env)
        self.report.result["seconds"][part] = round(played.seconds, 1)
        return played

    def close(self, part, played):
        """Records how a part ended, once its rows are in the report."""
        why = played.why or (f"it exited with {played.code}" if played.code else "")
        if why:
            self.report.fail(f"{part}: {why}; its last row is {played.rows[-1:]}")
        # A program of ours that fails names what failed by a check, but PyTorch's do not.
        if played.why or (why and part in PEERS):
            skip(self.report, part, why)
        self.report.keep()

    def kernels(self):
        """Checks and measures the kernels and NCCL. Returns an exit code if there is no GPU to go on with."""
        if self.args.device == "fake":
            for part in ("kernels", "nccl"):
                skip(self.report, part, "the fake device has none")
            return None
        played = self.play("kernels", [program(PROGRAM)])
        absent = next((row["no_gpu"] for row in played.rows if "no_gpu" in row), None)
        if absent is not None:
            self.report.fail(f"no GPU to check: {absent}")
            self.report.write()
            return NO_GPU if played.code == NO_GPU else 1
        fill(self.report, played.rows)
        self.close("kernels", played)
        return None

    def train(self):
        """Measures training. On a GPU it needs a LibTorch with CUDA of the version that the program was built with."""
        if not pathlib.Path(program(PROGRAM)).with_name(TRAIN).exists():
            return skip(self.report, "training", f"{TRAIN} is not beside {PROGRAM}")
        env = what_torch_needs(self.report, "training")
        if env is None:
            return None
        options = [*(SMALL if self.args.smoke else ()), f"--device={self.args.device}"]
        played = self.play("training", [program(TRAIN), *options], env)
        self.rows = played.rows
        add_checks(self.report, self.rows)
        add_training(self.report, self.rows, self.peers)
        return self.close("training", played)

    def compare(self):
        """Measures PyTorch and puts its figures beside those of training."""
        for part, command in PEERS.items():
            if not self.args.peers or not any("train" in row for row in self.rows):
                skip(self.report, part, "no speed to compare with" if self.args.peers else "no peers are measured")
                continue
            played = self.play(part, command)
            self.peers.update({row["figure"]: row["value"] for row in played.rows if "figure" in row})
            if part == START and played.code == 0:
                self.peers[START] = played.seconds
            add_training(self.report, self.rows, self.peers)
            self.close(part, played)

    def product(self):
        """Measures three trainers on one GPU. Like training, that needs a LibTorch of the version of the programs."""
        if not pathlib.Path(program(PROGRAM)).with_name("rekindle-trainer").exists():
            return skip(self.report, "product", "the product's programs are not here")
        env = what_torch_needs(self.report, "product")
        if env is None:
            return None
        options = [f"--device={self.args.device}", *(["--smoke"] if self.args.smoke else [])]
        played = self.play("product", _run.command("gpu", "--product-rows", *options), env)
        for row in {row["row"]: row for row in played.rows if "row" in row}.values():
            self.report.add(row["row"], row["value"], _gpu_product.ROWS[row["row"]][1], target=row["target"])
        for row in played.rows:
            if "broken" in row:
                skip(self.report, "product", f"it broke off: {row['broken']}")
        return self.close("product", played)


def main():
    # The process that measures the product cleans up when it is told to end, and so does the check itself.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("error: the check was told to end"))
    options = Options("gpu", __doc__)
    options.add_argument("--device", choices=["cuda", "fake"],
                         help="fake: the device of the tests, which has no speed (default: cuda, with --smoke fake)")
    options.add_argument("--limit", type=float, default=LIMIT_SECONDS, metavar="SECONDS",
                         help="what is not measured by then is left out (default: %(default)s)")
    options.add_argument("--product-rows", action="store_true", help=argparse.SUPPRESS)
    args = options.parse()
    args.device = args.device or ("fake" if args.smoke else "cuda")
    if args.device == "fake":
        args.smoke, args.judged, args.peers = True, False, False
    if args.product_rows:
        return _gpu_product.main(args.device, 1 if args.smoke else 10)
    report = Report("gpu", METRICS, args)
    check = Check(report)
    if (ended := check.kernels()) is not None:
        return ended
    check.train()
    check.compare()
    check.product()
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
