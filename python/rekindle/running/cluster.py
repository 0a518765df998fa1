"""Runs a cluster on this machine, `rekindle up`, in a folder that belongs to one project."""

from __future__ import annotations

import collections
import contextlib
import fcntl
import hashlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from rekindle import processes
from rekindle.errors import Refused
from rekindle.running import programs, with_parent

# A run that was killed leaves programs that save what they have and end. They are waited for so long, in seconds.
EARLIER_SECONDS = 90.0
# After a signal, `rekindle up` has so many seconds to stop what it started, before it gets the next signal.
STOP_SECONDS = 60.0
_POLL_SECONDS = 0.05


class ProjectFolder:
    """The folder in which a project's cluster and jobs are: below XDG_STATE_HOME, or else ~/.local/state."""

    def __init__(self, project: str) -> None:
        state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
        # The name is short, because paths of sockets below it have little room.
        short = hashlib.sha256(os.fsencode(project)).hexdigest()[:10]
        self.path = os.path.join(os.path.abspath(state), "rekindle", "run", short)
        try:
            os.makedirs(os.path.join(self.path, "jobs"), mode=0o700, exist_ok=True)
            self._write("project", project + "\n")
        except OSError as error:
            raise Refused(f"the folder {self.path}, in which the state is kept, cannot be written ({error.strerror}); "
                          "set XDG_STATE_HOME to a folder that can") from None

    def begin_submit(self, job: dict[str, Any], record: dict[str, Any]) -> str:
        """Writes the job file, and remembers what is being submitted. Returns the path of the job file."""
        self._write(self._record_name(job["name"], "submitting"), json.dumps(record, indent=1) + "\n")
        return self._write(os.path.join("jobs", f"{job['name']}.json"), json.dumps(job, indent=1) + "\n")

    def end_submit(self, name: str, record: dict[str, Any]) -> None:
        """Remembers what was submitted. `record` has its uid now."""
        self._write(self._record_name(name, "submitted"), json.dumps(record, indent=1) + "\n")

    def record(self, name: str, uid: str, alone: bool) -> dict[str, Any] | None:
        """Returns what was submitted from this folder as the job `uid`, or None if another has submitted it.

        `alone` says that nobody else submits to the cluster. Then a process that was killed before it knew the uid has
        submitted the job."""
        submitted = self._read(self._record_name(name, "submitted"))
        if submitted is not None and submitted["uid"] == uid:
            return submitted
        return self._read(self._record_name(name, "submitting")) if alone else None

    def write_values(self, workers: int, values: Mapping[str, str]) -> None:
        """Gives the nodes of the local cluster the values that jobs take by env_from.

        Those of earlier runs stay, because a job that such a run has left goes on in this one."""
        known: dict[str, str] = {}
        with contextlib.suppress(FileNotFoundError), open(
                os.path.join(self.path, "nodes", "n1", "env_from"), encoding="utf-8", errors="surrogateescape",
                newline="\n") as file:
            for line in file:
                name, _, value = line.rstrip("\n").partition("=")
                known[name] = value
        known.update(values)
        if not known:
            return
        text = "".join(f"{name}={value}\n" for name, value in sorted(known.items()))
        for node in range(1, workers + 1):
            os.makedirs(os.path.join(self.path, "nodes", f"n{node}"), mode=0o700, exist_ok=True)
            self._write(os.path.join("nodes", f"n{node}", "env_from"), text)

    def weights(self, uid: str) -> str:
        """Returns the folder for the weights of a job."""
        return os.path.join(self.path, "weights", uid)

    def _record_name(self, name: str, what: str) -> str:
        return os.path.join("jobs", f"{name}.{what}.json")

    def _read(self, name: str) -> dict[str, Any] | None:
        try:
            with open(os.path.join(self.path, name), encoding="utf-8") as file:
                record = json.load(file)
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) else None

    def _write(self, name: str, text: str) -> str:
        """Writes a file as a whole and returns its path. Raises Refused."""
        path = os.path.join(self.path, name)
        try:
            # Only this user may read it, since it may hold values from the environment.
            with open(os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w",
                      encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)
            os.replace(f"{path}.new", path)
        except OSError as error:
            raise Refused(f"{path}, a part of the state that is kept, cannot be written ({error.strerror}); make room "
                          "there, or set XDG_STATE_HOME to another folder") from None
        return path


