"""Defines the messages between the trainer and the model process, version 1.

TYPE is the number of a message, DESCRIPTORS says how many descriptors come beside it, and pack() and unpack() turn it
into the body of a packet and back. Bodies are packed without gaps, little-endian. unpack() raises ValueError or
struct.error for a bad body."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

VERSION = 1
# Longer JSON does not fit into a packet beside its header. A text that is cut keeps some characters in any case.
MOST_INLINE_JSON = 32 * 1024
MOST_KEPT = 200

Self = TypeVar("Self", bound="Body")


class Body:
    """The base of all messages."""

    TYPE: ClassVar[int] = 0
    DESCRIPTORS: ClassVar[int] = 0
    # `FORMAT` is that of the fields, in their order. For a list it has the length, which comes last.
    FORMAT: ClassVar[struct.Struct] = struct.Struct("<")
    # `LIST` is the code of the numbers of a message whose last field is a list.
    LIST: ClassVar[str] = ""
    __slots__: tuple[str, ...] = ()

    def __init__(self, *fields: Any) -> None:
        """Takes the fields in their order, as each message defines it."""

    def pack(self) -> bytes:
        fields = [getattr(self, name) for name in self.__slots__]
        if not self.LIST:
            return self.FORMAT.pack(*fields)
        numbers = fields.pop()
        return self.FORMAT.pack(*fields, len(numbers)) + struct.pack(f"<{len(numbers)}{self.LIST}", *numbers)

    @classmethod
    def unpack(cls: type[Self], body: memoryview) -> Self:
        if not cls.LIST:
            return cls(*cls.FORMAT.unpack(body))
        *fields, count = cls.FORMAT.unpack_from(body)
        return cls(*fields, numbers(body, cls.FORMAT.size, count, cls.LIST))


def numbers(body: memoryview, at: int, count: int, code: str) -> tuple[int, ...]:
    """Returns the `count` numbers that `body` has from `at` to its end."""
    wanted = count * struct.calcsize(f"<{code}")
    if len(body) - at != wanted:
        raise ValueError(f"{count} numbers need {wanted} bytes, and there are {max(len(body) - at, 0)}")
    return struct.unpack_from(f"<{count}{code}", body, at)


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


@dataclass
class OfJson(Body):
    """The base of messages whose body is a JSON object.

    `IN_MEMFD` says that it may be so long that it travels in a memfd. The trainer takes no other message so."""

    fields: dict[str, Any]
    IN_MEMFD: ClassVar[bool] = False

    def pack(self) -> bytes:
        return json.dumps(self.fields, allow_nan=False, separators=(",", ":")).encode("utf-8")

    @classmethod
    def unpack(cls: type[Self], body: memoryview) -> Self:
        fields = json.loads(bytes(body).decode("utf-8"), parse_constant=_no_number)
        if not isinstance(fields, dict):
            raise ValueError("it is JSON, but no object")
        return cls(fields)


# The trainer sends the messages from here on.


class Configure(OfJson):
    """Says which task to load and how to compute. It is the first message, and comes once."""

    TYPE = 1
    IN_MEMFD = True


@dataclass(slots=True)
class Bind(Body):
    """Gives the weights: `size` bytes from `offset` of the memfd that comes beside it."""

    offset: int
    size: int
    TYPE: ClassVar[int] = 2
    DESCRIPTORS: ClassVar[int] = 1
    FORMAT: ClassVar[struct.Struct] = struct.Struct("<QQ")


@dataclass(slots=True)
class Slots(Body):
    """Gives the memfd with the memory for gradients: `slots` slots, one after another."""

    slots: int
    bytes_per_slot: int
    TYPE: ClassVar[int] = 3
    DESCRIPTORS: ClassVar[int] = 1
    FORMAT: ClassVar[struct.Struct] = struct.Struct("<IQ")


@dataclass(slots=True)
class Initialize(Body):
    """Asks for the initial values of the whole layout in a slot. It comes before the first Bind."""

    slot: int
    TYPE: ClassVar[int] = 4
    FORMAT: ClassVar[struct.Struct] = struct.Struct("<I")


@dataclass(slots=True)
class Expected:
    """Names a micro-batch that will be asked for. The checked sample is that of Compute."""

    index: int
    first: int
    samples: tuple[int, ...]
    checked_place: int = -1
    checked_sample: int = -1
    FORMAT: ClassVar[struct.Struct] = struct.Struct("<iIqqq")


@dataclass(slots=True)
class Expect(Body):
    """Says what will be asked for next, in this order, so that its samples can be loaded ahead. It replaces what was
    expected before and has not begun."""

    step: int
    batches: tuple[Expected, ...]
    TYPE: ClassVar[int] = 5
    FORMAT: ClassVar[struct.Struct] = struct.Struct("<qI")

    def pack(self) -> bytes:
        parts = [self.FORMAT.pack(self.step, len(self.batches))]
        for batch in self.batches:
            parts.append(Expected.FORMAT.pack(batch.index, len(batch.samples), batch.first, batch.checked_place,
                                              batch.checked_sample))
            parts.append(struct.pack(f"<{len(batch.samples)}q", *batch.samples))
        return b"".join(parts)

    @classmethod
    def unpack(cls: type[Self], body: memoryview) -> Self:
        step, count = cls.FORMAT.unpack_from(body)
        at = cls.FORMAT.size
        batches = []
        for _ in range(count):
            index, samples, first, *checked = Expected.FORMAT.unpack_from(body, at)
            at += Expected.FORMAT.size
            end = at + 8 * samples
            batches.append(Expected(index, first, numbers(body[:end], at, samples, "q"), *checked))
            at = end
        if at != len(body):
            raise ValueError(f"{len(body) - at} bytes are left after its last micro-batch")
        return cls(step, tuple(batches))


@dataclass(slots=True)
class Compute(Body):
    """Asks for the loss and the gradients of a micro-batch, in a slot.

    `checked_place` and `checked_sample` name the sample of the step that two workers compare, by its place in the run
    and its number. It need not be one of `samples`. Both are -1 if there is none."""

    request: int
    step: int
    index: int
    slot: int
    loss_scale: float
    first: int
    checked_place: int
    checked_sample: int
    samples: tuple[int, ...]
    TYPE: ClassVar[int] = 6
    FORMAT: ClassVar[struct.Struct] = struct.Struct("<QqiifqqqI")
    LIST: ClassVar[str] = "q"


@dataclass(slots=True)
class Evaluate(Body):
    """Asks for the loss of samples of the validation data."""

    request: int
    index: int
    samples: tuple[int, ...]
    TYPE: ClassVar[int] = 7
    FORMAT: ClassVar[struct.Struct] = struct.Struct("<QiI")
    LIST: ClassVar[str] = "q"


@dataclass(slots=True)
class Ping(Body):
    """Asks for a sign of life. A thread answers it, whatever the main thread does."""

    token: int
    TYPE: ClassVar[int] = 8
    FORMAT: ClassVar[struct.Struct] = struct.Struct("<Q")


@dataclass(slots=True)
class Hash(Body):
    """Asks for a hash of samples of the training data, as they are in the first pass over the data."""

    request: int
    samples: tuple[int, ...]
    TYPE: ClassVar[int] = 10
    FORMAT: ClassVar[struct.Struct] = struct.Struct("<QI")
    LIST: ClassVar[str] = "q"


@dataclass(slots=True)
class Stop(Body):
    """Ends the process after what was asked before."""

    TYPE: ClassVar[int] = 9


# The model process sends the messages from here on.


class Ready(OfJson):
    """Tells the layout and the sizes of the data."""

    TYPE = 101
    IN_MEMFD = True


@dataclass(slots=True)
class Initialized(Body):
    """Says that the slot holds the initial values."""

    slot: int
    TYPE: ClassVar[int] = 102
    FORMAT: ClassVar[struct.Struct] = struct.Struct("<I")


@dataclass(slots=True)
class Gradients(Body):
    """Names parameters and buffers, by their numbers in the layout, that are complete in the slot."""

    request: int
    parameters: tuple[int, ...]
    TYPE: ClassVar[int] = 103
    FORMAT: ClassVar[struct.Struct] = struct.Struct("<QI")
    LIST: ClassVar[str] = "I"


@dataclass(slots=True)
class Done(Body):
    """Ends the answer to Compute. `whole_buffers` is a hash of the new values of the whole-number and bool buffers, and
    `checked_sample` one of the sample that Compute names."""

    request: int
    loss_sum: float
    count: int
    whole_buffers: int
    seconds: float
    data_wait_seconds: float
    checked_sample: int = 0
    TYPE: ClassVar[int] = 104
    FORMAT: ClassVar[struct.Struct] = struct.Struct("<QdqQddQ")


@dataclass(slots=True)
class Evaluated(Body):
    """Answers Evaluate."""

    request: int
    loss_sum: float
    count: int
    TYPE: ClassVar[int] = 105
    FORMAT: ClassVar[struct.Struct] = struct.Struct("<Qdq")


@dataclass(slots=True)
class Pong(Body):
    """Answers Ping. `state` is one of the states in rekindle.state."""

    token: int
    cpu_seconds: float
    state: int
    TYPE: ClassVar[int] = 106
    FORMAT: ClassVar[struct.Struct] = struct.Struct("<QdQ")


@dataclass(slots=True)
class Hashed(Body):
    """Answers Hash. `not_repeated` names a sample that is another one when it is read again, or is -1."""

    request: int
    hash: int
    not_repeated: int
    TYPE: ClassVar[int] = 109
    FORMAT: ClassVar[struct.Struct] = struct.Struct("<QQq")


class Failed(OfJson):
    """Says what went wrong, and shows the user's lines of the traceback."""

    TYPE = 107

    def pack(self) -> bytes:
        """Halves the texts as often as is needed for a message that is not too long. The end of a traceback stays."""
        fields = dict(self.fields)
        body = OfJson(fields).pack()
        for name in ("traceback", "parameter", "message"):
            while len(body) > MOST_INLINE_JSON and len(fields.get(name) or "") > MOST_KEPT:
                half = len(fields[name]) // 2
                fields[name] = f"...{fields[name][half + 3:]}" if name == "traceback" else f"{fields[name][:half]}..."
                body = OfJson(fields).pack()
        return body


class Note(OfJson):
    """Tells what the process is about to do, for whoever watches."""

    TYPE = 108


TRAINER_MESSAGES: dict[int, type[Body]] = {
    kind.TYPE: kind for kind in (Configure, Bind, Slots, Initialize, Expect, Compute, Evaluate, Hash, Ping, Stop)}
CHILD_MESSAGES: dict[int, type[Body]] = {
    kind.TYPE: kind for kind in (Ready, Initialized, Gradients, Done, Evaluated, Pong, Hashed, Failed, Note)}
