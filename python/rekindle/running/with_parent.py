"""Runs a program that gets one SIGTERM when the process that started this one ends, however that happens.

The arguments are the number of that process and the program with its arguments. SIGTERM is passed on, each time, and
SIGINT kills the program. This process has one thread, and stands between the two because a process with several
threads may be told of its parent's death several times: `rekindle up` takes a second SIGTERM for an order to hurry."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PASSED_ON = (signal.SIGTERM, signal.SIGINT)


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


def main(parent: int, words: list[str]) -> int:
    """Returns the exit code of the program."""
    _end_with(parent, signal.SIGKILL)
    # A signal that comes before the program is there waits until it can be passed on.
    signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
    own = os.getpid()
    program = os.fork()
    if program == 0:
        _run(words, own)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(program, signal.SIGTERM))
    signal.signal(signal.SIGINT, lambda *_: os.kill(program, signal.SIGKILL))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)
    code = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
