"""Trains the work of dump_work by PyTorch alone, and prints the loss of each step as JSON.

usage: loss_parity_torch.py WORK STEPS SEQUENCES LAYERS HEADS WIDTH CONTEXT
"""
import json
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "worker/models/kinds"))
from gpt_parity import Gpt  # noqa: E402


def main():
    data = bytearray(pathlib.Path(sys.argv[1]).read_bytes())
    steps, sequences, layers, heads, width, context = map(int, sys.argv[2:])
    torch.set_num_threads(1)
    model = Gpt(layers, heads, width, context)
    at = 0
    for p in model.parameters():
        p.data.copy_(torch.frombuffer(data, dtype=torch.float32, count=p.numel(), offset=4 * at).view(p.shape))
        at += p.numel()
    batches = torch.frombuffer(data, dtype=torch.uint8, offset=4 * at).view(steps, sequences, context + 1).long()
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
                                  lr=1e-3, betas=(0.9, 0.95), eps=1e-8)
    losses = []
    for batch in batches:
        loss = model(batch[:, :-1], batch[:, 1:]) / (sequences * context)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(json.dumps(losses))


if __name__ == "__main__":
    main()
