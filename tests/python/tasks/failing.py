"""Tasks that fail while they compute. What fails depends on the sample numbers."""

import gc
import os
import signal
import subprocess
import sys

import torch
from torch.nn import functional

import rekindle
from rekindle import settings
from models import Points, deep, entropy


class Module(torch.nn.Module):
    """Does `act(self, x)` in forward before the layer."""

    def __init__(self, act):
        super().__init__()
        self.layer = torch.nn.Linear(8, 3)
        self.teacher = torch.nn.Linear(8, 8).requires_grad_(False)
        self.norm = torch.nn.BatchNorm1d(8)
        self.register_buffer("queue", torch.zeros(4))
        self.register_buffer("cache", torch.zeros(4), persistent=False)
        self.register_buffer("lazy", None, persistent=False)
        self.act = act

    def forward(self, x):
        self.act(self, x)
        return self.layer(self.norm(x))


class Data(Points):
    """Fails for some samples."""

    def __getitem__(self, sample):
        if sample == 13:
            raise ValueError("thirteen is broken")
        if sample == 14:
            return {"x": torch.zeros(9), "y": torch.tensor(0)}
        if sample == 15:
            os._exit(9)
        if sample == 16:
            return {"x": torch.zeros(8), "y": lambda: 0}
        return super().__getitem__(sample)


def keep(batch):
    return batch if any(callable(item["y"]) for item in batch) else torch.utils.data.default_collate(batch)


def broken_data():
    return rekindle.Task(torch.nn.Linear(8, 3), data=Data(), loss=entropy, collate=keep)


def acting(act, loss=entropy):
    return rekindle.Task(Module(act), data=Points(), loss=loss)


def raises_on_two():
    def act(module, x):
        if len(x) == 2:
            raise ValueError("two samples are too few")
    return acting(act)


def reads_input():
    """Has a loss that depends on what the standard input holds."""
    return acting(nothing, lambda m, b: rekindle.Sum(m(b["x"]).sum() * 0 + len(sys.stdin.read()), len(b["y"])))


def awaits_process():
    """Waits in its first forward for a process that computes for a while, as a compiler does."""
    waited = []

    def act(module, x):
        if not waited:
            waited.append(subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 2: pass"],
                                         check=True))
    return acting(act)


def notes_nice():
    """Writes into a file the nice value that the process was told."""
    [told] = [one for one in gc.get_objects() if isinstance(one, settings.Settings)]
    with open(os.path.join(os.environ["TEST_SCRATCH"], "nice"), "a", encoding="ascii") as file:
        file.write(f"{told.nice}\n")
    return acting(nothing)


def starts_process():
    """Leaves a process of its own running, and writes its number into a file."""
    with open(os.path.join(os.environ["TEST_SCRATCH"], "started"), "w", encoding="ascii") as file:
        file.write(str(subprocess.Popen(["/bin/sleep", "1000"]).pid))
    return acting(nothing)


class Noted(Points):
    """Writes into a file which samples are read."""

    def __getitem__(self, sample):
        with open(os.path.join(os.environ["TEST_SCRATCH"], "reads"), "a", encoding="ascii") as file:
            file.write(f"{sample}\n")
        return super().__getitem__(sample)


def notes_reads():
    return rekindle.Task(torch.nn.Linear(8, 3), data=Noted(), loss=entropy)


def draws():
    """Computes something else in each process."""
    return acting(lambda module, x: module.queue.fill_(int.from_bytes(os.urandom(2), "little")))


def writes_parameter():
    def act(module, x):
        if len(x) == 2:
            module.layer.weight.data.mul_(0.5)
    return acting(act)


def replaces_memory():
    def act(module, x):
        if len(x) == 2:
            module.layer.weight.data = module.layer.weight.data * 0.5
    return acting(act)


def replaces_parameter():
    def act(module, x):
        if len(x) == 2:
            module.layer.weight = torch.nn.Parameter(module.layer.weight * 0.5)
    return acting(act)


def grows_queue():
    return acting(lambda module, x: setattr(module, "queue", torch.zeros(len(x))))


def spoils_queue():
    return acting(lambda module, x: module.queue.div_(0.0))


def retypes_queue():
    return acting(lambda module, x: setattr(module, "queue", module.queue.long()))


def writes_cache():
    return acting(lambda module, x: module.cache.add_(1.0))


def rewrites_cache():
    """Stores the same values anew, which is no change."""
    return acting(lambda module, x: setattr(module, "cache", torch.zeros(4)))


