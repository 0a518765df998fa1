"""Looks at what user code can keep in Python: attributes of modules, containers, globals, closures and caches.

Everything is bounded: the number of things, the bytes that are hashed or kept, and the time."""

from __future__ import annotations

import argparse
import contextlib
import functools
import gc
import itertools
import operator
import random
import sys
import time
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Literal

import torch

from rekindle.checks import plan
from rekindle.checks.kept import (Place, copying, copying_array, generator_state, hashed, in_class, in_dict, putting,
                                  refilling, shown)
from rekindle.layout import plain
from rekindle.randomness import numpy

Kind = Literal["counter", "tensor", "memo", "generator", "attribute"]

MOST_THINGS = 50_000
MOST_SECONDS = 5.0
MOST_DEPTH = 8
# At most so many parts of a container are looked at, and a copy is kept of one that has no more.
MOST_PARTS = 512
# An experiment costs a forward, so it is made with so many things.
MOST_EXPERIMENTS = 12
# At most so many bytes of a tensor are hashed, and a copy is kept of one that has no more. The others are for all
# together.
MOST_BYTES, MOST_BYTES_HASHED, MOST_BYTES_KEPT = 4 << 20, 128 << 20, 64 << 20
# Modules have these attributes from PyTorch. Only the hooks among them may hold what a user has written.
_OF_PYTORCH = set(vars(torch.nn.Module())) - {"training"}
_HOOKS = ("_forward_hooks", "_forward_pre_hooks")
# Caches of functools in these packages hold nothing of the user's.
_PLAIN_CACHES = {"torch", "torchgen", "numpy", "sympy", "mpmath", "rekindle", *sys.stdlib_module_names}
# Objects of these packages are not looked into, except for those that only hold what a user has put there.
_OPAQUE = {"torch", "numpy", *sys.stdlib_module_names}
_HOLDERS = (types.SimpleNamespace, argparse.Namespace, torch.utils.data.Dataset)
# These are seeded before every forward and every sample.
_SEEDED = {id(torch.default_generator), id(random._inst)}
if numpy is not None:
    _SEEDED.add(id(numpy.random.mtrand._rand))


@dataclass
class Seen:
    """One thing at one time. `undo` makes it what it was then, and `remove` takes it away."""

    kind: Kind
    token: object
    shown: str
    owner: str
    undo: Callable[[], None] | None
    remove: Callable[[], None] | None


@dataclass
class Change:
    path: str
    kind: Kind
    owner: str
    before: str
    after: str
    undo: Callable[[], None] | None


@dataclass
class Snapshot:
    seen: dict[str, Seen] = field(default_factory=dict)
    # `whole` is false where a bound was reached.
    whole: bool = True


def snapshot(roots: Mapping[str, Any], known: set[int], modules: Mapping[str, types.ModuleType]) -> Snapshot:
    """Looks at everything below `roots`, at the globals of `modules`, and at all caches of functools.

    `known` has the ids of tensors that travel with the weights. A root is called by its name, and a global by its
    module's name."""
    walk = _Walk(known)
    for name, root in roots.items():
        walk.visit(name, root, Place(), "", 0)
    for name, module in modules.items():
        walk.globals(name, module)
    walk.caches()
    return walk.result


def changes(before: Snapshot, after: Snapshot) -> list[Change]:
    """Returns what is different, without what is below something that is different itself."""
    found: list[Change] = []
    gone = {path: seen for path, seen in before.seen.items() if path not in after.seen}
    for path in [*after.seen, *gone]:
        old, new = before.seen.get(path), after.seen.get(path)
        if old and new and old.token == new.token or any(_below(path, one.path) for one in found):
            continue
        seen = new or old
        assert seen is not None
        undo = old.undo if old else seen.remove
        found.append(Change(path, seen.kind if new else "attribute", seen.owner, old.shown if old else "nothing",
                            new.shown if new else "nothing", undo))
    order: tuple[Kind, ...] = ("generator", "counter", "tensor", "memo", "attribute")
    return sorted(found, key=lambda change: order.index(change.kind))


def experiments(right: Callable[[], bool], changed: list[Change]) -> list[Change]:
    """Returns what was the cause: the one thing with which, put back, the result is right, or else all together."""
    tried = [change for change in changed if change.undo is not None][:MOST_EXPERIMENTS]
    for change in tried:
        _undo(change)
        if right():
            return [change]
    for change in tried:
        _undo(change)
    return tried if tried and right() else []


def _undo(change: Change) -> None:
    # What the user's code has made of its things may not take the old value any more. Then it stays unexplained.
    with contextlib.suppress(Exception):
        assert change.undo is not None
        change.undo()


def _below(path: str, other: str) -> bool:
    return path.startswith(other) and path[len(other):len(other) + 1] in (".", "[")


