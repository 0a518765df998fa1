"""Measures whether a program had the machine to itself, because only then does its time limit count."""
import contextlib
import ctypes
import os
import resource
import signal
import time

PR_SET_CHILD_SUBREAPER = 36
REAP_SECONDS = 5


def adopt_orphans():
    """Makes this process the parent of the processes that a program leaves running, so that their time is counted."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def busy_seconds():
    """Returns the processor seconds that all processes have used, or that the host has kept from this machine."""
    with open("/proc/stat", encoding="utf-8") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    """Returns the processor seconds of this process and of all that it started, once these have ended."""
    end = time.monotonic() + REAP_SECONDS
    # SIGCHLD is blocked, so that sigtimedwait() gets the signal of a child even if the child ended before the call.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    with contextlib.suppress(ChildProcessError):
        while (left := end - time.monotonic()) > 0:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                signal.sigtimedwait({signal.SIGCHLD}, left)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF))


class Watch:
    """Measures, while the context lasts, the share `others` of the processors that other programs use."""

    def __enter__(self):
        self.begun, self.busy, self.own = time.monotonic(), busy_seconds(), own_seconds()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self.begun
        given = busy_seconds() - self.busy - (own_seconds() - self.own)
        self.others = max(0.0, given / (os.cpu_count() * self.seconds))
