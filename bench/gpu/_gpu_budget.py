"""Plays the parts of the GPU check as processes, each within its share of one time limit, and keeps what they print.

NCCL or the driver may hang for good. So a part that takes too long is ended with all that it has started, and the parts
after it still have their time."""
import collections
import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time

from live_processes import kill, processes, with_descendants
from waiting import wait_until

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
# A part may clean up for `GRACE_SECONDS` after SIGTERM. What still lives `KILL_SECONDS` after SIGKILL hangs in the
# driver, and nothing can end it.
GRACE_SECONDS, KILL_SECONDS = 10, 10
# `why` says why a part did not end by itself. It is empty if the part did.
Played = collections.namedtuple("Played", "rows seconds code why")


class Budget:
    """Shares `seconds` among parts that are played in the order of `shares`.

    Each part is sure of its share. A part may also take what the parts before it have left over. A part that is ended
    has `grace` seconds more, in which it cleans up."""

    def __init__(self, shares, seconds, grace=GRACE_SECONDS):
        self.shares, self.grace = shares, grace
        self.scale = seconds / sum(shares.values())
        self.end = time.monotonic() + seconds

    def seconds_for(self, part):
        names = list(self.shares)
        later = sum(self.shares[name] for name in names[names.index(part) + 1:])
        return self.end - time.monotonic() - later * self.scale

    def play(self, part, command, env=None):
        """Runs the command of a part to its end or to the end of its time, and returns the rows that it printed."""
        limit = self.seconds_for(part)
        if limit <= 0:
            return Played([], 0.0, None, "no time was left for it")
        print(f"{part}: at most {limit:.0f} s", file=sys.stderr, flush=True)
        # What a part leaves running becomes a child of this process, so that it is found and ended.
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        start, printed = time.monotonic(), bytearray()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=env, bufsize=0,
                                   start_new_session=True,
                                   # A part is not to go on if this process is killed.
                                   preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM))
        try:
            in_time = read(process, start + limit, printed)
            seconds = time.monotonic() - start
        finally:
            # This also ends the part if the whole check is told to end.
            stuck = end(process, self.grace)
            process.stdout.close()
        why = [] if in_time else [f"it was ended after {seconds:.0f} s"]
        if stuck:
            why.append(f"{stuck} of its processes cannot be killed")
        return Played(rows_of(printed, part), seconds, process.returncode, ", and ".join(why))


def read(process, until, printed):
    """Appends to `printed` what the process prints. Returns whether the process has ended before the time `until`.

    Another process may keep the pipe open when this one has ended, so the end of the output is not waited for."""
    out = process.stdout.fileno()
    while (left := until - time.monotonic()) > 0:
        # This is asked first, because the process may print and end between the two questions.
        has_ended = process.poll() is not None
        if select.select([out], [], [], min(left, 0.1))[0]:
            data = os.read(out, 1 << 16)
            printed += data
            if not data:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(left)
                return process.returncode is not None
        elif has_ended:
            return True
    return False


def living():
    """Returns the pids of all live processes that this one and its children have started."""
    return (with_descendants([os.getpid()]) - {os.getpid()}) & {pid for pid, _ in processes()}


def end(process, grace):
    """Ends the process, its group and all that they have started. Returns how many processes cannot be ended."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace)

    def gone():
        pids = living()
        kill(pids)
        return not pids
    try:
        wait_until(gone, KILL_SECONDS, "killed processes to end", poll=0.02)
    except TimeoutError:
        return len(living())
    finally:
        process.poll()
    return 0


def rows_of(printed, part):
    """Returns the rows among the lines. The last line of a part that was ended may be cut off."""
    rows = []
    for line in printed.decode(errors="replace").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if isinstance(row, dict):
            rows.append(row)
        else:
            print(f"{part} printed what is no row: {line}", file=sys.stderr)
    return rows
