"""Tasks that are trained as they should be."""

import random

import numpy
import torch
import torch.utils.checkpoint
from torch.nn import functional

import rekindle


class Points(torch.utils.data.Dataset):
    """Points with a class. With `draws`, noise from the generators of numpy, Python and PyTorch is added to each."""

    def __init__(self, count=64, width=8, draws=False):
        self.values = torch.randn(count, width)
        self.classes = torch.arange(count) % 3
        self.draws = draws

    def __len__(self):
        return len(self.values)

    def __getitem__(self, sample):
        value = self.values[sample].clone()
        if self.draws:
            value += torch.randn(8) + float(numpy.random.rand()) + random.random()
        return {"x": value, "y": self.classes[sample]}


def entropy(module, batch):
    return rekindle.Sum(functional.cross_entropy(module(batch["x"]), batch["y"], reduction="sum"), len(batch["y"]))


def perceptron():
    module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 3))
    return rekindle.Task(module, data=Points(), validation=Points(12), loss=entropy)


class Mixed(torch.nn.Module):
    """Has tied, frozen and unused parameters, and buffers of every kind."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 8, bias=False)
        self.second = torch.nn.Linear(8, 8)
        self.second.weight = self.first.weight
        self.frozen = torch.nn.Linear(8, 8)
        self.frozen.requires_grad_(False)
        self.unused = torch.nn.Linear(8, 2)
        self.norm = torch.nn.BatchNorm1d(8)
        self.last = torch.nn.Linear(8, 3)
        self.register_buffer("factor", torch.full((2,), 0.5))
        self.register_buffer("seen", torch.tensor([True, False]))
        self.register_buffer("cache", torch.ones(4), persistent=False)

    def forward(self, x):
        return self.last(self.norm(self.second(self.first(x)) + self.frozen(x))) * self.factor[0]


def mixed():
    return rekindle.Task(Mixed(), data=Points(), validation=Points(8), loss=entropy, buffers={"fac*": "frozen"},
                         groups={"*.bias": {"weight_decay": 0.0}, "last.*": {"learning_rate": 0.5}})


def helped():
    return rekindle.Task(torch.nn.Linear(8, 3), data=Points(), loss=entropy, data_workers=3)


class Noisy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 3)

    def forward(self, x):
        drawn = torch.from_numpy(numpy.random.rand(*x.shape)).float() + random.random() + torch.rand(8)
        return self.layer(functional.dropout(x + drawn, 0.5, self.training))


def noisy():
    return rekindle.Task(Noisy(), data=Points(draws=True), loss=entropy)


def half():
    module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Linear(16, 3)).to(torch.bfloat16)

    def loss(module, batch):
        return entropy(lambda x: module(x.to(torch.bfloat16)).float(), batch)

    return rekindle.Task(module, data=Points(), loss=loss)


class Checkpointed(torch.nn.Module):
    """Uses one layer within two reentrant checkpoints and outside of them, so its gradient comes several times."""

    def __init__(self):
        super().__init__()
        self.shared = torch.nn.Linear(8, 8)
        self.large = torch.nn.Linear(8, 64 * 1024)
        self.last = torch.nn.Linear(64 * 1024, 3)

    def forward(self, x):
        x = self.shared(x)
        for _ in range(2):
            x = torch.utils.checkpoint.checkpoint(self.shared, x, use_reentrant=True)
        return self.last(self.large(x))


def checkpointed():
    return rekindle.Task(Checkpointed(), data=Points(), loss=entropy)


def deep():
    """Has 150 parameters, of which backward passes several marks."""
    layers = [torch.nn.Linear(8, 8)] + [torch.nn.Linear(8, 8) for _ in range(72)]
    module = torch.nn.Sequential(*layers, torch.nn.Linear(8, 80_000), torch.nn.Linear(80_000, 3))
    return rekindle.Task(module, data=Points(), loss=entropy)


class Memory(torch.nn.Module):
    """Puts new tensors in the place of its buffers, as a queue of keys and a pointer into it do."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 3)
        self.register_buffer("queue", torch.zeros(8))
        self.register_buffer("pointer", torch.zeros((), dtype=torch.int64))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int32))

    def forward(self, x):
        self.queue = 0.5 * self.queue + 0.5 * x.mean(0)
        self.pointer = (self.pointer + len(x)) % 8
        self.calls += 1
        return self.layer(x + self.queue)


def memory():
    return rekindle.Task(Memory(), data=Points(), validation=Points(8), loss=entropy)


def first_pointer():
    return rekindle.Task(Memory(), data=Points(), loss=entropy, buffers={"pointer": "first", "calls": "frozen"})


def none_counted():
    """Counts only samples of class 1, so that a micro-batch may count none."""
    def loss(module, batch):
        kept = batch["y"] == 1
        values = functional.cross_entropy(module(batch["x"]), batch["y"], reduction="none")
        return rekindle.Sum((values * kept).sum(), kept.sum())

    return rekindle.Task(torch.nn.Linear(8, 3), data=Points(), loss=loss)
