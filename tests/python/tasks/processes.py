"""A task whose loss is the number of the process that made the sample."""

import os

import torch

import rekindle


class Numbers:
    def __len__(self):
        return 8

    def __getitem__(self, sample):
        return os.getpid()


def task():
    return rekindle.Task(torch.nn.Linear(1, 1), data=Numbers(),
                         loss=lambda m, b: rekindle.Sum(m(torch.zeros(1)).sum() * 0 + b[0], 1))
