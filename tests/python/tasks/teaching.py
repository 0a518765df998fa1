"""Tasks with a frozen teacher of 4 MiB."""

import os
import resource

import models
import torch

import rekindle

if "TEST_NO_ROOM" in os.environ:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


class Taught(torch.nn.Module):
    def __init__(self, width, writes=False):
        super().__init__()
        self.teacher = torch.nn.Linear(8, width, bias=False)
        self.teacher.requires_grad_(False)
        self.last = torch.nn.Linear(8, 3)
        self.writes = writes

    def forward(self, x):
        if self.writes:
            with torch.no_grad():
                self.teacher.weight.add_(1)
        return self.last(x) * self.teacher(x).mean()


def of(width, writes=False):
    return rekindle.Task(Taught(width, writes), data=models.Points(), loss=models.entropy)


def task():
    return of(1 << 17)


def writes():
    return of(1 << 17, writes=True)


def writes_small():
    return of(16, writes=True)
