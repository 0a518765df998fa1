"""Gives a module its buffers before each forward, and delivers what forward made of them.

During forward a buffer lies in memory of this process, which gets its values from the weights. So each micro-batch of a
step begins with the same values, and what it makes of them is delivered like a gradient. All buffers are copied at
once: those of float32 lie in one block as in the flat memory, and those of each other type in a block of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NoReturn

import torch

from rekindle.errors import Refused
from rekindle.layout import MOST_WHOLE, TRAINED, WHOLE, Entry
from rekindle.memory import views
from rekindle.randomness import WORD, splitmix64

# A place of a buffer in a module is the dict of its owner, and the key in it.
Place = tuple[dict[str, torch.Tensor | None], str]


class _Block:
    """Holds all buffers of one type that is not float32. `positions` says where their values are in the region."""

    def __init__(self, dtype: torch.dtype, numbers: list[int], entries: Sequence[Entry], begin: int) -> None:
        chosen = [entries[number] for number in numbers]
        self.numbers = numbers
        self.whole = dtype in WHOLE
        self.positions = torch.cat([torch.arange(entry.offset - begin, entry.offset - begin + entry.size)
                                    for entry in chosen])
        self.values = torch.empty(len(self.positions), dtype=dtype)
        # Every micro-batch has to give the same whole numbers where the rule is the mean, so only these are hashed.
        self.hashed = self.whole and any(entry.rule == "mean" for entry in chosen)
        self.factors = torch.cat([_factors(number, entries[number]) for number in numbers]) if self.hashed else None
        self.parts: dict[int, torch.Tensor] = {}
        at = 0
        for number, entry in zip(numbers, chosen):
            self.parts[number] = self.values[at:at + entry.size].view(entry.shape)
            at += entry.size


class Buffers:
    """Holds the persistent buffers of a module. `entries` are theirs in the layout, and `tensors` are themselves."""

    def __init__(self, module: torch.nn.Module, entries: Sequence[Entry], tensors: Sequence[torch.Tensor]) -> None:
        self._entries = list(entries)
        self._own = list(tensors)
        self._shapes = [tensor.shape for tensor in tensors]
        self._places = [_places(module, own) for own in self._own]
        self._all_places = [(number, own, *place) for number, own in enumerate(self._own)
                            for place in self._places[number]]
        self._frozen = {number for number, entry in enumerate(entries) if entry.rule == "frozen"}
        begin = entries[0].offset if entries else 0
        self._block = torch.empty(sum(entry.size for entry in entries))
        self._parts = views(self._block, entries, begin)
        self._weights: torch.Tensor | None = None
        self._others = []
        for dtype in {tensor.dtype for tensor in tensors} - {torch.float32}:
            numbers = [number for number, tensor in enumerate(tensors) if tensor.dtype == dtype]
            self._others.append(_Block(dtype, numbers, entries, begin))
        # `_memory` has the memory of each buffer during forward.
        self._memory = list(self._parts)
        for block in self._others:
            for number, part in block.parts.items():
                self._memory[number] = part
        with torch.no_grad():
            for own, memory in zip(self._own, self._memory):
                memory.copy_(own)
                own.data = memory
        self._pointers = [memory.data_ptr() for memory in self._memory]
        # `_moved` says that something may be in the place of a buffer that is not the buffer in its memory.
        self._moved = False

    def bind(self, weights: torch.Tensor) -> None:
        """From now on the buffers' values come from `weights`, the region of all buffers."""
        self._weights = weights

    def restore(self) -> None:
        """Puts the values of the weights into the module's own buffers."""
        if self._moved:
            for number, own in enumerate(self._own):
                for owner, key in self._places[number]:
                    owner[key] = own
                own.data = self._memory[number]
        self._moved = True
        if self._own and self._weights is not None:
            self._block.copy_(self._weights)
            for block in self._others:
                block.values.copy_(self._block.index_select(0, block.positions))

    def copy_own(self, region: torch.Tensor) -> None:
        """Puts the values that the module has now into `region`."""
        for block in self._others:
            self._block.index_copy_(0, block.positions, block.values.float())
        region.copy_(self._block)

    def deliver(self, region: torch.Tensor, scale: float) -> int:
        """Puts the new values, times `scale`, into `region`.

        Returns the hash of those that are whole numbers, which is 0 if there are none. Raises Refused."""
        if not self._own:
            return 0
        self._collect()
        sums = []
        for block in self._others:
            if block.whole and int(block.values.long().abs().max()) > MOST_WHOLE:
                self._refuse_too_large(block)
            if block.factors is not None:
                sums.append(int((block.values * block.factors).sum()))
        self.copy_own(region)
        # A sum that is finite has only finite parts, and it is quicker to make than an answer for each part.
        if not math.isfinite(float(region.sum())):
            for number, part in enumerate(self._parts):
                if not bool(torch.isfinite(part).all()):
                    self._refuse(number, "is not finite after forward")
        if scale != 1:
            region.mul_(scale)
        # The blocks have another order in each process, so the hash is a sum, and 0 stands for none of them.
        return (sum(sums) & WORD or 1) if sums else 0

    def _collect(self) -> None:
        """Copies what forward has put in the place of buffers into their memory. Frozen ones get their value back."""
        pointers, shapes = self._pointers, self._shapes
        moved = {number for number, own, owner, key in self._all_places
                 if owner.get(key) is not own or own.data_ptr() != pointers[number] or own.shape != shapes[number]}
        values = {}
        for number in moved:
            if number not in self._frozen:
                owner, key = self._places[number][0]
                # The new value may be in the memory of another buffer, so nothing is written before all were read.
                values[number] = self._checked(number, owner.get(key)).clone()
        for number in self._frozen:
            values[number] = self._weight(number)
        for number, value in values.items():
            self._memory[number].copy_(value)
        self._moved = bool(moved)

    def _weight(self, number: int) -> torch.Tensor:
        assert self._weights is not None
        entry = self._entries[number]
        begin = entry.offset - self._entries[0].offset
        return self._weights[begin:begin + entry.size].view(entry.shape)

    def _checked(self, number: int, value: torch.Tensor | None) -> torch.Tensor:
        """Returns a value that forward has put in the place of a buffer, if it has its form."""
        entry = self._entries[number]
        if not isinstance(value, torch.Tensor):
            self._refuse(number, "is gone after forward")
        if value.shape != self._shapes[number]:
            self._refuse(number, f"has the shape {list(value.shape)} after forward instead of {entry.shape}")
        if value.dtype not in (WHOLE if entry.whole else TRAINED):
            self._refuse(number, f"is of type {value.dtype} after forward instead of torch.{entry.dtype}")
        if entry.whole and int(value.long().abs().max()) > MOST_WHOLE:
            self._refuse(number, f"has a value beyond {MOST_WHOLE}, which has no exact value as float32")
        return value.detach()

    def _refuse_too_large(self, block: _Block) -> None:
        for number, part in block.parts.items():
            if int(part.long().abs().max()) > MOST_WHOLE:
                self._refuse(number, f"has a value beyond {MOST_WHOLE}, which has no exact value as float32")

    def _refuse(self, number: int, what: str) -> NoReturn:
        name = self._entries[number].name
        raise Refused(f"the buffer {name} {what}; keep it as it is in forward, or pass buffers={{\"{name}\": "
                      "\"frozen\"} to the Task, so that its changes are dropped, or register it with "
                      "persistent=False and compute it anew in each forward", kind="shape", parameter=name)


def _places(module: torch.nn.Module, own: torch.Tensor) -> list[Place]:
    """Returns all places where a buffer is, since the user may have given it to several modules."""
    return [(owner._buffers, key) for owner in module.modules() for key, value in owner._buffers.items()
            if value is own]


def _factors(number: int, entry: Entry) -> torch.Tensor:
    """Returns an odd factor of 64 bits for each value of a whole-number buffer, or 0 where it is not hashed."""
    if entry.rule != "mean":
        return torch.zeros(entry.size, dtype=torch.int64)
    words = torch.arange(entry.size, dtype=torch.int64) + _signed(splitmix64(number))
    # This is splitmix64. PyTorch shifts by the sign, so the bits that it lets in are masked.
    words = words + _signed(0x9E3779B97F4A7C15)
    words = (words ^ (words >> 30 & (1 << 34) - 1)) * _signed(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> 27 & (1 << 37) - 1)) * _signed(0x94D049BB133111EB)
    return (words ^ (words >> 31 & (1 << 33) - 1)) | 1


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word
