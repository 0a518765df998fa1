"""Runs in a data process: makes the batches that are asked for, one after another."""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any

import torch

from rekindle import batches, randomness
from rekindle.errors import MOST_MESSAGE, Refused, kind_of, said, user_lines
from rekindle.task import Task

# A request has its number, 1 for validation data or else 0, the place of the first sample in the run, and the sample
# numbers. An answer has the number and 0 beside a memfd with the batch, or 1 before what went wrong as JSON.
REQUEST = struct.Struct("<QBqI")
ANSWER = struct.Struct("<QB")
MOST_BYTES = 64 * 1024 + REQUEST.size


def serve(end: socket.socket, task: Task, seed: int, folder: str) -> None:
    """Answers requests until the other side closes the socket."""
    # More threads than this one do not outlive a fork.
    torch.set_num_threads(1)
    while packet := end.recv(MOST_BYTES):
        number, validation, first, count = REQUEST.unpack_from(packet)
        samples = struct.unpack_from(f"<{count}q", packet, REQUEST.size)
        try:
            descriptor = batches.write(make(task, validation == 1, seed, first, samples, folder))
        except BaseException as error:
            end.send(ANSWER.pack(number, 1) + json.dumps(_report(error, samples, folder)).encode("utf-8"))
            continue
        try:
            socket.send_fds(end, [ANSWER.pack(number, 0)], [descriptor])
        finally:
            os.close(descriptor)


def make(task: Task, validation: bool, seed: int, first: int, samples: Sequence[int], folder: str) -> Any:
    """Returns the batch of the samples. Their order alone decides about it, and not who makes it. Raises Refused."""
    data: Any = task.validation if validation else task.data
    items = []
    for at, sample in enumerate(samples):
        # A batch may end one pass over the data and begin the next one.
        epoch = -1 if validation else (first + at) // len(data)
        randomness.seed_all(randomness.sample_key(seed, epoch, sample))
        try:
            items.append(data[sample])
        except BaseException as error:
            raise Refused(f"data[{sample}] raised {said(error)}; mend the sample, or the line that the traceback shows",
                          kind=kind_of(error, "data"), sample=sample, lines=user_lines(error, folder)) from error
    randomness.seed_all(randomness.collate_key(seed, first, tuple(samples)))
    try:
        return (task.collate or torch.utils.data.default_collate)(items)
    except BaseException as error:
        odd = _odd_one(items)
        which = "" if odd is None else (f"; data[{samples[odd]}] is {_form(items[odd])}, and data[{samples[0]}] is "
                                        f"{_form(items[0])}")
        raise Refused(f"collate raised {said(error)}{which}"[:MOST_MESSAGE] + "; give samples of one form, or pass a "
                      "collate to the Task", kind=kind_of(error, "data"),
                      sample=None if odd is None else samples[odd], lines=user_lines(error, folder)) from error


def _report(error: BaseException, samples: Sequence[int], folder: str) -> dict[str, Any]:
    if not isinstance(error, Refused):
        error = Refused(f"the batch of the samples {some(samples)} could not be sent to the model process: "
                        f"{said(error)}; give tensors, numbers, texts, and lists and dicts of them",
                        kind=kind_of(error, "data"), lines=user_lines(error, folder))
    return {"message": error.message, "kind": error.kind, "sample": error.sample, "lines": error.lines}


def some(samples: Sequence[int]) -> str:
    """Returns the first samples, for a message."""
    return ", ".join(map(str, samples[:8])) + (", ..." if len(samples) > 8 else "")


def _odd_one(items: Sequence[Any]) -> int | None:
    """Returns the place of the first item whose form is not that of item 0, or None."""
    forms = [_form(item) for item in items]
    return next((at for at, form in enumerate(forms) if form != forms[0]), None)


def _form(item: Any, depth: int = 4) -> str:
    """Returns the types and shapes in a sample."""
    shape = getattr(item, "shape", None)
    if shape is not None:
        return f"{type(item).__name__}{list(shape)}"
    if depth and isinstance(item, dict):
        return "{" + ", ".join(f"{key!r}: {_form(value, depth - 1)}" for key, value in list(item.items())[:16]) + "}"
    if depth and isinstance(item, (list, tuple)):
        return f"{type(item).__name__}({len(item)}: " + ", ".join(_form(part, depth - 1) for part in item[:16]) + ")"
    return type(item).__name__
