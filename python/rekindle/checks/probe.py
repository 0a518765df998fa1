"""Looks for the cause of a difference, in a process of its own that is thrown away afterwards.

The process loads the task, plays the micro-batches that differed, and sees what user code has kept. Then it puts back
one thing after another and plays the last micro-batch again: a thing is the cause if that gives what a new process
gave."""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from rekindle import peer, processes
from rekindle.checks import causes, data_probe, module_probe
from rekindle.checks.plan import MicroBatch, Result
from rekindle.checks.report import Cause

# The search may take so many times as long as a play, but at least and at most so many seconds.
TIMES, LEAST, MOST = 20, 20.0, 300.0
MOST_CAUSES, MOST_NOTES = 6, 3
MOST_BYTES = 256 * 1024
SLOW = "the search for causes was stopped after {:.0f} s; what it had found by then is here"


@dataclass
class Case:
    """A difference: the last micro-batch of `sequence` gave something else than `alone`, first in entry `part` of the
    layout. `alone` is None where it is not known what would have been right."""

    between: Literal["processes", "order"]
    sequence: list[int]
    alone: Result | None
    part: int | None


@dataclass
class Found:
    causes: list[Cause] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def search(settings: dict[str, Any], batches: list[MicroBatch], case: Case | None, scratch: str,
           seconds: float) -> Found:
    """Returns what may explain `case`. Without a case, returns as notes what a longer run might stumble over.

    `seconds` is how long a play took."""
    reader, writer = os.pipe()

    def probe() -> None:
        os.close(reader)
        peer.redirect(os.path.join(scratch, "probe"))
        _search(settings, batches, case, lambda cause: _write(writer, cause))

    pid = processes.fork(probe)
    os.close(writer)
    limit = min(max(LEAST, TIMES * seconds), MOST)
    lines, ended = _read(reader, limit)
    os.close(reader)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    found = [Cause(**json.loads(line)) for line in lines]
    notes = [] if ended else [SLOW.format(limit)]
    if case is None:
        return Found(notes=notes + [causes.as_note(cause) for cause in found if causes.is_note(cause)][:MOST_NOTES])
    return Found(causes.ranked(found, case.between)[:MOST_CAUSES], notes)


def _read(reader: int, limit: float) -> tuple[list[bytes], bool]:
    """Returns the whole lines that came, and whether the other side came to its end in time."""
    end = time.monotonic() + limit
    text = b""
    ended = False
    while not ended and len(text) < MOST_BYTES:
        if not select.select([reader], [], [], max(end - time.monotonic(), 0))[0]:
            break
        part = os.read(reader, 65536)
        ended = not part
        text += part
    return text.split(b"\n")[:-1], ended


def _write(writer: int, cause: Cause) -> None:
    line = json.dumps(asdict(cause)).encode("utf-8") + b"\n"
    while line:
        line = line[os.write(writer, line):]


def _search(settings: dict[str, Any], batches: list[MicroBatch], case: Case | None,
            tell: Callable[[Cause], None]) -> None:
    loaded = module_probe.load(settings, tell)
    data_probe.search(loaded, batches, tell)
    if case is None:
        module_probe.search(loaded, batches[:2], None, None, tell)
    else:
        module_probe.search(loaded, [batches[number] for number in case.sequence], case.alone, case.part, tell)
