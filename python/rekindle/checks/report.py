"""Holds the outcome of a check, as a text for people and as JSON for programs."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

VERSION = 1
WIDTH = 100
NOTHING_FOUND = ("no cause was found in the attributes of modules, in globals, in the loss function, in the Dataset, "
                 "or in what draws random numbers; look for what forward writes to files, to other processes, or to "
                 "memory that Python does not see")
SHOWS = ("This shows for these micro-batches, on this machine, that the result depends on weights and samples alone. "
         "It does not show that the gradients are right, what happens after more calls than these, or that other "
         "machines, other files and other versions of libraries give the same bits.")


@dataclass
class Difference:
    """The first thing that differs. `one` and `other` say which two plays were compared.

    `between` is "processes" where each play was the first of its process, and "order" where one of them came after
    other micro-batches."""

    what: Literal["layout", "data", "weights", "gradient", "buffer", "loss"]
    between: Literal["processes", "order"]
    one: str
    other: str
    name: str | None = None
    micro_batch: int | None = None
    samples: list[int] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)

    def text(self) -> str:
        subject = {"layout": "the layout of parameters and buffers", "data": "the number of samples",
                   "weights": "the initial value", "gradient": "the gradient", "buffer": "the new value of the buffer",
                   "loss": "the loss"}[self.what]
        if self.name is not None:
            subject += f" at {self.name}" if self.what == "layout" else f" of {self.name}"
            subject = subject.replace("buffer of", "buffer")
        elif self.what == "weights":
            subject += " of a frozen parameter, or of a buffer that is not persistent,"
        said = f"{subject} differs between {self.one} and {self.other}"
        if self.micro_batch is not None:
            said = f"micro-batch {self.micro_batch} (samples {shortened(self.samples)}): {said}"
        if self.losses and self.losses[0] != self.losses[1]:
            said += f"; the loss is {self.losses[0]} and {self.losses[1]}"
        return said


@dataclass
class Cause:
    """Something that may explain a difference. `phase` is when it happened, such as "in forward".

    `confirmed` says that an experiment has shown it: the difference was gone when this alone was put back."""

    kind: Literal["counter", "tensor", "memo", "generator", "entropy", "time", "address", "dataset", "import",
                  "attribute"]
    where: str
    phase: str
    message: str
    fix: str
    confirmed: bool = False

    def text(self) -> str:
        return f"{self.message}; {self.fix}"


@dataclass
class Report:
    """What a check has found. A report of equal plays is true, and any other one is false."""

    task: str
    seed: int
    precision: str
    exact: bool
    micro_batch: int
    micro_batches: int
    outcome: Literal["equal", "differs", "refused"] = "equal"
    difference: Difference | None = None
    causes: list[Cause] = field(default_factory=list)
    # `notes` tell what may be meant and did no harm, and what could not be looked at.
    notes: list[str] = field(default_factory=list)
    # `refused` has the fields of Failed, where the model process refuses the task or a micro-batch.
    refused: dict[str, Any] | None = None
    digest: str = ""
    parameters: int = 0
    buffers: int = 0
    processes: int = 0
    seconds: float = 0.0

    def __bool__(self) -> bool:
        return self.outcome == "equal"

    def __str__(self) -> str:
        return self.text()

    def text(self) -> str:
        """Returns a few lines for people."""
        lines = [f"rekindle check {self.task}: {self.outcome}"]
        if self.refused is not None:
            lines += _wrapped(str(self.refused.get("message")))
            lines += str(self.refused.get("traceback") or "").splitlines()
        elif self.difference is not None:
            lines += _wrapped(self.difference.text())
            # That the Dataset is the cause does not say yet why it is.
            if any(cause.confirmed and cause.kind != "dataset" for cause in self.causes):
                known = [cause for cause in self.causes if cause.confirmed]
            else:
                known = self.causes
            for cause in known:
                lines += _wrapped(("cause: " if cause.confirmed else "likely cause: ") + cause.text())
            if not known:
                lines += _wrapped(NOTHING_FOUND)
        else:
            lines += _wrapped(f"{self.micro_batches} micro-batches of {self.micro_batch} samples, in order, in reverse "
                              f"and each alone in a new process: loss, gradients of {self.parameters} parameters and "
                              f"values of {self.buffers} buffers are equal bit for bit in {self.processes} processes. "
                              f"{SHOWS}")
        for note in self.notes:
            lines += _wrapped(f"note: {note}")
        return "\n".join(lines)

    def to_json(self) -> str:
        return json.dumps({"version": VERSION, **asdict(self)}, allow_nan=False)


def from_json(text: str) -> Report:
    """Returns the report that to_json() wrote."""
    fields = json.loads(text)
    fields.pop("version")
    fields["difference"] = fields["difference"] and Difference(**fields["difference"])
    fields["causes"] = [Cause(**cause) for cause in fields["causes"]]
    return Report(**fields)


def shortened(samples: list[int] | tuple[int, ...]) -> str:
    return ", ".join(map(str, samples[:8])) + (", ..." if len(samples) > 8 else "")


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False,
                         break_on_hyphens=False)
