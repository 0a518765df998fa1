"""Checks a task from a script: the work is done by a program of its own, which nothing of the script can disturb."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rekindle import processes
from rekindle import task as tasks
from rekindle.errors import Refused

if TYPE_CHECKING:
    from rekindle.checks.report import Report

PRECISIONS = ("fp32", "bf16", "fp16")
EQUAL, DIFFERS, REFUSED = 0, 1, 2
# A micro-batch of a job has no more samples.
MOST_SAMPLES = 8000


def check(task: Callable[[], Any], *, micro_batch: int = 4, seed: int = 1, precision: str = "fp32",
          exact: bool = True) -> Report:
    """Shows whether the result of `task` depends on weights and samples alone, as it must where machines come and go.

    Plays 6 micro-batches of 2 steps in order, in reverse, and each alone in a new process, and compares loss, gradients
    and new values of buffers bit for bit. The report names what differs first and the likely cause. It is true if
    nothing differs.

    A check does not show that gradients are right, what happens after more calls than these, or that other machines,
    files and versions of libraries give the same bits. `task` is a function at the top of a file. Raises Refused where
    an argument is wrong; a task that cannot be trained gives a report that says so."""
    import json
    import subprocess

    from rekindle.checks import report

    spec, folder = tasks.locate(task)
    if type(micro_batch) is not int or not 1 <= micro_batch <= MOST_SAMPLES:
        raise Refused(f"micro_batch is {micro_batch!r}; give a number of samples from 1 to {MOST_SAMPLES}")
    if type(seed) is not int or not 0 <= seed < 1 << 64:
        raise Refused(f"seed is {seed!r}; give a whole number from 0 to 2^64 - 1")
    if precision not in PRECISIONS:
        raise Refused(f"the precision is {precision!r}; it is one of {', '.join(PRECISIONS)}")
    words = [sys.executable, "-m", "rekindle.check", folder, spec, "--json", "--micro-batch", str(micro_batch),
             "--seed", str(seed), "--precision", precision, *([] if exact else ["--inexact"])]
    done = subprocess.run(words, env=processes.environment(), cwd=os.path.abspath(os.sep), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode not in (EQUAL, DIFFERS, REFUSED):
        raise RuntimeError(f"the program of the check ended with code {done.returncode}; it wrote: {done.stdout}")
    try:
        return report.from_json(done.stdout)
    except json.JSONDecodeError:
        raise RuntimeError(f"the program of the check wrote no report, but: {done.stdout[:500]!r}") from None
