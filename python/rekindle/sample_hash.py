"""Hashes a sample by its types, shapes and values, so that two processes can compare what they have read."""

from __future__ import annotations

import array
import dataclasses
import datetime
import decimal
import enum
import hashlib
import pathlib
from collections import deque
from collections.abc import Mapping, Sequence, Set
from typing import Any

import torch

from rekindle.memory import bytes_of
from rekindle.randomness import numpy

MOST_DEPTH = 8
# The hash has the first parts and bytes of a very large sample only.
MOST_PARTS = 100_000
MOST_BYTES = 1 << 28
BYTES = 16
_NUMBERS = (bool, int, float, complex)
_BY_TEXT = (range, enum.Enum, decimal.Decimal, datetime.date, datetime.time, datetime.timedelta)


class Hasher:
    """Hashes samples. The paths of the folders `own` do not count in texts, because a job has them at another place on
    each node.

    `whole` says that numbers that are not whole count, too. Other processors and versions of libraries may compute
    them a bit differently."""

    def __init__(self, own: Sequence[str] = (), whole: bool = True) -> None:
        self._own = sorted({folder.rstrip("/") for folder in own if folder.rstrip("/")}, key=len, reverse=True)
        self._whole = whole

    def of(self, sample: Any) -> bytes:
        """Returns BYTES bytes. An object of a class that is not known here counts by its class alone: it may keep in
        its attributes what it has computed since."""
        part = _Hash(self._own, self._whole)
        part.add(sample, 0)
        return part.digest()


class _Hash:
    def __init__(self, own: Sequence[str], whole: bool) -> None:
        self._own, self._whole = own, whole
        self._hash = hashlib.blake2b(digest_size=BYTES)
        self._parts = self._bytes = 0
        self.digest = self._hash.digest

    def add(self, value: Any, depth: int) -> None:
        self._parts += 1
        if self._parts > MOST_PARTS:
            return
        self._text(type(value).__name__)
        try:
            self._add(value, depth)
        except Exception:
            self._text("cannot be read")

    def _text(self, text: str) -> None:
        self._hash.update(text.encode("utf-8", "surrogatepass") + b"\0")

    def _raw(self, data: Any) -> None:
        view = memoryview(data).cast("B")
        self._hash.update(view[:max(MOST_BYTES - self._bytes, 0)])
        self._bytes += len(view)

    def _add(self, value: Any, depth: int) -> None:
        if isinstance(value, torch.Tensor):
            self._tensor(value, depth)
        elif numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
            self._array(value, depth)
        elif value is None or isinstance(value, _NUMBERS):
            self._numbers([value])
        elif isinstance(value, (str, pathlib.PurePath)):
            text = str(value)
            for folder in self._own:
                text = text.replace(folder, "")
            self._text(text)
        elif isinstance(value, (bytes, bytearray, memoryview)):
            self._raw(bytes(value) if isinstance(value, memoryview) else value)
        elif isinstance(value, _BY_TEXT):
            self._text(repr(value))
        elif isinstance(value, array.array):
            self._text(value.typecode)
            self._raw(value.tobytes())
        elif depth < MOST_DEPTH:
            self._compound(value, depth + 1)

    def _tensor(self, value: torch.Tensor, depth: int) -> None:
        if value.is_nested:
            self._compound(list(value.unbind()), depth + 1)
            return
        dense = value.detach() if value.layout == torch.strided else value.detach().to_dense()
        self._text(f"{dense.dtype}{list(dense.shape)}")
        if self._whole or not (dense.is_floating_point() or dense.is_complex()):
            values = dense.cpu().resolve_conj().resolve_neg().contiguous()
            self._raw(bytes_of(values))

    def _array(self, value: Any, depth: int) -> None:
        self._text(f"{value.dtype}{value.shape}")
        if value.dtype.hasobject:
            self._compound(value.tolist(), depth + 1)
        elif self._whole or value.dtype.kind not in "fcV":
            self._raw(value.tobytes())

    def _numbers(self, values: Sequence[Any]) -> None:
        self._text(repr(values if self._whole else
                        [type(value) if isinstance(value, (float, complex)) else value for value in values]))

    def _compound(self, value: Any, depth: int) -> None:
        if isinstance(value, (list, tuple, deque)):
            self._text(str(len(value)))
            if all(type(part) in _NUMBERS for part in value):
                # A long list of numbers counts as one part.
                self._numbers(list(value))
                return
            for part in value:
                self.add(part, depth)
        elif isinstance(value, Mapping):
            self._text(str(len(value)))
            for key in value:
                self.add(key, depth)
                self.add(value[key], depth)
        elif isinstance(value, Set):
            digests = sorted(Hasher(self._own, self._whole).of(part) for part in value)
            self._raw(b"".join(digests))
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            for field in dataclasses.fields(value):
                self.add(getattr(value, field.name, None), depth)
        elif type(value).__module__.partition(".")[0] == "PIL":
            self._text(f"{value.mode}{value.size}")
            self._raw(value.tobytes())
            self.add(value.getpalette(), depth)
