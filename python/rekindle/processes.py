"""Starts processes: forks of this one, and programs of this package. It is imported without PyTorch."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable

from rekindle.errors import PACKAGE

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
ROOT = os.path.dirname(PACKAGE.rstrip(os.sep))


def environment() -> dict[str, str]:
    """Returns the environment in which a program of this package starts."""
    paths = [ROOT, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)), "PYTHONHASHSEED": "0"}


def fork(function: Callable[[], object], *, outlives: bool = False) -> int:
    """Returns the number of a new process, a fork of this one, that calls `function` and ends.

    It ends with code 1 where the function raises, after a traceback on its standard error. The kernel kills it when
    this process ends, unless it `outlives` it. This process must have started no thread that holds a lock."""
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    with warnings.catch_warnings():
        # Python 3.12 warns of threads beside the forking one, and libraries of numbers have some that know of forks.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        return pid
    try:
        if not outlives:
            die_with(parent)
        function()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def die_with(parent: int) -> None:
    """Has the kernel kill this process when the process `parent`, which forked it, ends.

    To be exact, it does so when the thread of `parent` ends that forked this process."""
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def live_on() -> None:
    """Undoes die_with()."""
    prctl(_PR_SET_PDEATHSIG, 0)


def adopt_orphans() -> None:
    """Makes this process the parent of what its descendants leave behind when they end."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def set_session_nice(nice: int) -> bool:
    """Sets the share of the processor that this session gets beside other ones, from 0, the usual one, to 19.

    Linux weighs sessions before it looks at the processes inside (sched(7), autogroup). Returns whether that is so now,
    or this kernel has no such feature. Where it is not, too many have asked within 0.1 s; ask again later."""
    try:
        with open("/proc/self/autogroup", "w", encoding="ascii") as file:
            file.write(str(nice))
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}, {value})")


def children() -> list[int]:
    """Returns the processes whose parent is this one. Those that have ended and were not waited for are among them."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                stat = file.read()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(stat.rpartition(b")")[2].split()[1]) == os.getpid():
            found.append(int(name))
    return found
