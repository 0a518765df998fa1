"""Trains the model of gpt_parity.py with PyTorch's autocast on one thread; prints its times, losses and peak memory.

usage: _autocast.py DATA PRECISION LAYERS HEADS WIDTH CONTEXT GLOBAL_BATCH MICRO_BATCH STEPS
"""
import contextlib
import json
import pathlib
import resource
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "worker" / "models" / "kinds"))
from gpt_parity import Gpt  # noqa: E402

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def initialize(model):
    """Initializes weights as Rekindle does: matrices normal with deviation 0.02, norms with weight 1 and bias 0."""
    for p in model.parameters():
        if p.dim() > 1:
            torch.nn.init.normal_(p, std=0.02)


def main():
    text, precision = sys.argv[1:3]
    layers, heads, width, context, global_batch, micro_batch, steps = map(int, sys.argv[3:])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    tokens = torch.frombuffer(bytearray(pathlib.Path(text).read_bytes()), dtype=torch.uint8)
    model = Gpt(layers, heads, width, context)
    initialize(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    scaler = torch.amp.GradScaler("cpu", enabled=precision == "fp16")
    kind = TYPES.get(precision)
    times, losses = [], []
    for _ in range(steps):
        start = time.monotonic()
        total = 0.0
        for _ in range(global_batch // micro_batch):
            at = torch.randint(0, len(tokens) - context - 1, (micro_batch,))
            batch = torch.stack([tokens[i:i + context + 1] for i in at]).long()
            with torch.autocast("cpu", dtype=kind) if kind else contextlib.nullcontext():
                loss = model(batch[:, :-1], batch[:, 1:])
            scaler.scale(loss / (global_batch * context)).backward()
            total += loss.item()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        losses.append(total / (global_batch * context))
        times.append(time.monotonic() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"times": times, "losses": losses, "peak": peak}))


if __name__ == "__main__":
    main()
