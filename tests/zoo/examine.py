"""Compares what the model process computes for a model with what a plain loop computes, and makes a row of it."""

import dataclasses
import os
import pathlib

import torch
from plain import Plain

from rekindle import layout

FOLDER = pathlib.Path(__file__).resolve().parent
SEED = 7
# The micro-batches are of this step of a run that has begun long ago.
STEP = 3
FIRST = 100
# Weights are moved by this much, because layers that are initialised with zeros would hide what is wrong before them.
MOVE = 0.02


@dataclasses.dataclass
class Row:
    """What the table tells of a model: `loss` and `gradients` compare with a plain loop that has ordinary memory."""

    parameters: int
    loss: str
    gradients: str

    def columns(self):
        return {"parameters": f"{self.parameters:,}", "loss": self.loss, "gradients": self.gradients}


class Differs(AssertionError):
    """Says what the model process computed otherwise than the plain loop, or than itself."""


class Oracle(Plain):
    """A plain loop that gets weights and buffers from the trainer, and tells the new buffers."""

    def __init__(self, make, seed):
        super().__init__(make, seed)
        module = self.task.module
        self.tensors = {layout.plain(name): tensor
                        for name, tensor in (*module.named_parameters(), *module.named_buffers())}
        self.places = [(owner._buffers, key, own) for owner in module.modules()
                       for key, own in owner._buffers.items()]

    def lay_out(self, trainer):
        """Puts weights and buffers into memory as the model process has them: packed without gaps.

        PyTorch adds up some sums in another order where a matrix begins at another multiple of 64 bytes."""
        begin = sum(entry["size"] for entry in trainer.layout if entry["kind"] == "parameter")
        parts = {"parameter": torch.empty(begin), "buffer": torch.empty(trainer.total - begin)}
        for entry in trainer.layout:
            if entry["dtype"] == "float32":
                at = entry["offset"] - (begin if entry["kind"] == "buffer" else 0)
                self.tensors[entry["name"]].data = parts[entry["kind"]][at:at + entry["size"]].view(entry["shape"])

    def take(self, trainer):
        """Puts the values that the trainer's weights have now into the module."""
        for owner, key, own in self.places:
            owner[key] = own
        with torch.no_grad():
            for name in trainer.names:
                self.tensors[name].copy_(trainer.part(trainer.weights, name))

    def answer(self, trainer, samples, index):
        """Returns the loss, and gradients and new buffers by name, as the model process should deliver them."""
        self.take(trainer)
        loss, gradients = self.compute(samples, step=STEP, index=index, first=FIRST)
        values = {layout.plain(name): gradient.float() for name, gradient in gradients.items() if self.count}
        now = {layout.plain(name): buffer
               for name, buffer in self.task.module.named_buffers(remove_duplicate=False)}
        for entry in trainer.layout:
            if entry["kind"] == "buffer":
                frozen = entry["rule"] == "frozen"
                kept = trainer.part(trainer.weights, entry["name"]) if frozen else now[entry["name"]]
                values[entry["name"]] = kept.detach().float().clone()
        return loss if self.count else 0.0, values


class Difference:
    """The largest relative differences to one plain loop that were seen, of which `allowed` is the limit."""

    def __init__(self, model, loop, allowed):
        self.model, self.loop, self.allowed = model, loop, allowed
        self.loss = self.gradients = 0.0

    def see(self, where, answer, oracle, loss, values):
        """Compares an answer with what the loop computed. Raises Differs."""
        where = f"{where}, {self.loop}"
        if answer.done.count != oracle.count:
            raise Differs(f"{self.model.name}, {where}: it counts {answer.done.count} and not {oracle.count}")
        if set(answer.gradients) != set(values):
            odd = sorted(set(answer.gradients) ^ set(values))
            raise Differs(f"{self.model.name}, {where}: only one of the two has {', '.join(odd[:4])}")
        if answer.loss != loss:
            self.loss = max(self.loss, self._fraction(where, "the loss", abs(answer.loss - loss), abs(loss)))
        largest = max((float(value.abs().max()) for value in values.values()), default=0.0)
        for name, value in values.items():
            got = answer.gradients[name]
            if not torch.equal(got, value):
                size = max(float(value.abs().max()), 1e-3 * largest)
                self.gradients = max(self.gradients,
                                     self._fraction(where, name, float((got - value).abs().max()), size))

    def _fraction(self, where, what, difference, size):
        fraction = difference / max(size, 1e-30)
        if not fraction <= self.allowed:
            raise Differs(f"{self.model.name}, {where}: {what} differs by {fraction:.1e} of its size, and "
                          f"{self.allowed:.1e} is allowed")
        return fraction


