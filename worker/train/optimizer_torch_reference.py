"""AdamW by torch: reads what optimizer_torch_test wrote, writes the weights it must arrive at.

Usage: optimizer_torch_reference.py FOLDER MATRIX VECTOR STEPS COUNT
FOLDER/input holds float32: initial weights (MATRIX + VECTOR elements), then STEPS gradients of a summed loss.
"""
import sys

import torch

folder, matrix, vector, steps, count = sys.argv[1], *map(int, sys.argv[2:])
rows = torch.from_file(f"{folder}/input", size=(steps + 1) * (matrix + vector)).view(steps + 1, matrix + vector)
weights = [part.clone().requires_grad_() for part in rows[0].split([matrix, vector])]
optimizer = torch.optim.AdamW([{"params": weights[:1], "weight_decay": 0.1}, {"params": weights[1:], "weight_decay": 0.0}],
                              lr=1e-3, betas=(0.9, 0.95), eps=1e-8)
norms = []
for row in rows[1:]:
    for weight, gradient in zip(weights, row.split([matrix, vector])):
        weight.grad = gradient / count
    norms.append(torch.nn.utils.clip_grad_norm_(weights, 1.0))
    optimizer.step()
output = torch.cat([weights[0].detach(), weights[1].detach(), torch.stack(norms)])
torch.from_file(f"{folder}/output", shared=True, size=output.numel()).copy_(output)
