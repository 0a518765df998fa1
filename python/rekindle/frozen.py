"""Puts the frozen parameters of a module into files that all processes of its job on a node map, so that they take
memory once."""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import warnings
from collections.abc import Iterable

import torch

from rekindle.memory import bytes_of

# Smaller parameters are not worth a file.
LEAST_BYTES = 1 << 20
# The files count as files of the job, which may have 10 GiB of them, of at most 4 GiB each.
MOST_BYTES = 4 << 30


def share(parameters: Iterable[torch.Tensor], folder: str) -> None:
    """Has parameters use the memory of files in `folder`, which can only be read: a write ends the process with
    SIGSEGV. A file is made by the first process that needs it. Where there is no room for it, or the file has other
    values, the parameter stays as it is."""
    left = MOST_BYTES
    seen: set[int] = set()
    for parameter in parameters:
        size = parameter.numel() * parameter.element_size()
        if not LEAST_BYTES <= size <= left or not _is_alone(parameter, size, seen):
            continue
        with contextlib.suppress(OSError):
            mapped = _mapped(parameter, size, folder)
            if memoryview(mapped) == bytes_of(parameter):
                parameter.data = _tensor(mapped, parameter)
                left -= size


def _is_alone(parameter: torch.Tensor, size: int, seen: set[int]) -> bool:
    """Returns whether the values lie one after another in memory that nothing else uses."""
    if parameter.layout != torch.strided or parameter.device.type != "cpu" or parameter.is_quantized:
        return False
    storage = parameter.untyped_storage()
    is_new = storage.data_ptr() not in seen
    seen.add(storage.data_ptr())
    return is_new and parameter.is_contiguous() and storage.nbytes() == size


def _mapped(parameter: torch.Tensor, size: int, folder: str) -> mmap.mmap:
    """Returns the mapping of the file with the values of a parameter. Makes the file if there is none."""
    path = os.path.join(folder, f"frozen-{hashlib.blake2b(bytes_of(parameter), digest_size=16).hexdigest()}")
    if not os.path.exists(path):
        # Several processes may do this at once, and each of them writes the same.
        new = f"{path}.{os.getpid()}"
        try:
            with open(new, "wb") as file:
                file.write(bytes_of(parameter))
            os.replace(new, path)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(new)
            raise
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size != size:
            raise OSError(f"{path} has another size")
        return mmap.mmap(file.fileno(), size, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)


def _tensor(mapped: mmap.mmap, parameter: torch.Tensor) -> torch.Tensor:
    with warnings.catch_warnings():
        # PyTorch warns that a write to such a tensor is undefined. Here it is meant to end the process.
        warnings.simplefilter("ignore", UserWarning)
        return torch.frombuffer(mapped, dtype=parameter.dtype).view(parameter.shape)
