"""Shows the progress of a job: one line that is drawn again on a terminal, and a line now and then elsewhere."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any, TextIO

# Where lines cannot be drawn again, they are at least so many seconds apart while nothing else happens.
LINE_SECONDS = 5.0
# A job that runs and makes no step for so many seconds waits for something.
SILENT_SECONDS = 5.0
# A job that counts so much more items than samples does not count samples.
_SAME = 1.02


class Progress:
    """`stream` is where the lines go. It may be None, as sys.stderr is in a process without one."""

    def __init__(self, stream: TextIO | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._redraws = stream is not None and stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._drawn = False
        self._status: Mapping[str, Any] | None = None
        self._state = ""
        self._event = ""
        self._printed_at = -LINE_SECONDS
        self._heard_at = 0.0
        self._moved_at = 0.0

    def say(self, text: str) -> None:
        """Prints a line that stays."""
        for line in text.splitlines():
            self._print(f"rekindle: {_safe(line)}")
        self._draw()

    def show(self, job: Mapping[str, Any]) -> None:
        """Shows a new state of the job."""
        now = self._clock()
        status: Mapping[str, Any] = job["status"]
        if self._status is None or status["step"] != self._status["step"] or status["state"] != self._state:
            self._moved_at = now
        self._status, self._heard_at = status, now
        event = str(status.get("last_event") or "")
        is_news = event not in ("", self._event) and status["state"] not in ("SUCCEEDED", "FAILED", "CANCELLED")
        if is_news:
            self._print(f"rekindle: {_safe(event)}")
        if self._redraws:
            self._draw()
        elif status["state"] != self._state or now - self._printed_at >= LINE_SECONDS:
            self._print(self._line())
            self._printed_at = now
        self._state, self._event = str(status["state"]), event

    def tick(self) -> None:
        """Draws the line again, because time has passed."""
        if self._redraws:
            self._draw()

    def end(self) -> None:
        """Removes the line that is drawn again."""
        self._clear()
        self._status = None

    def _line(self) -> str:
        assert self._status is not None
        status, now = self._status, self._clock()
        steps = int(status["resolved_spec"]["training"]["steps"])
        parts = [f"step {status['step']}/{steps}"]
        if status["step"] > 0:
            # JSON has no number for a loss that is not finite, so the program writes it as a text.
            parts.append(f"loss {float(status['loss']):.4f}")
        waits = self._waits(now)
        if status["state"] == "RUNNING" and status["step"] > 0 and status["step_seconds"] > 0:
            parts.append(_speed(status))
            left = (steps - status["step"]) * status["step_seconds"] - (now - self._heard_at)
            parts.append(f"ETA {duration(left)}")
        return "  ".join([*parts, waits] if waits else parts)

    def _waits(self, now: float) -> str:
        """Returns what the job waits for, or nothing if it makes steps."""
        assert self._status is not None
        status = self._status
        if status["state"] not in ("RUNNING", "SUCCEEDED"):
            return _safe(f"{str(status['state']).lower()}: {status['reason']}" if status["reason"] else
                         str(status["state"]).lower())
        silent = now - self._moved_at
        if status["state"] == "RUNNING" and silent >= max(SILENT_SECONDS, 5 * float(status["step_seconds"])):
            why = _notes(status) or str(status["reason"])
            return _safe(f"no step for {duration(silent)}" + (f": {why}" if why else ""))
        return ""

    def _print(self, line: str) -> None:
        if self._stream is not None:
            self._clear()
            self._stream.write(line + "\n")
            self._stream.flush()

    def _draw(self) -> None:
        if self._stream is None or not self._redraws or self._status is None:
            return
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError):
            columns = 80
        self._stream.write("\r\x1b[2K" + self._line()[:max(columns - 1, 1)])
        self._stream.flush()
        self._drawn = True

    def _clear(self) -> None:
        if self._drawn and self._stream is not None:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
        self._drawn = False


def _notes(status: Mapping[str, Any]) -> str:
    """Returns what the workers do beside their work, such as compiling, or nothing."""
    notes = [(str(member["trainer"]).rpartition("/")[0], member["note"]) for member in status.get("members") or ()
             if member.get("note")]
    return "; ".join(f"{name} {note}" for name, note in notes[:2]) + (" ..." if notes[2:] else "")


def _speed(status: Mapping[str, Any]) -> str:
    """Returns the speed in samples, or in tokens where the loss is summed over more items than the batch has samples.

    A job counts the items of its losses."""
    samples = float(status["resolved_spec"]["training"]["global_batch"]) / float(status["step_seconds"])
    items = float(status["tokens_per_second"])
    return f"{short(items)} tokens/s" if items > _SAME * samples else f"{short(samples)} samples/s"


def short(value: float) -> str:
    """Returns a number with about three digits, such as 22.2k."""
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.1f}{letter}"
    return f"{value:.1f}"


def duration(seconds: float) -> str:
    """Returns a time such as 1m 43s."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02d}m"


def _safe(text: str) -> str:
    """Returns the text without what could control a terminal."""
    return "".join(character if character.isprintable() else "?" for character in text)
