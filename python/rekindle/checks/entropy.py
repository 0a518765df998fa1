"""Notes where user code asks for something that is another in each process: random bytes of the system, the time, the
address of an object. Python's profiler tells of every call, so nothing is replaced and nothing is missed in Python."""

from __future__ import annotations

import datetime
import os
import random
import sys
import threading
import time
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType
from typing import Any, Literal

import torch

from rekindle.errors import inside

Kind = Literal["entropy", "time", "address"]
MOST = 32
_BYTES = "random bytes of the system, as a generator without a seed does"

_CALLS: dict[Any, tuple[Kind, str]] = {
    os.urandom: ("entropy", _BYTES),
    **({os.getrandom: ("entropy", _BYTES)} if hasattr(os, "getrandom") else {}),
    **{function: ("time", "the time") for function in (
        time.time, time.time_ns, time.perf_counter, time.perf_counter_ns, time.monotonic, time.monotonic_ns,
        time.process_time, time.process_time_ns)},
    os.getpid: ("address", "the number of the process"), os.getppid: ("address", "the number of the process"),
    threading.get_ident: ("address", "the number of the thread"), id: ("address", "the address of an object"),
}
_SEED: CodeType = random.Random.seed.__code__


@dataclass(frozen=True)
class Draw:
    """`phase` is what was being done, and `line` is the user's line behind it."""

    kind: Kind
    phase: str
    what: str
    line: str


class Watch:
    """Notes draws while it is entered. It makes Python slower, so it runs in the probe alone."""

    def __init__(self, folder: str) -> None:
        self._folder = os.path.join(os.path.realpath(folder), "")
        self._phase = ""
        self.draws: list[Draw] = []

    def during(self, phase: str) -> Watch:
        self._phase = phase
        return self

    def __enter__(self) -> None:
        sys.setprofile(self._event)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        sys.setprofile(None)

    def _event(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call":
            known = _CALLS.get(argument) or _of_a_method(argument)
            if known is not None:
                self._note(known[0], known[1], frame)
        elif event == "call" and frame.f_code is _SEED and frame.f_locals.get("a") is None:
            self._note("entropy", "a generator of Python without a seed", frame)

    def _note(self, kind: Kind, what: str, frame: FrameType) -> None:
        line = self._line(frame, direct=kind != "entropy")
        draw = Draw(kind, self._phase, what, line)
        if line and draw not in self.draws and len(self.draws) < MOST:
            self.draws.append(draw)

    def _line(self, frame: FrameType | None, direct: bool) -> str:
        """Returns the line of the user's that asked, or nothing. A library may ask for the time for itself, so for that
        the line has to do it `direct`ly. What happens while a library is imported is not the user's either."""
        while frame is not None:
            name = frame.f_code.co_filename
            if inside(name, self._folder):
                return f"{os.path.basename(name)}:{frame.f_lineno}"
            if direct or name.startswith("<frozen importlib"):
                return ""
            frame = frame.f_back
        return ""


def _of_a_method(function: Any) -> tuple[Kind, str] | None:
    """Returns what a method asks for that no table can name, because it belongs to an object or to a class."""
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if name == "seed" and isinstance(owner, torch.Generator):
        return "entropy", "a seed of PyTorch from the system"
    if name in ("now", "utcnow", "today") and isinstance(owner, type) and issubclass(owner, datetime.date):
        return "time", "the time"
    return None
