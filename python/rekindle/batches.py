"""Moves a batch from a data process to the model process through a memfd of its own.

The memfd has a table of the buffers, then the pickled batch without its tensors and arrays, then the buffers. Only the
descriptor goes through the socket."""

from __future__ import annotations

import io
import mmap
import os
import pickle
import struct
from typing import Any

import torch

from rekindle.memory import ALIGNMENT, bytes_of

_HEAD = struct.Struct("<QQ")
_BUFFER = struct.Struct("<QQ")


class _Pickler(pickle.Pickler):
    """Pickles without the bytes of tensors and arrays, which are in `buffers` afterwards."""

    def __init__(self, file: io.BytesIO) -> None:
        self.buffers: list[memoryview] = []
        self._kept: list[Any] = []
        super().__init__(file, protocol=5, buffer_callback=self._keep)

    def _keep(self, buffer: pickle.PickleBuffer) -> bool:
        self._kept.append(buffer)
        self.buffers.append(buffer.raw())
        return False

    def reducer_override(self, value: Any) -> Any:
        if type(value) is not torch.Tensor or not _plain(value):
            return NotImplemented
        whole = value.contiguous()
        self._kept.append(whole)
        dtype = str(value.dtype).removeprefix("torch.")
        return _tensor, (pickle.PickleBuffer(bytes_of(whole)), dtype, tuple(value.shape))


def _plain(tensor: torch.Tensor) -> bool:
    return (tensor.device.type == "cpu" and tensor.layout == torch.strided and not tensor.requires_grad
            and not tensor.is_quantized and not tensor.is_conj() and not tensor.is_neg())


def _tensor(buffer: Any, dtype: str, shape: tuple[int, ...]) -> torch.Tensor:
    if 0 in shape:
        return torch.empty(shape, dtype=getattr(torch, dtype))
    return torch.frombuffer(buffer, dtype=getattr(torch, dtype)).view(shape)


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def write(batch: Any) -> int:
    """Returns a memfd that holds `batch`."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(batch)
    skeleton = file.getbuffer()
    at = _aligned(_HEAD.size + len(pickler.buffers) * _BUFFER.size + len(skeleton))
    table = []
    for buffer in pickler.buffers:
        table.append((at, len(buffer)))
        at = _aligned(at + len(buffer))
    head = _HEAD.pack(len(table), len(skeleton)) + b"".join(_BUFFER.pack(*row) for row in table)
    descriptor = os.memfd_create("rekindle-batch", os.MFD_CLOEXEC)
    try:
        os.ftruncate(descriptor, max(at, 1))
        _write(descriptor, memoryview(head), 0)
        _write(descriptor, skeleton, len(head))
        for (begin, _), buffer in zip(table, pickler.buffers):
            _write(descriptor, buffer, begin)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _write(descriptor: int, data: memoryview, at: int) -> None:
    while data:
        written = os.pwrite(descriptor, data, at)
        data, at = data[written:], at + written


def read(descriptor: int) -> Any:
    """Returns the batch that write() put into a memfd. Its tensors lie there. Closes the descriptor."""
    try:
        mapped = mmap.mmap(descriptor, 0, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE)
    finally:
        os.close(descriptor)
    whole = memoryview(mapped)
    count, size = _HEAD.unpack_from(whole)
    rows = [_BUFFER.unpack_from(whole, _HEAD.size + row * _BUFFER.size) for row in range(count)]
    begin = _HEAD.size + count * _BUFFER.size
    return pickle.loads(whole[begin:begin + size], buffers=[whole[at:at + length] for at, length in rows])
