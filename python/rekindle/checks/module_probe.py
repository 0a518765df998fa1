"""Plays micro-batches in this process, and says what the module and the loss function have kept."""

from __future__ import annotations

import contextlib
import os
import random
import struct
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from rekindle import layout, randomness, settings, task
from rekindle.checks import causes, observed, plan
from rekindle.checks.entropy import Watch
from rekindle.checks.kept import generator_state
from rekindle.checks.plan import MicroBatch, Result
from rekindle.checks.report import Cause
from rekindle.data_process import DataProcesses, Wanted
from rekindle.data_worker import TRAINING, Reader
from rekindle.errors import inside
from rekindle.randomness import numpy
from rekindle.settings import Settings


@dataclass
class Loaded:
    """A task beside what watches it. `modules` are the user's own, by name."""

    task: task.Task
    parts: layout.Parts
    settings: Settings
    watch: Watch
    modules: dict[str, types.ModuleType]

    def snapshot(self, **roots: Any) -> observed.Snapshot:
        known = {id(part) for part in self.task.module.modules()}
        known |= {id(tensor) for tensor in [*self.task.module.parameters(), *self.task.module.buffers()]}
        return observed.snapshot(roots, known, self.modules)


def load(fields: dict[str, Any], tell: Callable[[Cause], None]) -> Loaded:
    """Loads the task as a model process does. Tells what is drawn meanwhile."""
    chosen = settings.read(fields)
    settings.apply(chosen)
    watch = Watch(chosen.folder)
    randomness.seed_task(chosen.seed)
    before = _states()
    with watch.during(causes.IN_IMPORT):
        function = task.load(chosen.task, chosen.folder)
    drawn = [name for name, state in _states().items() if state != before[name]]
    if drawn:
        tell(causes.of_import(chosen.task.partition(":")[0], drawn))
    randomness.seed_task(chosen.seed)
    with watch.during(causes.IN_TASK):
        made = task.make(function, chosen.task, chosen.folder)
    for draw in watch.draws:
        tell(causes.of_draw(draw))
    settings.apply(chosen)
    parts = layout.describe(made.module, made.buffers)
    if not made.module.training:
        made.module.train()
    root = os.path.join(os.path.realpath(chosen.folder), "")
    modules = {name: module for name, module in list(sys.modules.items())
               if inside(getattr(module, "__file__", None) or "<", root)}
    return Loaded(made, parts, chosen, watch, modules)


def search(loaded: Loaded, batches: Sequence[MicroBatch], alone: Result | None, part: int | None,
           tell: Callable[[Cause], None]) -> None:
    """Plays `batches`, and tells what has changed by it.

    Where the last one should have given `alone`, and its entry `part` or its loss differs, experiments show why."""
    player = _Player(loaded)
    inputs = [_fresh(loaded, batch) for batch in batches]
    before = loaded.snapshot(module=loaded.task.module, loss=loaded.task.loss)
    noted = len(loaded.watch.draws)
    for batch, values in zip(batches, inputs):
        result = player.play(batch, values)
    player.restore()
    changed = observed.changes(before, loaded.snapshot(module=loaded.task.module, loss=loaded.task.loss))
    for draw in loaded.watch.draws[noted:]:
        tell(causes.of_draw(draw))
    confirmed: list[observed.Change] = []
    if alone is not None and not _same(result, alone, part):
        confirmed = observed.experiments(lambda: _same(player.play(batches[-1], inputs[-1]), alone, part), changed)
    for change in changed:
        tell(causes.of_change(change, causes.IN_FORWARD, confirmed))


def _same(result: Result, alone: Result, part: int | None) -> bool:
    return result.bits == alone.bits and (part is None or result.parts.get(part) == alone.parts.get(part))


def _fresh(loaded: Loaded, batch: MicroBatch) -> Any:
    """Returns the batch as a new data process makes it, so that no state of the Dataset is in it."""
    processes = DataProcesses(Reader(loaded.task, loaded.settings.seed, loaded.settings.folder), 1, 0, [])
    try:
        return processes.take(Wanted(TRAINING, batch.first, batch.samples))[0]
    finally:
        processes.stop()


def _states() -> dict[str, bytes]:
    """Returns hashes of the states of the generators that everybody shares."""
    shared: dict[str, Any] = {"torch": torch.default_generator, "random": random._inst}
    if numpy is not None:
        shared["numpy.random"] = numpy.random.mtrand._rand
    states = {}
    for name, generator in shared.items():
        state = generator_state(generator)
        assert state is not None
        states[name] = state[0]
    return states


class _Player:
    """Computes micro-batches as a model process does, with the module's own memory."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._parameters = loaded.parts.trained
        self._initial = [parameter.detach().float().clone() for parameter in self._parameters]
        self._buffers = [(owner._buffers, key, tensor, tensor.detach().clone())
                         for owner in loaded.task.module.modules() for key, tensor in owner._buffers.items()
                         if tensor is not None and any(tensor is own for own in loaded.parts.buffers)]
        self._step = 0

    def restore(self) -> None:
        """Gives the buffers their initial values."""
        with torch.no_grad():
            for owner, key, tensor, value in self._buffers:
                owner[key] = tensor
                tensor.data = value.clone()

    def play(self, batch: MicroBatch, values: Any) -> Result:
        chosen = self._loaded.settings
        if batch.step != self._step:
            self._step = batch.step
            self._set_weights()
        self.restore()
        for parameter in self._parameters:
            parameter.grad = None
        randomness.seed_all(randomness.forward_key(chosen.seed, batch.step, batch.index))
        autocast = (contextlib.nullcontext() if chosen.dtype is None else
                    torch.autocast(chosen.device, dtype=chosen.dtype))
        with self._loaded.watch.during(causes.IN_FORWARD):
            with autocast:
                outcome = self._loaded.task.loss(self._loaded.task.module, values)
            loss = outcome.loss_sum.reshape(()).float()
            if int(outcome.count):
                loss.backward()
        value = float(loss.detach())
        return Result(value, struct.pack("<d", value), int(outcome.count), 0, self._parts())

    def _set_weights(self) -> None:
        with torch.no_grad():
            for number, (parameter, initial) in enumerate(zip(self._parameters, self._initial)):
                values = initial.clone()
                if self._step:
                    plan.move(values, number, self._loaded.settings.seed)
                parameter.data.copy_(values)

    def _parts(self) -> dict[int, bytes]:
        tensors = {number: parameter.grad for number, parameter in enumerate(self._parameters)}
        for number, own in enumerate(self._loaded.parts.buffers, len(self._parameters)):
            tensors[number] = next(owner[key] for owner, key, tensor, _ in self._buffers if tensor is own)
        return {number: plan.digest(tensor.detach().float().contiguous())
                for number, tensor in tensors.items() if tensor is not None}
