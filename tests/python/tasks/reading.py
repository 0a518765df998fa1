"""Tasks whose samples may be other ones on another machine, or when they are read again."""

import os
import pathlib

import torch
from torch.nn import functional

import rekindle


class Samples:
    """Has `count` numbers. What a file `shift` in the folder TEST_STARTS has is added to all of them, and `odd` is the
    number of one that is another one."""

    def __init__(self, count, odd=None):
        self.count, self.odd = count, odd

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        shift = pathlib.Path(os.environ.get("TEST_STARTS", "/nowhere"), "shift")
        more = float(shift.read_text()) if shift.exists() else 0.0
        return torch.tensor([index / self.count + (index == self.odd) + more])


class Drawn(Samples):
    def __getitem__(self, index):
        return super().__getitem__(index) + int.from_bytes(os.urandom(4), "little")


def of(data):
    def loss(module, batch):
        return rekindle.Sum(functional.mse_loss(module(batch), 2 * batch, reduction="sum"), len(batch))
    return rekindle.Task(torch.nn.Linear(1, 1), data=data, loss=loss)


def task():
    return of(Samples(60))


def task_of_other_samples():
    return of(Samples(60, odd=41))


def shorter():
    return of(Samples(59))


def unseeded():
    return of(Drawn(60))


def other_on_one_machine():
    """Has another sample 41 where a file `odd` is in the folder TEST_STARTS."""
    return of(Samples(60, odd=41 if pathlib.Path(os.environ["TEST_STARTS"], "odd").exists() else None))
