"""Measures the optimizer's step on one core, beside unscale, clip_grad_norm_ and AdamW(fused=True) of PyTorch.

The update is also measured alone."""
import json
import os
import statistics
import subprocess
import sys
import time

from _bench_json import HIGHER, Report, program
from _options import Options

PROGRAM = "rekindle-bench-optimizer"
# The rate of our optimizer has to be `SEQUENCE` times PyTorch's for norm, clip and update together, and `ALONE` times
# PyTorch's for the update alone.
SEQUENCE, ALONE = 1.3, 0.95
ROWS, COLUMNS = 768, 3072
METRICS = dict.fromkeys(("adamw_norm_clip_update", "adamw_update", "lion_norm_clip_update", "sgd_norm_clip_update"),
                        HIGHER)


class Ours:
    def __init__(self, matrices, kind):
        self.process = subprocess.Popen([program(PROGRAM), "--matrices", str(matrices), "--rows", str(ROWS),
                                         "--columns", str(COLUMNS), "--kind", kind],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def step(self):
        """Makes one step of our optimizer and returns (seconds of the norm, seconds of clip and update)."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"error: {PROGRAM} exited with {self.process.wait()}")
        row = json.loads(line)
        return row["norm"], row["update"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Torch:
    def __init__(self, matrices):
        import torch

        torch.set_num_threads(1)
        self.torch = torch
        self.weights = [torch.zeros(ROWS, COLUMNS, requires_grad=True) for _ in range(matrices)]
        self.source = torch.linspace(-1, 1, ROWS * COLUMNS).view(ROWS, COLUMNS)
        for weight in self.weights:
            weight.grad = torch.empty_like(weight)
        self.optimizer = torch.optim.AdamW(self.weights, lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True)

    def step(self):
        """Makes one step of PyTorch's optimizer and returns (seconds of unscale and clip, seconds of the update)."""
        for weight in self.weights:
            weight.grad.copy_(self.source)
        grads = [weight.grad for weight in self.weights]
        start = time.perf_counter()
        found_inf = self.torch.zeros(1)
        self.torch._amp_foreach_non_finite_check_and_unscale_(grads, found_inf, self.torch.full((1,), 1 / 1024))
        self.torch.nn.utils.clip_grad_norm_(self.weights, 1.0)
        clipped = time.perf_counter()
        self.optimizer.step()
        return clipped - start, time.perf_counter() - clipped


def main():
    p = Options("optimizer", __doc__)
    p.size("matrices", 12, smoke=1, text="of 768 x 3072 weights")
    p.size("rounds", 15, smoke=1, turn=5)
    args = p.parse()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    elements = args.matrices * ROWS * COLUMNS / 1e6
    kinds = {kind: Ours(args.matrices, kind) for kind in ("adamw", "lion", "sgd")}
    every = {**kinds, **({"torch": Torch(args.matrices)} if args.peers else {})}
    rows = {name: [] for name in every}
    # The programs take turns, so that changes of the machine's speed affect all alike. The first two turns warm up.
    for turn in range(args.rounds + 2):
        for name, one in every.items():
            seconds = one.step()
            if turn >= 2:
                rows[name].append(seconds)
    for one in kinds.values():
        one.close()
    whole = {name: elements / statistics.median(map(sum, each)) for name, each in rows.items()}
    update = {name: elements / statistics.median(second for _, second in each) for name, each in rows.items()}
    report = Report("optimizer", METRICS, args)
    report.add("adamw_norm_clip_update", whole["adamw"], "M elements/s", peer=whole.get("torch"), target_ratio=SEQUENCE)
    report.add("adamw_update", update["adamw"], "M elements/s", peer=update.get("torch"), target_ratio=ALONE)
    for kind in ("lion", "sgd"):
        report.add(f"{kind}_norm_clip_update", whole[kind], "M elements/s")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
