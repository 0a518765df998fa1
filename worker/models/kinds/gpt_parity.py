"""Runs the GPT of gpt_parity_test.cc in PyTorch, and writes the loss and the gradients. It prints nothing.

usage: gpt_parity.py LAYERS HEADS WIDTH CONTEXT SEQUENCES IN OUT

IN has all weights as float32, in the order of named_parameters(), then SEQUENCES * (CONTEXT + 1) 16-bit tokens.
OUT gets the summed loss as float64, then all gradients as float32.
"""
import sys

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.proj = nn.Linear(width, width, bias=False)
        self.ln2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, h):
        batch, time, width = h.shape
        q, k, v = (part.view(batch, time, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.ln1(h)).split(width, 2))
        scores = q @ k.transpose(2, 3) / (width // self.heads) ** 0.5
        future = torch.ones(time, time, dtype=torch.bool).triu(1)
        mixed = scores.masked_fill(future, float("-inf")).softmax(3) @ v
        h = h + self.proj(mixed.transpose(1, 2).reshape(batch, time, width))
        return h + self.down(F.gelu(self.up(self.ln2(h)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, layers, heads, width, context):
        super().__init__()
        self.tok = nn.Embedding(256, width)
        self.pos = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln = nn.LayerNorm(width)

    def logits(self, x):
        h = self.tok(x) + self.pos.weight[:x.shape[1]]
        for block in self.blocks:
            h = block(h)
        return F.linear(self.ln(h), self.tok.weight)

    def forward(self, x, y):
        return F.cross_entropy(self.logits(x).reshape(-1, 256), y.reshape(-1), reduction="sum")


def main():
    *numbers, source, target = sys.argv[1:]
    layers, heads, width, context, sequences = map(int, numbers)
    torch.set_num_threads(1)
    model = Gpt(layers, heads, width, context)
    with open(source, "rb") as file:
        data = bytearray(file.read())
    count = sum(p.numel() for p in model.parameters())
    weights = torch.frombuffer(data, dtype=torch.float32, count=count)
    tokens = torch.frombuffer(data, dtype=torch.int16, offset=4 * count).view(sequences, context + 1).long()
    at = 0
    for p in model.parameters():
        p.data.copy_(weights[at:at + p.numel()].view(p.shape))
        at += p.numel()
    loss = model(tokens[:, :-1], tokens[:, 1:])
    loss.backward()
    with open(target, "wb") as file:
        file.write(loss.detach().double().numpy().tobytes())
        for p in model.parameters():
            file.write(p.grad.contiguous().numpy().tobytes())


if __name__ == "__main__":
    main()
