"""Measures whether a program had the machine to itself, because time limits hold only for those that had."""
import contextlib
import ctypes
import os
import resource
import signal
import time

PR_SET_CHILD_SUBREAPER = 36
REAP_SECONDS = 5


def adopt_orphans():
    """Makes this process the parent of what a program leaves behind, so that its processor time is counted."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def busy_seconds():
    """Returns the processor seconds that the machine has given to anybody, or lost to its host."""
    with open("/proc/stat", encoding="utf-8") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    """Returns the processor seconds of this process and of all that it started, once these have ended."""
    end = time.monotonic() + REAP_SECONDS
    # The blocked signal of a child that ends before the wait is kept for the wait.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    with contextlib.suppress(ChildProcessError):
        while (left := end - time.monotonic()) > 0:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                signal.sigtimedwait({signal.SIGCHLD}, left)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF))


class Watch:
    """Measures, while the context lasts, the share `others` of the machine's processors that others take."""

    def __enter__(self):
        self.begun, self.busy, self.own = time.monotonic(), busy_seconds(), own_seconds()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self.begun
        given = busy_seconds() - self.busy - (own_seconds() - self.own)
        self.others = max(0.0, given / (os.cpu_count() * self.seconds))
