"""Runs an optimizer of torch on what optimizer_torch_test wrote, and writes the weights and norms it must arrive at.

usage: optimizer_torch_reference.py KIND FOLDER MATRIX VECTOR STEPS COUNT

FOLDER/input holds float32: initial weights (MATRIX + VECTOR elements), then STEPS gradients of a summed loss.
FOLDER/output gets, after each step, the weights and then the gradient's norm before clipping.
"""
import sys

import torch

# `COLUMNS` is the number of columns of the matrix.
COLUMNS = 32


class Lion(torch.optim.Optimizer):
    """Implements algorithm 2 of Chen et al., "Symbolic Discovery of Optimization Algorithms"."""

    def __init__(self, groups, lr, betas):
        super().__init__(groups, {"lr": lr, "betas": betas})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            lr, (beta1, beta2) = group["lr"], group["betas"]
            for weight in group["params"]:
                momentum = self.state[weight].setdefault("momentum", torch.zeros_like(weight))
                direction = torch.sign(beta1 * momentum + (1 - beta1) * weight.grad)
                weight.mul_(1 - lr * group["weight_decay"]).sub_(lr * direction)
                momentum.mul_(beta2).add_((1 - beta2) * weight.grad)


KINDS = {
    "adamw": (0.1, lambda groups: torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.95), eps=1e-8)),
    "sgd": (0.01, lambda groups: torch.optim.SGD(groups, lr=0.1, momentum=0.9)),
    "lion": (1.0, lambda groups: Lion(groups, lr=1e-4, betas=(0.9, 0.99))),
}
if sys.argv[1] == "muon":
    # torch's Muon converts to bfloat16 for its Newton-Schulz steps. With the conversion replaced by a copy they run in
    # float32, as those of Rekindle do.
    torch.Tensor.bfloat16 = torch.Tensor.clone


class MuonAndAdamW:
    def __init__(self, groups):
        self.parts = [torch.optim.Muon(groups[:1], lr=1e-3, momentum=0.95, adjust_lr_fn="match_rms_adamw"),
                      torch.optim.AdamW(groups[1:], lr=1e-3, betas=(0.9, 0.95), eps=1e-8)]

    def step(self):
        for part in self.parts:
            part.step()


KINDS["muon"] = (0.1, MuonAndAdamW)
kind, folder, matrix, vector, steps, count = *sys.argv[1:3], *map(int, sys.argv[3:])
rows = torch.from_file(f"{folder}/input", size=(steps + 1) * (matrix + vector)).view(steps + 1, matrix + vector)
shapes = [(-1, COLUMNS), (-1,)]
weights = [part.clone().view(shape).requires_grad_()
           for part, shape in zip(rows[0].split([matrix, vector]), shapes)]
decay, make = KINDS[kind]
optimizer = make([{"params": weights[:1], "weight_decay": decay}, {"params": weights[1:], "weight_decay": 0.0}])
parts = []
for row in rows[1:]:
    for weight, gradient in zip(weights, row.split([matrix, vector])):
        weight.grad = gradient.view_as(weight) / count
    norm = torch.nn.utils.clip_grad_norm_(weights, 1.0)
    optimizer.step()
    parts += [weights[0].detach().clone().flatten(), weights[1].detach().clone(), norm.reshape(1)]
output = torch.cat(parts)
torch.from_file(f"{folder}/output", shared=True, size=output.numel()).copy_(output)
