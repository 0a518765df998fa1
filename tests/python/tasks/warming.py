"""Tasks for model processes that are forked from a warm process. What they print tells the test what happens."""

import json
import os
import signal

import torch

import rekindle
from models import Points, entropy, perceptron

calls = 0


def counts():
    global calls
    calls += 1
    print(f"call {calls}", flush=True)
    return perceptron()


class Holding(torch.nn.Module):
    """Stays in one call of a C function, which keeps the interpreter's lock, where it gets two samples."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 3)

    def forward(self, x):
        if len(x) == 2:
            print("holds", flush=True)
            sum(range(10**10))
        return self.layer(x)


def holds():
    return rekindle.Task(Holding(), data=Points(), loss=entropy)


def aborts():
    os.abort()


def leaves():
    os._exit(7)


def escapes():
    """Leaves a process that is in no group of this one, and whose parent has ended."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            print(f"escaped {os.getpid()}", flush=True)
            signal.pause()
        os._exit(0)
    os.wait()
    return perceptron()


def signals():
    print(json.dumps([signal.getsignal(signal.SIGTERM) == signal.SIG_DFL,
                      list(signal.pthread_sigmask(signal.SIG_BLOCK, [])), os.getpgrp() == os.getpid(),
                      os.readlink("/proc/self/fd/0"), os.listdir("/proc/self/fd")]), flush=True)
    return perceptron()