class _Walk:
    def __init__(self, known: set[int]) -> None:
        self.result = Snapshot()
        self._known = known
        self._entered: set[int] = set()
        # What was entered lives as long as the walk, so that no id comes twice.
        self._alive: list[Any] = []
        self._end = time.monotonic() + MOST_SECONDS
        self._hashed = self._kept = 0

    def visit(self, path: str, value: Any, place: Place, owner: str, depth: int) -> None:
        if len(self.result.seen) >= MOST_THINGS or depth > MOST_DEPTH or time.monotonic() > self._end:
            self.result.whole = False
            return
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            kind: Kind = "counter" if isinstance(value, (int, float)) else "attribute"
            # A NaN does not equal itself, but its text does.
            token = repr(value) if isinstance(value, (float, complex)) else value
            self._note(path, kind, (type(value), token), shown(value), place, owner, putting(place, value))
        elif isinstance(value, torch.Tensor):
            if id(value) not in self._known:
                self._tensor(path, value, place, owner)
        elif id(value) in _SEEDED:
            pass
        elif (state := generator_state(value)) is not None:
            self._note(path, "generator", state[0], "another state", place, owner, state[1])
        elif numpy is not None and isinstance(value, numpy.ndarray):
            self._array(path, value, place, owner)
        elif isinstance(value, (list, tuple, set, frozenset, dict, deque)):
            if self._enter(value):
                self._container(path, value, place, owner, depth)
        elif isinstance(value, (Iterator, itertools.count)) and not isinstance(value, torch.nn.Module):
            self._iterator(path, value, place, owner)
        elif self._enter(value):
            self._object(path, value, owner, depth)

    def globals(self, name: str, module: types.ModuleType) -> None:
        """Visits the globals of a module, and what its own classes and functions hold."""
        for key, value in list(vars(module).items()):
            if key.startswith("__") or isinstance(value, types.ModuleType):
                continue
            if isinstance(value, type):
                if value.__module__ == module.__name__:
                    self._class(f"{name}.{key}", value)
            elif not isinstance(value, types.FunctionType) or value.__module__ == module.__name__:
                self.visit(f"{name}.{key}", value, in_dict(vars(module), key), "", 1)

    def caches(self) -> None:
        """Notes how full the caches of functools are, except for those of PyTorch and of Python itself."""
        for cache in gc.get_objects():
            if type(cache) is not functools._lru_cache_wrapper or len(self.result.seen) >= MOST_THINGS:
                continue
            module = str(getattr(cache, "__module__", ""))
            if module.split(".")[0] in _PLAIN_CACHES:
                continue
            info = cache.cache_info()
            name = f"functools.lru_cache {module}.{getattr(cache, '__qualname__', '?')}"
            self._note(name, "memo", (info.misses, info.currsize), f"{info.currsize} results", Place(), "",
                       cache.cache_clear)

    def _note(self, path: str, kind: Kind, token: object, shown: str, place: Place, owner: str,
              undo: Callable[[], None] | None) -> None:
        self.result.seen[path] = Seen(kind, token, shown, owner, undo, place.remove)

    def _enter(self, value: Any) -> bool:
        if id(value) in self._entered:
            return False
        self._entered.add(id(value))
        self._alive.append(value)
        return True

    def _tensor(self, path: str, value: torch.Tensor, place: Place, owner: str) -> None:
        values = value.detach()
        # Tensors of other classes, such as those that only stand for one, may have no memory.
        ordinary = type(values) is torch.Tensor and values.layout == torch.strided and values.device.type == "cpu"
        size = values.numel() * values.element_size()
        ordinary = ordinary and not values.is_quantized and (size == 0 or values.untyped_storage().nbytes() > 0)
        token: object = (id(value), value._version)
        undo = None
        if ordinary and (size <= MOST_BYTES or values.is_contiguous()) and self._hashed < MOST_BYTES_HASHED:
            if size > MOST_BYTES:
                values = values.view(-1)[::size // MOST_BYTES + 1]
            self._hashed += min(size, MOST_BYTES)
            token = (values.dtype, value.shape, plan.digest(values.contiguous()))
            if size <= MOST_BYTES and self._kept + size <= MOST_BYTES_KEPT:
                self._kept += size
                undo = copying(value, place)
        self._note(path, "tensor", token, f"a tensor of the shape {list(value.shape)}", place, owner, undo)

    def _array(self, path: str, value: Any, place: Place, owner: str) -> None:
        size = int(value.nbytes)
        token: object = id(value)
        undo = None
        if size <= MOST_BYTES and self._hashed < MOST_BYTES_HASHED and value.dtype != object:
            self._hashed += size
            token = (str(value.dtype), value.shape, hashed(value.tobytes()))
            if self._kept + size <= MOST_BYTES_KEPT:
                self._kept += size
                undo = copying_array(value, place)
        self._note(path, "tensor", token, f"an array of the shape {list(value.shape)}", place, owner, undo)

    def _container(self, path: str, value: Any, place: Place, owner: str, depth: int) -> None:
        kind: Kind = "memo"
        token: tuple[object, ...] = (type(value), len(value))
        if isinstance(value, (set, frozenset)):
            token += tuple(sorted(shown(part) for part in itertools.islice(value, MOST_PARTS)))
        elif isinstance(value, dict):
            token += tuple(shown(key) for key in itertools.islice(value, MOST_PARTS))
        undo = refilling(value, place) if len(value) <= MOST_PARTS else None
        self._note(path, kind, token, f"{len(value)} parts", place, owner, undo)
        if isinstance(value, dict):
            for key, part in list(itertools.islice(value.items(), MOST_PARTS)):
                self.visit(f"{path}[{shown(key)}]", part, in_dict(value, key), owner, depth + 1)
        elif isinstance(value, (list, tuple, deque)):
            for at, part in enumerate(list(itertools.islice(value, MOST_PARTS))):
                there = Place(functools.partial(value.__setitem__, at)) if not isinstance(value, tuple) else Place()
                self.visit(f"{path}[{at}]", part, there, owner, depth + 1)

    def _iterator(self, path: str, value: Any, place: Place, owner: str) -> None:
        """Notes how far an iterator is, without moving it."""
        where: object = repr(value) if isinstance(value, itertools.count) else operator.length_hint(value, -1)
        frame = getattr(value, "gi_frame", None)
        if frame is not None:
            numbers = {name: number for name, number in frame.f_locals.items() if isinstance(number, (int, float))}
            where = (frame.f_lasti, repr(sorted(numbers.items())))
        self._note(path, "counter", (type(value), where), "another place", place, owner, None)

    def _object(self, path: str, value: Any, owner: str, depth: int) -> None:
        if isinstance(value, torch.nn.Module):
            self._module(path, value, depth)
        elif isinstance(value, types.FunctionType):
            self._function(path, value, depth)
        elif isinstance(value, types.MethodType):
            self.visit(path, value.__self__, Place(), "", depth + 1)
        elif isinstance(value, functools.partial):
            for name, part in (("func", value.func), ("args", value.args), ("keywords", value.keywords)):
                self.visit(f"{path}.{name}", part, Place(), "", depth + 1)
        elif not isinstance(value, (type, types.ModuleType)) and hasattr(value, "__dict__"):
            if type(value).__module__.split(".")[0] not in _OPAQUE or isinstance(value, _HOLDERS):
                self._attributes(path, vars(value), type(value).__name__, depth, set())

    def _module(self, path: str, module: torch.nn.Module, depth: int) -> None:
        self._attributes(path, vars(module), type(module).__name__, depth, _OF_PYTORCH)
        for name in _HOOKS:
            for number, hook in vars(module).get(name, {}).items():
                self.visit(f"{path}.{name}[{number}]", hook, Place(), "", depth + 1)
        # The tensors of a module that is in no other module's list are not known, so they are looked at.
        for tensors in (module._parameters, module._buffers):
            for key, tensor in tensors.items():
                if tensor is not None:
                    self.visit(f"{path}.{key}", tensor, in_dict(tensors, key), type(module).__name__, depth)
        for key, part in module._modules.items():
            if part is not None:
                # A deep module is no deep structure: its parts are at the depth of the module.
                self.visit(plain(f"{path}.{key}"), part, Place(), "", depth)

    def _function(self, path: str, function: types.FunctionType, depth: int) -> None:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            self.visit(f"{path}.{name}", value, Place(functools.partial(setattr, cell, "cell_contents")), "", depth + 1)
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        for number, value in enumerate(defaults):
            self.visit(f"{path}.default[{number}]", value, Place(), "", depth + 1)
        self._attributes(path, vars(function), "", depth, {"__wrapped__"})
        if "__wrapped__" in vars(function):
            self.visit(path, vars(function)["__wrapped__"], Place(), "", depth + 1)

    def _class(self, path: str, value: type) -> None:
        for key, part in list(vars(value).items()):
            if not key.startswith("__") and not isinstance(part, (types.FunctionType, property, classmethod,
                                                                  staticmethod, type, functools.cached_property)):
                self.visit(f"{path}.{key}", part, in_class(value, key), f"the class {value.__name__}", 1)

    def _attributes(self, path: str, attributes: MutableMapping[str, Any], owner: str, depth: int,
                    without: set[str]) -> None:
        for key, part in list(attributes.items()):
            if key not in without:
                self.visit(f"{path}.{key}", part, in_dict(attributes, key), owner, depth + 1)
