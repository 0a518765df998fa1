"""Runs in a data process: makes the batches that are asked for, one after another."""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from rekindle import batches, randomness, sample_hash
from rekindle.errors import MOST_MESSAGE, Refused, kind_of, said, user_lines
from rekindle.task import Task

# A request has its number, what is asked for, the place of the first sample in the run, the place and the number of the
# sample to hash, and the sample numbers. An answer has the number, how it went, and a hash. A batch lies in the memfd
# beside the answer, and after FAILED comes what went wrong as JSON.
REQUEST = struct.Struct("<QBqqqI")
ANSWER = struct.Struct("<QBQ")
TRAINING, VALIDATION, HASHES = range(3)
MADE, FAILED, NOT_REPEATED = range(3)
# Where samples are hashed alone, the first ones are read twice, to see whether the Dataset repeats them.
MOST_REPEATED = 8
MOST_BYTES = 64 * 1024 + REQUEST.size


def serve(end: socket.socket, task: Task, seed: int, folder: str) -> None:
    """Answers requests until the other side closes the socket."""
    # More threads than this one do not outlive a fork.
    torch.set_num_threads(1)
    while packet := end.recv(MOST_BYTES):
        number, kind, first, *checked, count = REQUEST.unpack_from(packet)
        samples = struct.unpack_from(f"<{count}q", packet, REQUEST.size)
        reader = Reader(task, seed, folder)
        try:
            if kind == HASHES:
                end.send(ANSWER.pack(number, *reader.hashes(samples)))
                continue
            batch = reader.batch(kind == VALIDATION, first, samples, Checked(*checked))
            descriptor = batches.write(batch)
        except BaseException as error:
            end.send(ANSWER.pack(number, FAILED, 0) + json.dumps(_report(error, samples, folder)).encode("utf-8"))
            continue
        try:
            socket.send_fds(end, [ANSWER.pack(number, MADE, reader.hash)], [descriptor])
        finally:
            os.close(descriptor)


class Checked(NamedTuple):
    """Names the sample of a step that two workers compare, by its place in the run and its number. Without one, both
    are -1."""

    place: int = -1
    sample: int = -1


class Reader:
    """Reads samples and makes batches of them. Their order alone decides about a batch, and not who makes it."""

    def __init__(self, task: Task, seed: int, folder: str) -> None:
        self._task, self._seed, self._folder = task, seed, folder
        # `hash` is that of the checked sample, or 0 if there was none.
        self.hash = 0

    def batch(self, validation: bool, first: int, samples: Sequence[int], checked: Checked = Checked()) -> Any:
        """Returns the batch of the samples. Raises Refused."""
        items = []
        for place, sample in enumerate(samples, first):
            items.append(self._read(validation, place, sample))
            if (place, sample) == checked:
                # It is hashed before collate, which may change it.
                self.hash = word(sample_hash.of(items[-1]))
        if checked.sample >= 0 and not self.hash:
            self.hash = word(sample_hash.of(self._read(validation, *checked)))
        return self._collated(first, samples, items)

    def hashes(self, samples: Sequence[int]) -> tuple[int, int]:
        """Returns MADE and a hash of all samples in the first pass over the data, or NOT_REPEATED and one of them that
        is another one when it is read again. Raises Refused."""
        hashes = [sample_hash.of(self._read(False, sample, sample)) for sample in samples]
        for sample, known in zip(samples[:MOST_REPEATED], hashes):
            if sample_hash.of(self._read(False, sample, sample)) != known:
                return NOT_REPEATED, sample
        return MADE, word(sample_hash.of(hashes))

    def _read(self, validation: bool, place: int, sample: int) -> Any:
        data: Any = self._task.validation if validation else self._task.data
        # A batch may end one pass over the data and begin the next one.
        epoch = -1 if validation else place // len(data)
        randomness.seed_all(randomness.sample_key(self._seed, epoch, sample))
        try:
            return data[sample]
        except BaseException as error:
            raise Refused(f"data[{sample}] raised {said(error)}; mend the sample, or the line that the traceback shows",
                          kind=kind_of(error, "data"), sample=sample,
                          lines=user_lines(error, self._folder)) from error

    def _collated(self, first: int, samples: Sequence[int], items: list[Any]) -> Any:
        randomness.seed_all(randomness.collate_key(self._seed, first, tuple(samples)))
        try:
            return (self._task.collate or torch.utils.data.default_collate)(items)
        except BaseException as error:
            odd = _odd_one(items)
            which = "" if odd is None else (f"; data[{samples[odd]}] is {_form(items[odd])}, and data[{samples[0]}] is "
                                            f"{_form(items[0])}")
            raise Refused(f"collate raised {said(error)}{which}"[:MOST_MESSAGE] + "; give samples of one form, or pass "
                          "a collate to the Task", kind=kind_of(error, "data"),
                          sample=None if odd is None else samples[odd],
                          lines=user_lines(error, self._folder)) from error


def word(digest: bytes) -> int:
    """Returns 64 bits of a hash, and never 0, which stands for none."""
    return int.from_bytes(digest[:8], "little") or 1


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
