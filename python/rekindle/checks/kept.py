"""Makes what puts a value back that user code has kept and changed, for an experiment."""

from __future__ import annotations

import functools
import hashlib
import random
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

import torch

from rekindle.randomness import numpy

MOST_SHOWN = 40

Undo = Callable[[], None]


@dataclass
class Place:
    """Where something is: `put` puts another value there, and `remove` leaves nothing."""

    put: Callable[[Any], None] | None = None
    remove: Undo | None = None


def in_dict(values: MutableMapping[Any, Any], key: Any) -> Place:
    return Place(functools.partial(values.__setitem__, key), functools.partial(values.pop, key, None))


def in_class(owner: type, name: str) -> Place:
    def remove() -> None:
        if name in vars(owner):
            delattr(owner, name)

    return Place(functools.partial(setattr, owner, name), remove)


def putting(place: Place, value: Any) -> Undo | None:
    """Returns what puts an unchangeable value back."""
    return None if place.put is None else functools.partial(place.put, value)


def copying(tensor: torch.Tensor, place: Place) -> Undo:
    """Returns what puts a tensor back with the values that it has now."""
    copy = tensor.detach().clone()

    def undo() -> None:
        with torch.no_grad():
            tensor.data = copy.clone()
        if place.put is not None:
            place.put(tensor)

    return undo


def copying_array(array: Any, place: Place) -> Undo:
    copy = array.copy()

    def undo() -> None:
        array[...] = copy
        if place.put is not None:
            place.put(array)

    return undo


def refilling(container: Any, place: Place) -> Undo | None:
    """Returns what puts a container back with the parts that it has now."""
    copy = container.copy() if hasattr(container, "copy") else container

    def undo() -> None:
        if isinstance(container, list):
            container[:] = copy
        elif not isinstance(container, (tuple, frozenset)):
            container.clear()
            container.extend(copy) if hasattr(container, "extend") else container.update(copy)
        if place.put is not None:
            place.put(container)

    return undo


def generator_state(value: Any) -> tuple[bytes, Undo] | None:
    """Returns a hash of the state of a generator of random numbers and what puts it back, or None for anything else."""
    if isinstance(value, torch.Generator):
        tensor = value.get_state()

        def undo() -> None:
            value.set_state(tensor)

        return hashed(bytes(tensor.tolist())), undo
    if isinstance(value, random.Random) and not isinstance(value, random.SystemRandom):
        state = value.getstate()
        return hashed(repr(state).encode()), functools.partial(value.setstate, state)
    if numpy is not None and isinstance(value, numpy.random.Generator):
        bits = value.bit_generator
        known = bits.state
        return hashed(_spelled(known)), functools.partial(setattr, bits, "state", known)
    if numpy is not None and isinstance(value, numpy.random.RandomState):
        drawn = value.get_state()
        return hashed(_spelled(drawn)), functools.partial(value.set_state, drawn)
    return None


def hashed(data: Any) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def shown(value: Any) -> str:
    """Returns a short text for a value. The text of an object is the name of its type."""
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None), tuple)):
        text = repr(value)
        return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "..."
    return type(value).__name__


def _spelled(value: Any) -> bytes:
    """Returns all of a state of numpy's, whose arrays repr() would shorten."""
    if isinstance(value, dict):
        return b"".join(str(key).encode() + _spelled(part) for key, part in sorted(value.items()))
    if isinstance(value, tuple):
        return b"".join(_spelled(part) for part in value)
    return bytes(value.tobytes()) if hasattr(value, "tobytes") else repr(value).encode()
