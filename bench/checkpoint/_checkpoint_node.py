"""Runs a real checkpoint service with a trainer beside it, and watches their memory, for scripts/bench checkpoint."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from programs import program
from waiting import wait_until


class Trainer:
    """Drives bench/checkpoint/checkpoint.cc, which acts as a training process with a state of `elements` elements."""

    def __init__(self, elements, env=None):
        self.process = subprocess.Popen([program("rekindle-bench-checkpoint"), "--elements", str(elements)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "REKINDLE_LOG_LEVEL": "error", **(env or {})})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def ask(self, do, **options):
        self.process.stdin.write(json.dumps({"do": do, **options}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"error: the trainer ended with {self.process.wait()} during {do}")
        return json.loads(line)


class Service:
    """Runs rekindle-checkpoint with a node's folder and a folder of shared memory of its own."""

    def __init__(self, folder, env=None):
        self.dir = pathlib.Path(folder) / "node"
        self.socket = str(self.dir / "checkpoint.sock")
        self.shm = tempfile.mkdtemp(prefix="rekindle-bench-", dir="/dev/shm")
        self.env = {**os.environ, "REKINDLE_LOG_LEVEL": "error", **(env or {})}
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.shm, ignore_errors=True)

    def start(self):
        pathlib.Path(self.socket).unlink(missing_ok=True)
        self.process = subprocess.Popen([program("rekindle-checkpoint"), "--dir", str(self.dir), "--shm-dir", self.shm,
                                         "--memory-limit", "8GiB", "--peer-listen", ""], env=self.env)
        wait_until(lambda: os.path.exists(self.socket), 10, "the checkpoint service's socket")

    def stop(self):
        """Kills the service as kill -9 does, so that all it held in memory is lost."""
        self.process.kill()
        self.process.wait()

    def restart(self):
        self.stop()
        self.start()


class MemoryWatch:
    """Samples the checkpoint memory of a node and keeps its peak.

    The memory is the shared segments plus the growth of the service's own memory. Segments that are already unlinked
    but that the service or the trainer still maps are included."""

    PERIOD = 0.02

    def __init__(self, service, trainer):
        self.service, self.trainer = service, trainer
        self.segments = self.grown = self.peak = 0
        self.before = self.own_memory()
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()

    def own_memory(self):
        """Returns the resident bytes of the service, without shared memory."""
        status = pathlib.Path(f"/proc/{self.service.process.pid}/status").read_text()
        return sum(int(kb) << 10 for kb in re.findall(r"^Rss(?:Anon|File):\s+(\d+) kB", status, re.M))

    def shared(self):
        seen = {}
        with contextlib.suppress(OSError), os.scandir(self.service.shm) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    info = entry.stat()
                    seen[info.st_ino] = info.st_blocks * 512
        for pid in (self.service.process.pid, self.trainer.process.pid):
            with contextlib.suppress(OSError):
                for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
                    if self.service.shm in line:
                        begin, end = (int(x, 16) for x in line.split()[0].split("-"))
                        seen.setdefault(int(line.split()[4]), end - begin)
        return sum(seen.values())

    def watch(self):
        while not self.stop.wait(self.PERIOD):
            with contextlib.suppress(OSError):
                segments, grown = self.shared(), self.own_memory() - self.before
                self.segments, self.grown = max(self.segments, segments), max(self.grown, grown)
                self.peak = max(self.peak, segments + grown)


def evict(folder):
    """Drops the files of a folder from the page cache, so that reading them is reading the disk."""
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file():
            fd = os.open(path, os.O_RDONLY)
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


def fill_page_cache(folder):
    """Reads all files of the folder, so that the page cache holds what it would hold after a job has saved to it."""
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file():
            with open(path, "rb", buffering=0) as file:
                while file.read(8 << 20):
                    pass


def settle(seconds):
    """Waits between two measurements, so that the disk finishes the writes of the earlier one.

    `seconds` is 0 in a run that measures nothing, and then there is no wait."""
    if seconds > 0:
        os.sync()
        time.sleep(seconds)
