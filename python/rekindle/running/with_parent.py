"""Runs a program that gets one SIGTERM when the process that started this one ends, however that happens.

The arguments are the number of that process and the program with its arguments. SIGTERM is passed on, each time, and
SIGINT kills the program. Where the program is killed, the processes that it leaves behind get SIGTERM, and the
coordinator is the last of them: the others bring it what they have.

This process has one thread, and stands between the two because a process with several threads may be told of its
parent's death several times: `rekindle up` takes a second SIGTERM for an order to hurry."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PASSED_ON = (signal.SIGTERM, signal.SIGINT)
# What the program has left behind has so many seconds to end, before it is killed.
_LEFT_SECONDS = 60.0
_MOST_ROUNDS = 4
_LAST = "rekindle-coordinator"


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


def _is_last(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return os.path.basename(file.read().split(b"\0")[0]).decode(errors="replace") == _LAST
    except OSError:
        return False


def _end_all(pids: list[int]) -> None:
    """Ends processes of _children(), and waits for them."""
    for number, seconds in ((signal.SIGTERM, _LEFT_SECONDS), (signal.SIGKILL, _LEFT_SECONDS)):
        for pid in pids:
            os.kill(pid, number)
        end = time.monotonic() + seconds
        while pids and (left := end - time.monotonic()) > 0:
            opened = [os.pidfd_open(pid) for pid in pids]
            select.select(opened, [], [], left)
            for descriptor in opened:
                os.close(descriptor)
            pids = [pid for pid in pids if os.waitpid(pid, os.WNOHANG)[0] == 0]


def _end_left() -> None:
    """Ends what the program has left behind. Nothing else is a child of this process."""
    for last in (False, True):
        # Each that ends may leave behind processes of its own.
        for _ in range(_MOST_ROUNDS):
            _end_all([pid for pid in _children() if _is_last(pid) is last])


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
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
    if code < 0:
        _end_left()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
