"""Says which micro-batches a check plays, with which weights, and what it compares of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import torch

from rekindle.memory import bytes_of
from rekindle.randomness import key

COUNT = 6
PER_STEP = 3
# The weights of the second step differ from the initial ones by this part of their size.
MOVE = 0.01


@dataclass(frozen=True)
class MicroBatch:
    """`number` counts all micro-batches of the check, `index` those of the step, and `first` is the place of the first
    sample in the run."""

    number: int
    step: int
    index: int
    first: int
    samples: tuple[int, ...]


@dataclass
class Result:
    """What a micro-batch gave. `bits` are those of the loss, so that a NaN equals itself. `parts` has a hash of each
    gradient and new value, by its number in the layout."""

    loss: float = field(compare=False)
    bits: bytes
    count: int
    whole_buffers: int
    parts: dict[int, bytes]


def digest(values: torch.Tensor) -> bytes:
    """Returns a hash of contiguous values."""
    return hashlib.blake2b(bytes_of(values), digest_size=16).digest()


def batches(samples: int, size: int) -> list[MicroBatch]:
    """Returns the micro-batches of `size` samples, of a Dataset that has so many `samples`.

    The first four have samples of their own, from all parts of the Dataset. The last two have the samples of the second
    and of the first one, in a later pass over the data, because a sample that is kept shows only when it is read
    again."""
    own = (COUNT - 2) * size
    stride = max(samples // own, 1)
    later = samples * (own // samples + 1)
    made = []
    for number in range(COUNT):
        source = number if number < COUNT - 2 else COUNT - 1 - number
        chosen = tuple((source * size + at) * stride % samples for at in range(size))
        first = number * size if source == number else later + source * size
        made.append(MicroBatch(number, number // PER_STEP, number % PER_STEP, first, chosen))
    return made


def move(values: torch.Tensor, number: int, seed: int) -> None:
    """Changes the values of parameter `number` from those of the first step to those of the second, in place.

    Without that, a value that forward has computed from the weights and keeps would still be right."""
    if not values.numel():
        return
    generator = torch.Generator().manual_seed(key(seed, number) >> 1)
    size = float(values.float().pow(2).mean().sqrt()) or 1.0
    values.add_(torch.rand(values.shape, generator=generator).sub_(0.5).mul_(2 * MOVE * size).to(values.dtype))
