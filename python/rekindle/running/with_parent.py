"""Runs a program that gets one SIGTERM when the process that started this one ends, however that happens.

The arguments are the number of that process and the program with its arguments. SIGTERM is passed on, each time, and
SIGINT kills the program. Where the program is killed, this process ends what it leaves behind: the kernel has told each
of its programs by SIGTERM, and what has not ended after a while gets another one, and is killed at last. SIGTERM and
SIGINT shorten that.

This process has one thread, and stands between the two because a process with several threads may be told of its
parent's death several times: `rekindle up` takes a second SIGTERM for an order to hurry."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Callable

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PASSED_ON = (signal.SIGTERM, signal.SIGINT)
# What the program has left behind gets these signals, and has so many seconds after each.
_STAGES = ((0, 5.0), (signal.SIGTERM, 60.0), (signal.SIGKILL, 60.0))
_LOOK_SECONDS = 0.2


def _end_with(parent: int, number: int) -> None:
    """Has the kernel send this process the signal `number` when its parent ends."""
    if ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0) != 0:
        sys.exit("prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent:
        sys.exit("the process that has started this one is gone")


def _run(words: list[str], parent: int) -> None:
    try:
        _end_with(parent, signal.SIGTERM)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)
        os.execv(words[0], words)
    except OSError as error:
        sys.exit(f"{words[0]} cannot be started: {error.strerror}")


def _children() -> list[int]:
    """Returns the processes that this one has started or inherited."""
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return [int(pid) for pid in file.read().split()]


def _end_left() -> list[int]:
    """Ends what the program has left behind, which are all children of this process. Returns those that do not end."""
    stage = 0

    def at_least(number: int) -> Callable[..., None]:
        def note(*_: object) -> None:
            nonlocal stage
            stage = max(stage, number)
        return note

    signal.signal(signal.SIGTERM, at_least(1))
    signal.signal(signal.SIGINT, at_least(2))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)
    told: set[tuple[int, int]] = set()
    begun, known = time.monotonic(), 0
    # A process that ends may leave behind others, which are children of this one then.
    while left := _children():
        if stage != known:
            begun, known = time.monotonic(), stage
        number, seconds = _STAGES[known]
        for pid in left:
            if number and (pid, number) not in told:
                told.add((pid, number))
                os.kill(pid, number)
        opened = [os.pidfd_open(pid) for pid in left]
        select.select(opened, [], [], _LOOK_SECONDS)
        for descriptor in opened:
            os.close(descriptor)
        for pid in left:
            os.waitpid(pid, os.WNOHANG)
        if time.monotonic() - begun > seconds:
            if known + 1 == len(_STAGES):
                return _children()
            stage = max(stage, known + 1)
    return []


def main(parent: int, words: list[str]) -> int:
    """Returns the exit code of the program."""
    _end_with(parent, signal.SIGKILL)
    if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("prctl(PR_SET_CHILD_SUBREAPER) failed")
    # A signal that comes before the program is there waits until it can be passed on.
    signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
    own = os.getpid()
    program = os.fork()
    if program == 0:
        _run(words, own)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(program, signal.SIGTERM))
    signal.signal(signal.SIGINT, lambda *_: os.kill(program, signal.SIGKILL))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)
    # Whatever the program leaves behind becomes a child of this process, and may end before it.
    os.waitid(os.P_PID, program, os.WEXITED | os.WNOWAIT)
    signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
    code = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
    if code < 0:
        # The parent may end meanwhile. This process still has something to do then.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, 0, 0, 0, 0)
        if left := _end_left():
            print(f"rekindle up was killed by signal {-code}, and what it had started does not end: process "
                  f"{', '.join(map(str, left))}", file=sys.stderr, flush=True)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