def batches(model, trainer):
    """Returns the sample numbers of a micro-batch of one sample, of three, and of the model's own size."""
    count = trainer.told["samples"]
    return [[(5 + 11 * index + 7 * place) % count for place in range(size)]
            for index, size in enumerate((1, 3, model.micro_batch))]


def move(trainer):
    """Moves all weights a little. The same model always gets the same moves."""
    noise = torch.randn(trainer.total, generator=torch.Generator().manual_seed(1)) * MOVE
    for entry in trainer.layout:
        if entry["kind"] == "buffer":
            noise[entry["offset"]:entry["offset"] + entry["size"]] = 0
    trainer.weights += noise


def same(model, where, one, other):
    """Raises Differs unless two answers of the model process have the same bits."""
    if one.loss != other.loss or one.done.count != other.done.count:
        raise Differs(f"{model.name}, {where}: the loss is {one.loss!r} over {one.done.count} and then "
                      f"{other.loss!r} over {other.done.count}")
    if one.done.whole_buffers != other.done.whole_buffers or set(one.gradients) != set(other.gradients):
        raise Differs(f"{model.name}, {where}: other gradients came, or another hash of whole-number buffers")
    for name, value in one.gradients.items():
        if not torch.equal(value, other.gradients[name]):
            raise Differs(f"{model.name}, {where}: {name} has other bits")


def compute(trainer, samples, index):
    return trainer.compute(samples, step=STEP, index=index, first=FIRST, slot=index % 2)


def examine(model, begin):
    """Checks one model and returns its row. `begin(task, **options)` returns a trainer whose model process is ready.

    What is compared: the initial values; loss, count, gradients and buffers of micro-batches of several sizes, at the
    initial weights and at moved ones, with those of plain loops; and the same micro-batches in another order."""
    alike, ordinary = Oracle(model.make, SEED), Oracle(model.make, SEED)
    trainer = begin(model.spec, folder=os.fspath(FOLDER), seed=SEED, exact=True)
    for name in trainer.names:
        if not torch.equal(trainer.part(trainer.weights, name), ordinary.tensors[name].detach().float()):
            raise Differs(f"{model.name}: {name} has another initial value")
    alike.lay_out(trainer)
    loops = [(alike, Difference(model, "the same memory", 0.0)),
             (ordinary, Difference(model, "ordinary memory", model.tolerance))]
    asked = batches(model, trainer)
    for where in ("initial weights", "moved weights"):
        if where == "moved weights":
            move(trainer)
        answers = [compute(trainer, samples, index) for index, samples in enumerate(asked)]
        for index, samples in enumerate(asked):
            for oracle, difference in loops:
                difference.see(f"{where}, {len(samples)} samples", answers[index], oracle,
                               *oracle.answer(trainer, samples, index))
    for index in (2, 0, 1):
        same(model, f"micro-batch {index} in another order", answers[index], compute(trainer, asked[index], index))
    sizes = (entry["size"] for entry in trainer.layout if entry["kind"] == "parameter")
    seen = loops[1][1]
    return Row(sum(sizes), _spelled(seen.loss), _spelled(seen.gradients))


def _spelled(fraction):
    return f"within {fraction:.1e}" if fraction else "equal"
