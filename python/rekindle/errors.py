"""Says what is wrong with what the user wrote, and shows only the user's own lines of a traceback."""

from __future__ import annotations

import os
import sysconfig
import traceback
from typing import Literal

Kind = Literal["exception", "memory", "data", "task", "loss", "write", "shape"]

# Tracebacks and messages are cut to these lengths, so that a report always fits into a message.
MOST_TRACEBACK, MOST_MESSAGE = 16_000, 2_000
PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
# Files below these folders were not written by the user.
LIBRARIES = tuple(os.path.abspath(path) + os.sep for path in
                  {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


class Refused(Exception):
    """Says what Rekindle does not accept, and how to mend it. `parameter` and `sample` tell what is concerned."""

    def __init__(self, message: str, *, kind: Kind = "task", parameter: str | None = None, sample: int | None = None,
                 lines: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.kind: Kind = kind
        self.parameter = parameter
        self.sample = sample
        # `lines` are the user's lines of the traceback of the error behind this one.
        self.lines = lines


def out_of_memory(error: BaseException) -> bool:
    """Returns whether `error` says that memory ran out. PyTorch has no class of its own for the processor's memory."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and ("can't allocate memory" in str(error) or "bad_alloc" in str(error))


def kind_of(error: BaseException, otherwise: Kind = "exception") -> Kind:
    if isinstance(error, Refused):
        return error.kind
    return "memory" if out_of_memory(error) else otherwise


def said(error: BaseException) -> str:
    """Returns the error's type and message as one line."""
    text = " ".join(str(error).split())
    name = type(error).__name__
    return f"{name}: {text}"[:MOST_MESSAGE] if text else name


def user_lines(error: BaseException, folder: str) -> str:
    """Returns the traceback of `error` with the lines of files in `folder` alone.

    If no line of the traceback is in `folder`, then the lines of all files that are neither Rekindle's nor a library's
    are shown, and if there are none either, the lines of all files but Rekindle's."""
    whole = traceback.TracebackException.from_exception(error)
    root = os.path.join(os.path.abspath(folder), "")
    names = [frame.filename for part in _chain(whole) for frame in part.stack]
    if any(inside(name, root) for name in names):
        kept = {name for name in names if inside(name, root)}
    else:
        kept = {name for name in names if not name.startswith((PACKAGE, *LIBRARIES, "<frozen"))}
        kept = kept or {name for name in names if not name.startswith((PACKAGE, "<frozen"))}
    for part in _chain(whole):
        part.stack = traceback.StackSummary.from_list([frame for frame in part.stack if frame.filename in kept])
    text = "".join(whole.format())
    return text if len(text) <= MOST_TRACEBACK else "...\n" + text[-MOST_TRACEBACK:]


def inside(name: str, root: str) -> bool:
    path = os.path.abspath(name)
    if name.startswith("<"):
        return False
    return path.startswith(root) and not path.startswith((PACKAGE, *LIBRARIES))


def _chain(error: traceback.TracebackException) -> list[traceback.TracebackException]:
    """Returns the error and those that it came from or in whose handling it was raised."""
    found: list[traceback.TracebackException] = []
    left = [error]
    while left:
        part = left.pop()
        found.append(part)
        left += [cause for cause in (part.__cause__, part.__context__) if cause is not None]
    return found
