"""Makes tensors of memory that the trainer shares: weights that can only be read, and slots for gradients."""

from __future__ import annotations

import ctypes
import mmap
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from rekindle.wire import Garbage

if TYPE_CHECKING:
    from rekindle.layout import Entry

ALIGNMENT = 64
WIDTH = 4


def bytes_of(tensor: torch.Tensor) -> memoryview:
    """Returns the memory of a contiguous tensor on the CPU. The tensor must outlive the view."""
    size = tensor.numel() * tensor.element_size()
    if not size:
        return memoryview(b"")
    return memoryview((ctypes.c_char * size).from_address(tensor.data_ptr())).cast("B")


def views(flat: torch.Tensor, entries: Sequence[Entry], begin: int = 0) -> list[torch.Tensor]:
    """Returns the part of `flat` that belongs to each entry, in its shape. `flat` begins at the offset `begin`."""
    return [flat[entry.offset - begin:entry.offset - begin + entry.size].view(entry.shape) for entry in entries]


def map_weights(descriptor: int, offset: int, size: int, total: int) -> torch.Tensor:
    """Returns `total` values of float32 from `offset` of a memfd. A write to them ends the process with SIGSEGV.

    Closes the descriptor. The mapping stays as long as a tensor uses it. Raises Garbage."""
    try:
        have = os.fstat(descriptor).st_size
        if offset % ALIGNMENT or size < total * WIDTH or offset > have or size > have - offset:
            raise Garbage(f"the weights are {size} bytes from {offset} of a memfd of {have} bytes, and the module "
                          f"needs {total * WIDTH} from a multiple of {ALIGNMENT}")
        mapped = mmap.mmap(descriptor, have, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)
    except (OSError, ValueError) as error:
        raise Garbage(f"the weights cannot be mapped: {error}") from None
    finally:
        os.close(descriptor)
    with warnings.catch_warnings():
        # PyTorch warns that a write to such a tensor is undefined. Here it is meant to end the process.
        warnings.simplefilter("ignore", UserWarning)
        return torch.frombuffer(mapped, dtype=torch.float32, count=total, offset=offset)


def map_slots(descriptor: int, slots: int, size: int, total: int) -> list[torch.Tensor]:
    """Returns `total` values of float32 for each slot of a memfd. Closes the descriptor. Raises Garbage."""
    try:
        have = os.fstat(descriptor).st_size
        if not 1 <= slots <= 64 or size % ALIGNMENT or size < total * WIDTH or size > have // slots:
            raise Garbage(f"the memfd of {have} bytes has {slots} slots of {size} bytes, and the module needs "
                          f"{total * WIDTH} for each, a multiple of {ALIGNMENT}")
        mapped = mmap.mmap(descriptor, have, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    except (OSError, ValueError) as error:
        raise Garbage(f"the memory for gradients cannot be mapped: {error}") from None
    finally:
        os.close(descriptor)
    return [torch.frombuffer(mapped, dtype=torch.float32, count=total, offset=slot * size) for slot in range(slots)]
