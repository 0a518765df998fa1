"""Seeds the generators of PyTorch, numpy and `random`, so that what user code draws depends on a key alone."""

from __future__ import annotations

import random

import torch

try:
    import numpy as numpy
except ImportError:  # PyTorch works without numpy, and then there is no generator of numpy's to seed.
    numpy = None  # type: ignore[assignment]

WORD = 0xFFFFFFFFFFFFFFFF
# Each kind of key begins with a number of its own, so that no two of them are equal.
_FORWARD, _EVALUATION, _SAMPLE, _COLLATE = range(1, 5)


def splitmix64(word: int) -> int:
    """Returns the output of splitmix64 (Steele, Lea and Flood, 2014) for the state `word`."""
    word = (word + 0x9E3779B97F4A7C15) & WORD
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & WORD
    return word ^ (word >> 31)


def key(*words: int) -> int:
    """Returns a key of 64 bits that depends on every word and on their order."""
    state = 0
    for word in words:
        state = splitmix64(state ^ (word & WORD))
    return state


def forward_key(seed: int, step: int, index: int) -> int:
    return key(_FORWARD, seed, step, index)


def evaluation_key(seed: int, index: int) -> int:
    return key(_EVALUATION, seed, index)


def sample_key(seed: int, epoch: int, sample: int) -> int:
    return key(_SAMPLE, seed, epoch, sample)


def collate_key(seed: int, first: int, samples: tuple[int, ...]) -> int:
    return key(_COLLATE, seed, first, *samples)


def seed_all(word: int) -> None:
    """Seeds all generators by the 64 bits of `word`. numpy takes its upper 32 bits."""
    _seed(word, word >> 32)


def seed_task(seed: int) -> None:
    """Seeds all generators by the job's seed itself, as `torch.manual_seed(seed)` does in a script."""
    _seed(seed, seed & 0xFFFFFFFF)


def _seed(word: int, for_numpy: int) -> None:
    # torch.manual_seed() would also queue a call, with a traceback, for a GPU that nobody has begun to use.
    torch.default_generator.manual_seed(word)
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.manual_seed_all(word)
    if numpy is not None:
        numpy.random.seed(for_numpy)
    random.seed(word)
