"""Computes micro-batches: binds a module to the trainer's weights, runs forward and backward, and fills slots."""

from __future__ import annotations

import contextlib
import numbers
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from rekindle import messages, randomness
from rekindle.buffers import Buffers
from rekindle.errors import Refused
from rekindle.gradients import Gradients
from rekindle.layout import Parts
from rekindle.memory import views
from rekindle.outside import Outside
from rekindle.settings import Settings
from rekindle.state import BACKWARD, FORWARD, State
from rekindle.task import Sum, Task
from rekindle.wire import Garbage

HOW_TO_SUM = ("return rekindle.Sum(loss * n, n), where loss is a mean over n items, or make the loss with "
              "reduction=\"sum\" and return rekindle.Sum(loss, n)")
# The numbers of so many parameters fit into one message.
MOST_NUMBERS = 8000


@dataclass
class Slot:
    """The parts of a slot: one for each parameter, and one for all buffers."""

    parameters: list[torch.Tensor]
    buffers: torch.Tensor


class Model:
    """Computes with one module. `announce(request, numbers)` tells what is complete in the slot."""

    def __init__(self, task: Task, parts: Parts, settings: Settings, state: State,
                 announce: Callable[[int, tuple[int, ...]], None]) -> None:
        self._task, self._module = task, task.module
        self._layout, self._parameters = parts.layout, parts.trained
        self._settings, self._state, self._announce = settings, state, announce
        entries = parts.layout.entries
        self._first_buffer = len(parts.trained)
        self._names = [entry.name for entry in entries[:self._first_buffer]]
        self._places = _places(self._module, parts.trained)
        self._region_begin = sum(entry.size for entry in entries[:self._first_buffer])
        self._buffers = Buffers(self._module, entries[self._first_buffer:], parts.buffers)
        self._buffer_numbers = tuple(range(self._first_buffer, len(entries)))
        self._outside = Outside(self._module, parts)
        self._gradients = Gradients(parts.trained, self._names, self._arrived)
        self._gradients.forget()
        # Parameters of other types than float32 are copies of the weights, made anew before every forward.
        self._copies = {number: parameter.data for number, parameter in enumerate(parts.trained)
                        if parameter.dtype != torch.float32}
        self._cast = list(self._copies)
        self._versions = [0] * len(parts.trained)
        self._pointers: list[int] = []
        self._weights: list[torch.Tensor] = []
        self._slots: list[Slot] = []
        self._request = 0

    def bind(self, weights: torch.Tensor) -> None:
        """Makes the parameters views of `weights`, the flat memory."""
        self._weights = views(weights, self._layout.entries[:self._first_buffer])
        self._put_parameters()
        self._buffers.bind(weights[self._region_begin:])

    def reset(self) -> None:
        """Clears what a micro-batch that failed may have left behind."""
        self._gradients.forget()
        for owner, key, number in self._places:
            owner[key] = self._parameters[number]
        if self._weights:
            self._put_parameters()

    def _put_parameters(self) -> None:
        for number, (parameter, view) in enumerate(zip(self._parameters, self._weights)):
            parameter.data = self._copies.get(number, view)
        self._pointers = [parameter.data_ptr() for parameter in self._parameters]

    def use_slots(self, slots: list[torch.Tensor]) -> None:
        """From now on gradients go into `slots`."""
        entries = self._layout.entries[:self._first_buffer]
        self._slots = [Slot(views(flat, entries), flat[self._region_begin:]) for flat in slots]

    def initialize(self, number: int) -> None:
        """Writes the values that task() gave to parameters and buffers into a slot."""
        if self._weights:
            raise Garbage("Initialize came after Bind, when the initial values were gone")
        slot = self._slot(number)
        with torch.no_grad():
            torch._foreach_copy_(slot.parameters, [parameter.data for parameter in self._parameters])
            self._buffers.copy_own(slot.buffers)

    def compute(self, asked: messages.Compute, batch: Any, waited: float) -> messages.Done:
        """Runs forward and backward of a micro-batch. Raises Refused, Garbage, or what user code raises."""
        slot = self._slot(asked.slot)
        if not self._weights:
            raise Garbage("Compute came before Bind")
        begin = time.perf_counter()
        self._request = asked.request
        self._prepare()
        randomness.seed_all(randomness.forward_key(self._settings.seed, asked.step, asked.index))
        self._state.code = FORWARD
        loss, count = self._forward(batch)
        self._check_parameters()
        self._gradients.check_none()
        value = float(loss.detach())
        if count:
            self._check_loss(loss)
        if count:
            self._state.code = BACKWARD
            scale = torch.tensor(asked.loss_scale, dtype=torch.float32)
            self._gradients.run(loss, scale, slot.parameters)
        with torch.no_grad():
            hashed = self._buffers.deliver(slot.buffers, asked.loss_scale)
        self._outside.check()
        if self._buffer_numbers:
            self._announce_all(self._buffer_numbers)
        return messages.Done(asked.request, value if count else 0.0, count, hashed, time.perf_counter() - begin, waited)

    def evaluate(self, asked: messages.Evaluate, batch: Any) -> messages.Evaluated:
        """Runs forward alone, with the module in the mode for evaluation."""
        if not self._weights:
            raise Garbage("Evaluate came before Bind")
        self._prepare()
        randomness.seed_all(randomness.evaluation_key(self._settings.seed, asked.index))
        self._state.code = FORWARD
        modes = [(part, part.training) for part in self._module.modules()]
        self._module.eval()
        try:
            with torch.no_grad():
                loss, count = self._forward(batch)
        finally:
            # Module.train() would also reach parts that task() has left in the mode for evaluation.
            for part, training in modes:
                part.training = training
        self._check_parameters()
        self._outside.check()
        return messages.Evaluated(asked.request, float(loss) if count else 0.0, count)

    def _slot(self, number: int) -> Slot:
        if not 0 <= number < len(self._slots):
            raise Garbage(f"a message names slot {number}, and there are {len(self._slots)}")
        return self._slots[number]

    def _prepare(self) -> None:
        """Gives the module the weights as they are now."""
        with torch.no_grad():
            self._buffers.restore()
            if self._cast:
                torch._foreach_copy_([self._copies[number] for number in self._cast],
                                     [self._weights[number] for number in self._cast])
            for number in self._cast:
                self._versions[number] = self._parameters[number]._version

    def _forward(self, batch: Any) -> tuple[torch.Tensor, int]:
        """Returns the loss as float32, and its count."""
        with self._autocast():
            result = self._task.loss(self._module, batch)
        if not isinstance(result, Sum):
            what = "a tensor" if isinstance(result, torch.Tensor) else f"an object of type {type(result).__name__}"
            raise Refused(f"the loss returned {what} and no rekindle.Sum, so it is not known what it is a mean of; "
                          f"{HOW_TO_SUM}", kind="loss")
        loss = result.loss_sum
        if not isinstance(loss, torch.Tensor):
            raise Refused(f"loss_sum is of type {type(loss).__name__}; give the tensor itself, without .item()",
                          kind="loss")
        if loss.numel() != 1 or loss.is_complex():
            raise Refused(f"loss_sum has the shape {list(loss.shape)} and type {loss.dtype}, and is no scalar; add "
                          ".sum()", kind="loss")
        return loss.reshape(()).float(), _count(result.count)

    def _autocast(self) -> contextlib.AbstractContextManager[Any]:
        if self._settings.dtype is None:
            return contextlib.nullcontext()
        return torch.autocast(self._settings.device, dtype=self._settings.dtype)

    def _check_loss(self, loss: torch.Tensor) -> None:
        if not loss.requires_grad:
            raise Refused("the loss has no gradient: nothing that is trained had a part in it; look for .detach(), "
                          ".item() or torch.no_grad() between the parameters and the loss", kind="loss")

    def _check_parameters(self) -> None:
        """Refuses a forward that put other memory or another object in the place of a parameter."""
        for owner, key, number in self._places:
            parameter = self._parameters[number]
            if owner.get(key) is not parameter:
                self._refuse_write(number)
        for number, pointer in enumerate(self._pointers):
            if self._parameters[number].data_ptr() != pointer:
                self._refuse_write(number)
        for number in self._cast:
            if self._parameters[number]._version != self._versions[number]:
                self._refuse_write(number)

    def _refuse_write(self, number: int) -> None:
        raise Refused(f"forward changed the parameter {self._names[number]}, which only the optimizer may; make it a "
                      "buffer, or compute the changed value without storing it", kind="write",
                      parameter=self._names[number])

    def _arrived(self, numbers: list[int]) -> None:
        self._announce_all(tuple(numbers))

    def _announce_all(self, numbers: tuple[int, ...]) -> None:
        for at in range(0, len(numbers), MOST_NUMBERS):
            self._announce(self._request, numbers[at:at + MOST_NUMBERS])


def _count(count: Any) -> int:
    value = count.item() if isinstance(count, torch.Tensor) and count.numel() == 1 else count
    # Numbers of numpy are no int and no float of Python's, but numbers.
    whole = isinstance(value, numbers.Integral) or (isinstance(value, numbers.Real) and float(value).is_integer())
    if not whole or value < 0:
        raise Refused(f"the count of the loss is {count!r}; give the whole number of items in the sum", kind="loss")
    return int(value)


def _places(module: torch.nn.Module, parameters: list[torch.nn.Parameter]) -> list[
        tuple[dict[str, torch.nn.Parameter | None], str, int]]:
    """Returns where each parameter is in the module. A tied one is in several places."""
    numbers = {id(parameter): number for number, parameter in enumerate(parameters)}
    return [(owner._parameters, key, numbers[id(value)]) for owner in module.modules()
            for key, value in owner._parameters.items() if id(value) in numbers]