class LocalCluster:
    """Is there as long as its `with` statement runs. `say` gets lines about what is waited for."""

    def __init__(self, program: str, folder: ProjectFolder, workers: int, values: Mapping[str, str],
                 say: Callable[[str], None]) -> None:
        """`values` are for variables that jobs name by env_from."""
        self._program = program
        self._project = folder
        self._folder = folder.path
        self._values = values
        self._workers = workers
        self._say = say
        self._held: int | None = None
        self._up: subprocess.Popen[str] | None = None
        self._lines: collections.deque[str] = collections.deque(maxlen=50)
        self._first: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self.endpoint = ""

    def __enter__(self) -> LocalCluster:
        try:
            self._held = self._hold()
            self._await_earlier()
            self._project.write_values(self._workers, self._values)
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    @property
    def pid(self) -> int:
        assert self._up is not None
        return self._up.pid

    def said(self) -> str:
        """Returns what `rekindle up` said last, for the case that it has ended."""
        if self._lines:
            return programs.error_of("\n".join(self._lines)).message
        code = self._up.poll() if self._up is not None else None
        if code is not None and code > 128:
            return f"rekindle up was killed by signal {code - 128}; what it had started was stopped"
        return f"rekindle up said nothing (exit code {code})"

    def _hold(self) -> int:
        """Returns a descriptor that holds the folder for this process. Raises Refused if another run holds it."""
        path = os.path.join(self._folder, "run.lock")
        try:
            held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise Refused(f"{path} cannot be opened ({error.strerror}); make room there, or set XDG_STATE_HOME to "
                          "another folder") from None
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(held, 32).decode("ascii", "replace").strip()
            os.close(held)
            raise Refused(f"jobs of this folder are being trained already, by process {holder or 'unknown'}; wait for "
                          "it, stop it by Ctrl-C, or submit this job to its cluster with rekindle.submit") from None
        # The number is for messages alone, so a disk that is full does not matter here.
        with contextlib.suppress(OSError):
            os.truncate(held, 0)
            os.pwrite(held, f"{os.getpid()}\n".encode("ascii"), 0)
        return held

    def _await_earlier(self) -> None:
        """Waits until the programs of a run that was killed have ended."""
        end = time.monotonic() + EARLIER_SECONDS
        for name in ("lock", os.path.join("coordinator", "lock")):
            told = False
            while not _is_free(os.path.join(self._folder, name)):
                if time.monotonic() > end:
                    raise Refused(f"a program of an earlier run still holds {os.path.join(self._folder, name)}, which "
                                  "has its process number; stop it")
                if not told:
                    self._say("waits until the earlier run has saved its state and stopped")
                told = True
                time.sleep(_POLL_SECONDS)

    def _start(self) -> None:
        words = [self._program, "up", "--workers", str(self._workers), "--dir", self._folder, "--port", "0", "--web",
                 "off", "--python", sys.executable, "-o", "json"]
        self._up = subprocess.Popen(
            [sys.executable, "-I", "-S", with_parent.__file__, str(os.getpid()), *words], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", cwd=self._folder,
            env=processes.environment(), start_new_session=True)
        threading.Thread(target=self._read, args=(self._up,), name="rekindle-up", daemon=True).start()
        told = self._first.get()
        if told is None:
            hint = "; set XDG_STATE_HOME to a shorter folder" if "use a shorter folder" in self.said() else ""
            raise Refused(f"the cluster on this machine did not start: {self.said()}{hint}")
        self.endpoint = str(told["endpoint"])

    def _read(self, up: subprocess.Popen[str]) -> None:
        """Reads what `rekindle up` writes, so that it never waits for a reader. This is the thread's function."""
        assert up.stdout is not None
        with up.stdout as output:
            for line in output:
                told = None
                with contextlib.suppress(ValueError):
                    told = json.loads(line)
                if isinstance(told, dict) and "endpoint" in told:
                    self._first.put(told)
                else:
                    self._lines.append(line.rstrip("\n"))
        self._first.put(None)

    def _stop(self) -> None:
        """Stops everything. A Ctrl-C meanwhile hurries the programs, and the second one kills them."""
        signals = [signal.SIGTERM, signal.SIGTERM, signal.SIGINT]
        while self._up is not None and self._up.poll() is None:
            try:
                self._up.send_signal(signals.pop(0) if len(signals) > 1 else signals[0])
                self._up.wait(STOP_SECONDS)
            except (KeyboardInterrupt, subprocess.TimeoutExpired):
                continue
        if self._held is not None:
            os.close(self._held)
            self._held = None


def _is_free(path: str) -> bool:
    """Returns whether nobody holds the lock file."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
