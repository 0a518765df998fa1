"""Runs in a data process: makes the batches that are asked for, one after another."""

from __future__ import annotations

import contextlib
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
MOST_BYTES = 64 * 1024 + REQUEST.size


def serve(end: socket.socket, reader: Reader) -> None:
    """Answers requests until the other side closes the socket."""
    # More threads than this one do not outlive a fork.
    torch.set_num_threads(1)
    while packet := end.recv(MOST_BYTES):
        number, kind, first, *checked, count = REQUEST.unpack_from(packet)
        samples = struct.unpack_from(f"<{count}q", packet, REQUEST.size)
        try:
            if kind == HASHES:
                end.send(ANSWER.pack(number, *reader.hashes(samples)))
                continue
            descriptor, hashed = reader.written(kind == VALIDATION, first, samples, Checked(*checked))
        except BaseException as error:
            report = _report(error, samples, reader.folder)
            end.send(ANSWER.pack(number, FAILED, 0) + json.dumps(report).encode("utf-8"))
            continue
        try:
            socket.send_fds(end, [ANSWER.pack(number, MADE, hashed)], [descriptor])
        finally:
            os.close(descriptor)


class Checked(NamedTuple):
    """Names the sample of a step that two workers compare, by its place in the run and its number. Without one, both
    are -1."""

    place: int = -1
    sample: int = -1


class Reader:
    """Reads samples and makes batches of them. Their order alone decides about a batch, and not who makes it."""

    def __init__(self, task: Task, seed: int, folder: str, exact: bool = True) -> None:
        """`folder` is that of the task. Without `exact`, samples may differ in numbers that are not whole."""
        self._task, self._seed, self.folder = task, seed, folder
        own = [folder, *filter(None, map(os.environ.get, ("HOME", "TMPDIR")))]
        self._hasher = sample_hash.Hasher(own, whole=exact)

    def batch(self, validation: bool, first: int, samples: Sequence[int]) -> Any:
        """Returns the batch of the samples. Raises Refused."""
        return self.collated(first, samples, self.items(validation, first, samples), validation)

    def written(self, validation: bool, first: int, samples: Sequence[int], checked: Checked) -> tuple[int, int]:
        """Returns a memfd with the batch, and the hash of the checked sample, or 0 if there is none. Raises Refused."""
        items = self.items(validation, first, samples)
        at = checked.place - first
        own = 0 <= at < len(samples) and samples[at] == checked.sample
        # A sample is hashed before collate, which may change it.
        hashed = _word(self._hasher.of(items[at])) if own else 0
        descriptor = batches.write(self.collated(first, samples, items, validation))
        if checked.sample >= 0 and not own:
            # The batch is written already, because a Dataset may read each sample into the same memory.
            try:
                hashed = _word(self._hasher.of(self._read(validation, *checked)))
            except BaseException:
                os.close(descriptor)
                raise
        return descriptor, hashed

    def hashes(self, samples: Sequence[int]) -> tuple[int, int]:
        """Returns MADE and a hash of all samples in the first pass over the data, or NOT_REPEATED and one of them that
        is another one when it is read again after a batch was made of it. Raises Refused."""
        hashes = []
        for sample in samples:
            item = self._read(False, sample, sample)
            hashes.append(self._hasher.of(item))
            # A collator that needs several samples, as one that mixes them, says nothing here.
            with contextlib.suppress(Refused):
                self.collated(sample, [sample], [item])
        for sample, known in zip(samples, hashes):
            if self._hasher.of(self._read(False, sample, sample)) != known:
                return NOT_REPEATED, sample
        return MADE, _word(self._hasher.of(hashes))

    def items(self, validation: bool, first: int, samples: Sequence[int]) -> list[Any]:
        """Returns the samples, as they are before collate. Raises Refused."""
        return [self._read(validation, place, sample) for place, sample in enumerate(samples, first)]

    def _read(self, validation: bool, place: int, sample: int) -> Any:
        data: Any = self._task.validation if validation else self._task.data
        # A batch may end one pass over the data and begin the next one.
        epoch = -1 if validation else place // len(data)
        randomness.seed_all(randomness.sample_key(self._seed, epoch, sample))
        try:
            return data[sample]
        except BaseException as error:
            raise Refused(f"{_name(validation)}[{sample}] raised {said(error)}; mend the sample, or the line that the "
                          "traceback shows",
                          kind=kind_of(error, "data"), sample=sample,
                          lines=user_lines(error, self.folder)) from error

    def collated(self, first: int, samples: Sequence[int], items: list[Any], validation: bool = False) -> Any:
        """Returns what collate makes of the samples, which are `items`. Raises Refused."""
        randomness.seed_all(randomness.collate_key(self._seed, first, tuple(samples)))
        try:
            return (self._task.collate or torch.utils.data.default_collate)(items)
        except Refused:
            raise
        except BaseException as error:
            odd, data = _odd_one(items), _name(validation)
            which = "" if odd is None else (f"; {data}[{samples[odd]}] is {_form(items[odd])}, and "
                                            f"{data}[{samples[0]}] is {_form(items[0])}")
            raise Refused(f"collate raised {said(error)}{which}"[:MOST_MESSAGE] + "; give samples of one form, or pass "
                          "a collate to the Task", kind=kind_of(error, "data"),
                          sample=None if odd is None else samples[odd],
                          lines=user_lines(error, self.folder)) from error


def _name(validation: bool) -> str:
    """Returns the name that the Dataset has as an argument of Task."""
    return "validation" if validation else "data"


def _word(digest: bytes) -> int:
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
