"""Tasks whose result depends on what came before, or on nothing that could be repeated, each for its own reason."""

import functools
import os
import time

import numpy
import torch

import rekindle
from models import Points, entropy

SEEN = {"batches": 0}


class Module(torch.nn.Module):
    """Multiplies the input by what `act(self, x)` returns."""

    def __init__(self, act):
        super().__init__()
        self.layer = torch.nn.Linear(8, 3)
        self.act = act

    def forward(self, x):
        return self.layer(x * self.act(self, x))


def acting(act, loss=entropy, data=None, collate=None):
    return rekindle.Task(Module(act), data=data or Points(), loss=loss, collate=collate)


def one(module, x):
    return 1.0


def counter():
    """Has a harmless attribute that changes, too."""
    def act(module, x):
        module.calls += 1
        module.last = x.mean()
        return 1 + 0.1 * module.calls

    task = acting(act)
    task.module.calls = 0
    return task


def two_counters():
    def act(module, x):
        module.calls += 1
        module.times.append(module.calls)
        return module.calls + len(module.times)

    task = acting(act)
    task.module.calls = 0
    task.module.times = []
    return task


def late_counter():
    """Counts, but the count means nothing in so few micro-batches."""
    def act(module, x):
        module.calls += 1
        return 1.0 if module.calls < 1000 else 2.0

    task = acting(act)
    task.module.calls = 0
    return task


def global_counter():
    def act(module, x):
        SEEN["batches"] += 1
        return SEEN["batches"]

    return acting(act)


def tensor():
    def act(module, x):
        module.mean = 0.9 * module.mean + 0.1 * x.detach().abs().mean()
        return module.mean

    task = acting(act)
    task.module.mean = torch.tensor(1.0)
    return task


def counted_buffer():
    """Has a buffer whose new value is a count of its own, and gradients that are right."""
    def act(module, x):
        module.calls += 1
        module.queue.fill_(module.calls)
        return 1.0

    task = acting(act)
    task.module.calls = 0
    task.module.register_buffer("queue", torch.zeros(2))
    return task


def hidden_module():
    """Has a batch norm in a list, where PyTorch does not see it."""
    def act(module, x):
        module.parts[0](x)
        return module.parts[0].running_var

    task = acting(act)
    task.module.parts = [torch.nn.BatchNorm1d(8)]
    return task


@functools.lru_cache
def mask(width):
    return torch.rand(width)


def cached():
    return acting(lambda module, x: mask(x.shape[1]))


def memo():
    """Keeps what it has computed from weights, which is wrong as soon as they change."""
    def act(module, x):
        if "norm" not in module.store:
            module.store["norm"] = module.layer.weight.detach().norm()
        return module.store["norm"]

    task = acting(act)
    task.module.store = {}
    return task


def generator():
    task = acting(lambda module, x: torch.rand(8, generator=module.source))
    task.module.source = torch.Generator().manual_seed(5)
    return task


def generator_of_numpy():
    task = acting(lambda module, x: float(module.source.random()))
    task.module.source = numpy.random.default_rng(5)
    return task


def generator_of_loss():
    source = torch.Generator().manual_seed(5)

    def loss(module, batch):
        return rekindle.Sum(entropy(module, batch).loss_sum * torch.rand((), generator=source), len(batch["y"]))

    return acting(one, loss)


def unseeded():
    task = acting(lambda module, x: float(module.source.random()))
    task.module.source = numpy.random.default_rng()
    return task


def unseeded_weights():
    task = acting(one)
    with torch.no_grad():
        task.module.layer.bias.add_(float(numpy.random.default_rng().random()))
    return task


def unseeded_teacher():
    task = acting(one)
    task.module.teacher = torch.nn.Parameter(torch.tensor(numpy.random.default_rng().random()), requires_grad=False)
    return task


def system():
    return acting(lambda module, x: 1 + int.from_bytes(os.urandom(4), "little") / 2 ** 32)


def clock():
    return acting(lambda module, x: time.time_ns() % 1000003)


def number_of_process():
    return acting(lambda module, x: os.getpid() % 1009)


class Counting(Points):
    def __init__(self):
        super().__init__()
        self.reads = 0

    def __getitem__(self, sample):
        self.reads += 1
        item = super().__getitem__(sample)
        return {**item, "x": item["x"] * self.reads}


def counting_data():
    return acting(one, data=Counting())


class Keeping(Points):
    """Augments each sample once and keeps it, as long as its process lives."""

    def __init__(self):
        super().__init__(draws=True)
        self.kept = {}

    def __getitem__(self, sample):
        if sample not in self.kept:
            self.kept[sample] = super().__getitem__(sample)
        return self.kept[sample]


def keeping_data():
    return acting(one, data=Keeping())


def drawing_collate():
    source = torch.Generator().manual_seed(5)

    def collate(items):
        batch = torch.utils.data.default_collate(items)
        return {**batch, "x": batch["x"] + torch.rand((), generator=source)}

    return acting(one, collate=collate)


class System(Points):
    def __getitem__(self, sample):
        item = super().__getitem__(sample)
        return {**item, "x": item["x"] + float(numpy.random.default_rng().random())}


def unseeded_data():
    return acting(one, data=System())


def unseen():
    """Keeps a count where nobody looks for it: in a file."""
    name = os.path.join(os.environ["TEST_SCRATCH"], "calls")

    def act(module, x):
        with open(name, "ab") as file:
            file.write(b"x")
        return os.path.getsize(name)

    return acting(act)
