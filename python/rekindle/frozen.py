"""Puts the frozen parameters of a module into a file that all processes of its job on a node map, so that they take
memory once."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import hashlib
import mmap
import os
import warnings
from collections.abc import Iterable

import torch

from rekindle.memory import ALIGNMENT, bytes_of

# Smaller parameters are not worth it.
LEAST_BYTES = 1 << 20
# A job may have 10 GiB of files, of at most 4 GiB each.
MOST_BYTES = (4 << 30) - (1 << 20)


def share(parameters: Iterable[torch.Tensor], folder: str) -> None:
    """Has parameters use the memory of a file in `folder`, which can only be read: a write ends the process with
    SIGSEGV. The file is made by the first process that needs it. Where there is no room for it, or a file of that name
    has other values, the parameters stay as they are."""
    chosen = _chosen(parameters)
    if not chosen:
        return
    with contextlib.suppress(OSError):
        mapped = _mapped(chosen, folder)
        if all(memoryview(mapped)[at:at + _size(parameter)] == bytes_of(parameter) for at, parameter in chosen):
            for at, parameter in chosen:
                parameter.data = _tensor(mapped, at, parameter)
            _give_back()


def _chosen(parameters: Iterable[torch.Tensor]) -> list[tuple[int, torch.Tensor]]:
    """Returns the parameters that are shared, each with its place in the file."""
    chosen: list[tuple[int, torch.Tensor]] = []
    seen: set[int] = set()
    at = 0
    for parameter in parameters:
        size = _size(parameter)
        if LEAST_BYTES <= size <= MOST_BYTES - at and _is_alone(parameter, size, seen):
            chosen.append((at, parameter))
            at += -(-size // ALIGNMENT) * ALIGNMENT
    return chosen


def _size(parameter: torch.Tensor) -> int:
    return parameter.numel() * parameter.element_size()


def _is_alone(parameter: torch.Tensor, size: int, seen: set[int]) -> bool:
    """Returns whether the values lie one after another in memory that nothing else uses."""
    if parameter.layout != torch.strided or parameter.device.type != "cpu" or parameter.is_quantized:
        return False
    storage = parameter.untyped_storage()
    is_new = storage.data_ptr() not in seen
    seen.add(storage.data_ptr())
    return is_new and parameter.is_contiguous() and storage.nbytes() == size


def _mapped(chosen: list[tuple[int, torch.Tensor]], folder: str) -> mmap.mmap:
    """Returns the mapping of the file with the values. Makes the file if there is none. Raises OSError."""
    whole = hashlib.blake2b(digest_size=16)
    for at, parameter in chosen:
        whole.update(b"%d " % at)
        whole.update(bytes_of(parameter))
    path = os.path.join(folder, f"frozen-{whole.hexdigest()}")
    if not os.path.exists(path):
        _write(chosen, folder, path)
    last, parameter = chosen[-1]
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        if status.st_uid != os.geteuid() or status.st_size != last + _size(parameter):
            raise OSError(f"{path} is of another user, or has another size")
        return mmap.mmap(file.fileno(), status.st_size, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)


def _write(chosen: list[tuple[int, torch.Tensor]], folder: str, path: str) -> None:
    """Makes the file. It has no name until it is whole, so that nothing is left of it where this process is killed."""
    descriptor = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        for at, parameter in chosen:
            data = bytes_of(parameter)
            while data:
                written = os.pwrite(descriptor, data, at)
                data, at = data[written:], at + written
        # Several processes may do this at once, and each of them has the same.
        with contextlib.suppress(FileExistsError):
            # With a descriptor, although a whole path needs none, the link is followed to the file.
            os.link(f"/proc/self/fd/{descriptor}", path, src_dir_fd=descriptor, follow_symlinks=True)
    finally:
        os.close(descriptor)


def _tensor(mapped: mmap.mmap, at: int, parameter: torch.Tensor) -> torch.Tensor:
    with warnings.catch_warnings():
        # PyTorch warns that a write to such a tensor is undefined. Here it is meant to end the process.
        warnings.simplefilter("ignore", UserWarning)
        flat = torch.frombuffer(mapped, dtype=parameter.dtype, count=parameter.numel(), offset=at)
    return flat.view(parameter.shape)


def _give_back() -> None:
    """Gives the memory of the copies back to the system. The C library may keep it for later, as a part of its heap."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
