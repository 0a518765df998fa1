"""Finds processes by their arguments, and ends them."""
import contextlib
import os
import pathlib
import select
import signal
import time


def processes(needle=None):
    """Returns (pid, argv) of all live processes, or of those that have the argument `needle`. Zombies do not count."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            argv = pathlib.Path("/proc", entry, "cmdline").read_bytes().split(b"\0")[:-1]
            state = pathlib.Path("/proc", entry, "stat").read_text().rsplit(")", 1)[1].split()[0]
            argv = [a.decode(errors="replace") for a in argv]
            if needle in (None, *argv) and state not in "ZX":
                found.append((int(entry), argv))
    return found


def processes_naming(path):
    """Returns (pid, argv) of the processes with `path`, or anything in that folder, within an argument."""
    return [(pid, argv) for pid, argv in processes() if any(path in word for word in argv)]


def with_descendants(pids):
    """Returns the pids, and those of the processes that these have started."""
    children = {}
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parent = pathlib.Path("/proc", entry, "stat").read_text().rsplit(")", 1)[1].split()[1]
            children.setdefault(int(parent), []).append(int(entry))
    found, todo = set(), list(pids)
    while todo:
        pid = todo.pop()
        if pid not in found:
            found.add(pid)
            todo.extend(children.get(pid, []))
    return found


def kill(pids, sig=signal.SIGKILL):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sig)


def end_all(pids, seconds):
    """Kills the processes and waits until they have closed all files, which is long after their arguments are gone."""
    with contextlib.ExitStack() as stack:
        watched = []
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                watched.append(os.pidfd_open(pid))
                stack.callback(os.close, watched[-1])
        kill(pids)
        end = time.monotonic() + seconds
        while watched:
            ended, _, _ = select.select(watched, [], [], max(0, end - time.monotonic()))
            if not ended:
                raise TimeoutError(f"waited {seconds} s for {len(watched)} killed processes to end")
            watched = [fd for fd in watched if fd not in ended]
