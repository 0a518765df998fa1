"""Makes processes as slow as a machine with a share of a core.

It sets a CPU quota where this user may do so, and otherwise stops and continues the processes. Only the standard
library is used."""
import contextlib
import os
import pathlib
import signal
import threading
import time

from live_processes import kill

# `PERIOD` is in seconds. It is short beside a micro-batch, so that each micro-batch is slowed alike.
PERIOD = 0.01


def quota_folder():
    """Returns (folder to make a group in, version) of the first CPU controller this user may use, or None."""
    for version, root in ((1, "/sys/fs/cgroup/cpu"), (2, "/sys/fs/cgroup")):
        probe = pathlib.Path(root, f"rekindle-probe-{os.getpid()}")
        with contextlib.suppress(OSError):
            probe.mkdir()
            try:
                if (probe / ("cpu.cfs_quota_us" if version == 1 else "cpu.max")).exists():
                    return pathlib.Path(root), version
            finally:
                probe.rmdir()
    return None


def children(pids):
    """Returns the children of these processes. A process that was just forked may not have its own name yet, so it is
    found by its parent."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        # A process may end while /proc is read.
        with contextlib.suppress(OSError):
            if int(entry.read_text().rsplit(")", 1)[1].split()[1]) in pids:
                found.append(int(entry.parent.name))
    return found


class Quota:
    """Limits a group of processes, and all that they have started and will start, to `share` of a core."""

    def __init__(self, pids, share, root, version):
        self.root, self.share = root, share
        self.group = root / f"rekindle-{os.getpid()}-{pids[0]}"
        self.group.mkdir()
        period = round(PERIOD * 1e6)
        if version == 1:
            (self.group / "cpu.cfs_period_us").write_text(str(period))
            (self.group / "cpu.cfs_quota_us").write_text(str(round(period * share)))
        else:
            (self.group / "cpu.max").write_text(f"{round(period * share)} {period}")
        while pids:
            for pid in pids:
                # A process may have ended since it was found.
                with contextlib.suppress(ProcessLookupError):
                    (self.group / "cgroup.procs").write_text(str(pid))
            # A child that is forked by a process in the group is in the group, too. So a child outside the group was
            # forked before its parent was moved, and children() finds it now.
            pids = children(pids)

    def end(self):
        while pids := (self.group / "cgroup.procs").read_text().split():
            for pid in pids:
                # A process may have ended since it was listed.
                with contextlib.suppress(OSError):
                    (self.root / "cgroup.procs").write_text(pid)
        self.group.rmdir()


class DutyCycle:
    """Runs processes for `share` of each period. What they start later is not slowed."""

    def __init__(self, pids, share):
        self.pids, self.share = pids, share
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        # This class stops processes by signals, which are less precise than a quota of the scheduler, so its period is
        # longer.
        period = 2 * PERIOD
        next_at = time.monotonic()
        while not self.stopped.is_set():
            kill(self.pids, signal.SIGCONT)
            self.stopped.wait(max(0.0, next_at + self.share * period - time.monotonic()))
            kill(self.pids, signal.SIGSTOP)
            next_at = max(next_at + period, time.monotonic())
            self.stopped.wait(max(0.0, next_at - time.monotonic()))
        kill(self.pids, signal.SIGCONT)

    def end(self):
        self.stopped.set()
        self.thread.join()


@contextlib.contextmanager
def throttled(node, share):
    """Limits all trainers of a node together to `share` of a core while the context lasts. The trainers must run."""
    if not node.pids("trainer"):
        raise ValueError(f"no trainer of {node.name} runs that could be slowed")
    found = quota_folder()
    # If a trainer's parent is in the group, a trainer that is started again is slowed, too.
    slowed = Quota(node.pids("init"), share, *found) if found else DutyCycle(node.pids("trainer"), share)
    try:
        yield "quota" if found else "duty cycle"
    finally:
        slowed.end()