def fills_lazy():
    return acting(lambda module, x: setattr(module, "lazy", torch.ones(len(x))))


def hides_write():
    return acting(lambda module, x: module.cache.data.add_(1.0))


def makes_buffer():
    return acting(lambda module, x: module.register_buffer("late", torch.ones(1)))


def writes_teacher():
    def act(module, x):
        with torch.no_grad():
            module.teacher.weight.mul_(0.99)
    return acting(act)


def nothing(module, x):
    pass


def bare_loss():
    return acting(nothing, lambda m, b: functional.cross_entropy(m(b["x"]), b["y"]))


def pair_loss():
    return acting(nothing, lambda m, b: (functional.cross_entropy(m(b["x"]), b["y"]), 3))


def vector_loss():
    return acting(nothing, lambda m, b: rekindle.Sum(m(b["x"]).sum(0), 3))


def detached_loss():
    return acting(nothing, lambda m, b: rekindle.Sum(m(b["x"]).detach().sum(), 3))


def number_loss():
    return acting(nothing, lambda m, b: rekindle.Sum(m(b["x"]).sum().item(), 3))


def nan_loss():
    return acting(nothing, lambda m, b: rekindle.Sum(m(b["x"]).sum() * float("nan"), 3))


def half_count():
    return acting(nothing, lambda m, b: rekindle.Sum(m(b["x"]).sum(), 1.5))


def calls_backward():
    def loss(module, batch):
        value = module(batch["x"]).sum()
        value.backward(retain_graph=True)
        return rekindle.Sum(value, 3)
    return acting(nothing, loss)


def sparse():
    class Looked(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Parameter(torch.randn(3, 3))

        def forward(self, classes):
            return functional.embedding(classes, self.table, sparse=True)

    return rekindle.Task(Looked(), data=Points(), loss=lambda m, b: rekindle.Sum(m(b["y"]).sum(), len(b["y"])))


def huge():
    def act(module, x):
        if len(x) == 2:
            torch.empty(1 << 60)
    return acting(act)


def needs_memory():
    """Has memory for two samples at once."""
    class Small(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 3)

        def forward(self, x):
            if len(x) > 2:
                torch.empty(1 << 60)
            return self.layer(x)

    return rekindle.Task(Small(), data=Points(), loss=entropy)


def killed_for_memory():
    """Is killed where it gets more than two samples, as the system does where memory runs out."""
    def act(module, x):
        if len(x) > 2:
            os.kill(os.getpid(), signal.SIGKILL)
    return acting(act)


def ends_itself():
    def act(module, x):
        if len(x) > 2:
            os._exit(3)
    return acting(act)


def stops_itself():
    os.kill(os.getpid(), signal.SIGSTOP)
    return acting(nothing)


class Armed(torch.autograd.Function):
    """Raises an error in the next backward after a test has made the file `armed`."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        armed = os.path.join(os.environ["TEST_SCRATCH"], "armed")
        if os.path.exists(armed):
            os.remove(armed)
            raise ValueError("it was armed")
        return gradient


class Guarded(torch.nn.Module):
    """Lets `inner` have an input whose gradient goes through Armed after all others."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(Armed.apply(x.detach().requires_grad_()))


def raises_when_armed():
    return rekindle.Task(Guarded(deep().module), data=Points(), loss=entropy)


def differs_by_process():
    """Computes other gradients in each process, many of which are delivered before backward has ended."""
    factor = 1 + int.from_bytes(os.urandom(4), "little") / 2**32

    def loss(module, batch):
        right = entropy(module, batch)
        return rekindle.Sum(right.loss_sum * factor, right.count)

    return rekindle.Task(deep().module, data=Points(), loss=loss)


class Slow(torch.nn.Module):
    """Stays in one operator for many seconds where it gets two samples."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 3)

    def forward(self, x):
        if len(x) == 2:
            matrix = torch.full((6000, 6000), 0.5)
            x = x + (matrix @ matrix @ matrix).mean() * 0
        return self.layer(x)


def slow():
    return rekindle.Task(Slow(), data=Points(), loss=entropy)


class Endless(Points):
    """Never returns sample 2."""

    def __getitem__(self, sample):
        while sample == 2:
            pass
        return super().__getitem__(sample)


def endless_data():
    return rekindle.Task(torch.nn.Linear(8, 3), data=Endless(), loss=entropy, data_workers=3)
