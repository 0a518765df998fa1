"""Runs the models of models_parity_test.cc in PyTorch, and writes the loss and the gradients. It prints nothing.

usage: models_parity.py gpt2 LAYERS HEADS WIDTH CONTEXT VOCABULARY SEQUENCES IN OUT
       models_parity.py mlp LAYERS WIDTH INPUTS CLASSES SAMPLES IN OUT
       models_parity.py resnet18|resnet50 WIDTH CLASSES SAMPLES IN OUT

parity_testing.h describes IN and OUT. Modules are registered in the layouts' order.
"""
import sys

import torch
from torch import nn
from torch.nn import functional as F


class Conv1D(nn.Module):
    """Implements a linear layer with a weight of [in, out], as GPT-2 was published."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))

    def forward(self, x):
        return x @ self.weight + self.bias


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.c_attn = Conv1D(width, 3 * width)
        self.c_proj = Conv1D(width, width)

    def forward(self, h):
        batch, time, width = h.shape
        q, k, v = (part.view(batch, time, self.heads, -1).transpose(1, 2) for part in self.c_attn(h).split(width, 2))
        scores = q @ k.transpose(2, 3) / (width // self.heads) ** 0.5
        future = torch.ones(time, time, dtype=torch.bool).triu(1)
        mixed = scores.masked_fill(future, float("-inf")).softmax(3) @ v
        return self.c_proj(mixed.transpose(1, 2).reshape(batch, time, width))


class Gpt2Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.ModuleDict({"c_fc": Conv1D(width, 4 * width), "c_proj": Conv1D(4 * width, width)})

    def forward(self, h):
        h = h + self.attn(self.ln_1(h))
        return h + self.mlp.c_proj(F.gelu(self.mlp.c_fc(self.ln_2(h)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, layers, heads, width, context, vocabulary):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(context, width)
        self.h = nn.ModuleList(Gpt2Block(width, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)

    def forward(self, tokens):
        x, y = tokens[:, :-1], tokens[:, 1:]
        h = self.wte(x) + self.wpe.weight[:x.shape[1]]
        for block in self.h:
            h = block(h)
        logits = F.linear(self.ln_f(h), self.wte.weight)
        return F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum")


class Mlp(nn.Module):
    def __init__(self, layers, width, inputs, classes):
        super().__init__()
        self.classes = classes
        sizes = [inputs] + [width] * layers + [max(1, classes)]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, x, targets):
        for layer in self.layers[:-1]:
            x = layer(x).relu()
        x = self.layers[-1](x)
        if self.classes == 0:
            return F.mse_loss(x.view(-1), targets, reduction="sum")
        return F.cross_entropy(x, targets.long(), reduction="sum")


class Block(nn.Module):
    def __init__(self, inputs, inner, stride, bottleneck):
        super().__init__()
        out = inner * (4 if bottleneck else 1)
        sides, strides = ((1, 3, 1), (1, stride, 1)) if bottleneck else ((3, 3), (stride, 1))
        sizes = [inputs, inner, inner, out] if bottleneck else [inputs, inner, out]
        for i, (side, step) in enumerate(zip(sides, strides)):
            conv = nn.Conv2d(sizes[i], sizes[i + 1], side, step, side // 2, bias=False)
            self.add_module(f"conv{i + 1}", conv)
            self.add_module(f"bn{i + 1}", nn.BatchNorm2d(sizes[i + 1]))
        self.count = len(sides)
        self.downsample = None
        if stride != 1 or inputs != out:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        h = x
        for i in range(1, self.count + 1):
            h = getattr(self, f"bn{i}")(getattr(self, f"conv{i}")(h))
            h = h.relu() if i < self.count else h
        return (h + (x if self.downsample is None else self.downsample(x))).relu()


class Resnet(nn.Module):
    def __init__(self, kind, width, classes):
        super().__init__()
        bottleneck = kind == "resnet50"
        self.conv1 = nn.Conv2d(3, width, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        channels = width
        for stage, count in enumerate((3, 4, 6, 3) if bottleneck else (2, 2, 2, 2)):
            blocks = []
            for i in range(count):
                blocks.append(Block(channels, width << stage, 2 if stage and i == 0 else 1, bottleneck))
                channels = (width << stage) * (4 if bottleneck else 1)
            self.add_module(f"layer{stage + 1}", nn.Sequential(*blocks))
        self.fc = nn.Linear(channels, classes)

    def forward(self, x, targets):
        h = self.bn1(self.conv1(x.view(-1, 3, 32, 32))).relu()
        for stage in range(1, 5):
            h = getattr(self, f"layer{stage}")(h)
        return F.cross_entropy(self.fc(h.mean((2, 3))), targets.long(), reduction="sum")


def main():
    kind, *numbers, source, target = sys.argv[1:]
    *shape, samples = map(int, numbers)
    torch.set_num_threads(1)
    model = {"gpt2": lambda: Gpt2(*shape), "mlp": lambda: Mlp(*shape)}.get(kind, lambda: Resnet(kind, *shape))()
    with open(source, "rb") as file:
        data = bytearray(file.read())
    buffers = {name: b for name, b in model.named_buffers() if b.is_floating_point()}
    at = 0
    for values in [*model.parameters(), *buffers.values()]:
        values.data.copy_(torch.frombuffer(data, dtype=torch.float32, count=values.numel(), offset=4 * at)
                          .view(values.shape))
        at += values.numel()
    if kind == "gpt2":
        loss = model(torch.frombuffer(data, dtype=torch.int16, offset=4 * at).view(samples, -1).long())
    else:
        rest = torch.frombuffer(data, dtype=torch.float32, offset=4 * at)
        loss = model(rest[:-samples].view(samples, -1), rest[-samples:])
    loss.backward()
    with open(target, "wb") as file:
        file.write(loss.detach().double().numpy().tobytes())
        for p in model.parameters():
            file.write(p.grad.contiguous().numpy().tobytes())
        # PyTorch has moved each buffer by new = 0.9 old + 0.1 statistic, from which the statistic is computed.
        at = sum(p.numel() for p in model.parameters())
        for b in buffers.values():
            old = torch.frombuffer(data, dtype=torch.float32, count=b.numel(), offset=4 * at).double()
            file.write(((b.double() - 0.9 * old) / 0.1).float().numpy().tobytes())
            at += b.numel()



if __name__ == "__main__":
    main()
