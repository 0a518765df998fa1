"""Hashes a sample or a batch by its types, shapes and values, so that two processes can compare what they have read."""

from __future__ import annotations

import hashlib
from typing import Any

import torch

from rekindle.memory import bytes_of
from rekindle.randomness import numpy

MOST_DEPTH = 8
# A sample may refer to much that is none of it, such as its Dataset. The hash has its first parts only.
MOST_PARTS = 100_000
BYTES = 16


def of(value: Any) -> bytes:
    """Returns BYTES bytes. Of what is neither a tensor, nor an array, nor made of Python's own types, the attributes
    count, or the type alone where there are none."""
    whole = _Hash()
    whole.add(value, 0)
    return whole.digest()


class _Hash:
    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=BYTES)
        self._parts = 0
        self.digest = self._hash.digest

    def add(self, value: Any, depth: int) -> None:
        self._parts += 1
        if self._parts > MOST_PARTS:
            return
        self._hash.update(type(value).__name__.encode())
        if isinstance(value, torch.Tensor):
            dense = value.detach() if value.layout == torch.strided else value.detach().to_dense()
            self._hash.update(f"{dense.dtype}{list(dense.shape)}".encode())
            whole = dense.cpu().resolve_conj().resolve_neg().contiguous()
            self._hash.update(bytes_of(whole))
        elif numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
            self._hash.update(f"{value.dtype}{value.shape}".encode())
            self._hash.update(value.tobytes() if value.dtype != object else repr(value.tolist()).encode())
        elif value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            self._hash.update(repr(value).encode())
        elif depth == MOST_DEPTH:
            return
        elif isinstance(value, (list, tuple)):
            self._hash.update(b"%d" % len(value))
            for part in value:
                self.add(part, depth + 1)
        elif isinstance(value, dict):
            self._hash.update(b"%d" % len(value))
            for key, part in value.items():
                self.add(key, depth + 1)
                self.add(part, depth + 1)
        elif callable(getattr(value, "tobytes", None)):
            # Pictures of PIL and arrays of Python keep their values outside of their attributes.
            self._hash.update(value.tobytes())
        elif hasattr(value, "__dict__"):
            self.add(vars(value), depth + 1)
