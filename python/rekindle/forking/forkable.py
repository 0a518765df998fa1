"""Watches imports, and finds what keeps this process from being forked after them, and which import brought it about.

A fork has neither the threads of its parent nor its children. It shares with it, and with other forks, open files, and
memory that was mapped to be shared. A GPU that the parent has begun to use is lost to it."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.machinery import ExtensionFileLoader, SourceFileLoader
from typing import Any, NamedTuple

from rekindle import processes

# These functions of importlib run the lines of a module, or load what a compiled one needs.
_HOOKS = ((SourceFileLoader, "exec_module"), (ExtensionFileLoader, "create_module"),
          (ExtensionFileLoader, "exec_module"))
# Devices without a state, by their numbers: null, zero, full, random and urandom.
_HARMLESS = tuple(os.makedev(1, minor) for minor in (3, 5, 7, 8, 9))
# A fork that was made to try it has so many seconds to end.
_PATIENCE = 10.0


class Obstacle(NamedTuple):
    """Says why a process may not be forked. `culprit` is the module whose import did it, or "" where none is known."""

    reason: str
    culprit: str = ""


class Watch:
    """Is a context in which modules are imported. It knows what came to be while the lines of which module ran.

    Only one thread may import meanwhile, as far as the culprits shall be right."""

    def __init__(self) -> None:
        self._running: list[str] = []
        self._replaced: list[tuple[type, str, Any]] = []
        self._error: BaseException | None = None
        self.failed = ""
        self._before = set(descriptors())
        # What is there, such as ("thread", 17), and the module in which it appeared.
        self._came: dict[tuple[str, int], str] = {}
        self._look()

    def __enter__(self) -> Watch:
        for owner, name in _HOOKS:
            self._replaced.append((owner, name, vars(owner).get(name)))
            setattr(owner, name, self._watched(getattr(owner, name)))
        return self

    def __exit__(self, *_: object) -> None:
        for owner, name, original in reversed(self._replaced):
            if original is None:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
        self._error = None

    def _watched(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def watched(loader: Any, subject: Any) -> Any:
            name = getattr(subject, "__name__", None) or subject.name
            self._look()
            self._running.append(name)
            try:
                return original(loader, subject)
            except BaseException as error:
                if error is not self._error:
                    self._error, self.failed = error, name
                raise
            finally:
                self._look()
                self._running.pop()

        return watched

    def _look(self) -> None:
        culprit = self._running[-1] if self._running else ""
        self._came = {thing: self._came.get(thing, culprit) for thing in _things()}

    def files(self) -> list[int]:
        """Returns the descriptors that imports have left open. If there is no obstacle, reopen() works for each."""
        return [number for number in descriptors() if number not in self._before]

    def obstacle(self) -> Obstacle | None:
        """Returns why this process may not be forked, if something is in the way. It may fork this process to try."""
        for find in (self._python_thread, self._gpu, self._process, self._native_thread, self._descriptor, _memory):
            found = find()
            if found is not None:
                return found
        return None

    def _culprit(self, kind: str, number: int | None) -> str:
        return self._came.get((kind, number or 0), "")

    def _python_thread(self) -> Obstacle | None:
        for thread in threading.enumerate():
            if thread is not threading.main_thread():
                return Obstacle(f"the thread {thread.name} runs, which a fork would not have; start threads in task()",
                                self._culprit("thread", thread.native_id))
        return None

    def _gpu(self) -> Obstacle | None:
        if not _uses_gpu():
            return None
        return Obstacle("CUDA is initialized, and no fork could use it then; call torch.cuda in task()",
                        self._culprit("gpu", 0))

    def _process(self) -> Obstacle | None:
        running = [pid for pid in processes.children() if not _wait(pid)]
        if not running:
            return None
        return Obstacle(f"the process {running[0]} ({_name(running[0])}) was started and still runs; start it in "
                        "task(), or wait for its end", self._culprit("process", 0))

    def _native_thread(self) -> Obstacle | None:
        # Some libraries, such as OpenBLAS, end their threads before a fork and start them again when they need them.
        if len(_threads()) > 1 and not _fork_ends():
            return Obstacle("a fork of the process did not end, so a thread of a library holds what forks need; "
                            "import the library in task()", self._culprit("thread", max(_threads())))
        left = [number for number in _threads() if number != os.getpid()]
        if not left:
            return None
        return Obstacle(f"a library runs {len(left)} threads, such as {_name(left[0])}, which a fork would not have; "
                        "compute nothing while a module is imported, but in task()", self._culprit("thread", left[0]))

    def _descriptor(self) -> Obstacle | None:
        for number in self.files():
            why = _unshareable(number)
            if why is not None:
                return Obstacle(f"{why}; open it in task()", self._culprit("descriptor", number))
        return None


def descriptors() -> list[int]:
    """Returns the open descriptors of this process."""
    return [number for number in map(int, os.listdir("/proc/self/fd")) if _is_open(number)]


def reopen(number: int) -> None:
    """Makes `number` a descriptor of its own for the file that it is open for, at the place where it is, so that other
    processes which have it read from other places."""
    flags = fcntl.fcntl(number, fcntl.F_GETFL)
    inheritable = os.get_inheritable(number)
    opened = os.open(f"/proc/self/fd/{number}", flags & ~os.O_EXCL)
    try:
        if stat.S_ISREG(os.fstat(number).st_mode) and not flags & os.O_PATH:
            os.lseek(opened, os.lseek(number, 0, os.SEEK_CUR), os.SEEK_SET)
        os.dup2(opened, number, inheritable)
    finally:
        os.close(opened)


def _is_open(number: int) -> bool:
    """Returns whether the descriptor is open. The one by which a listing was made no longer is."""
    try:
        fcntl.fcntl(number, fcntl.F_GETFD)
    except OSError:
        return False
    return True


def _things() -> Iterator[tuple[str, int]]:
    for number in _threads():
        yield "thread", number
    for number in descriptors():
        yield "descriptor", number
    if _uses_gpu():
        yield "gpu", 0
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        yield "process", 0
    except ChildProcessError:
        pass


def _threads() -> list[int]:
    return [int(name) for name in os.listdir("/proc/self/task")]


def _uses_gpu() -> bool:
    initialized = getattr(sys.modules.get("torch.cuda"), "is_initialized", None)
    return bool(initialized and initialized())


def _name(number: int) -> str:
    """Returns the name of a process, or of a thread of this one."""
    try:
        with open(f"/proc/{number}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return "which has ended"


def _wait(pid: int) -> bool:
    """Returns whether the child has ended, and takes its status if it has."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def _fork_ends() -> bool:
    """Returns whether a fork of this process can run Python."""
    pid = processes.fork(lambda: None)
    descriptor = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    ends = bool(poll.poll(_PATIENCE * 1000))
    os.close(descriptor)
    if not ends:
        os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1] == 0


def _unshareable(number: int) -> str | None:
    """Returns why a fork cannot have a descriptor of its own for the same file, if that is so."""
    path = os.readlink(f"/proc/self/fd/{number}")
    status = os.fstat(number)
    ordinary = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    if not ordinary and not (stat.S_ISCHR(status.st_mode) and status.st_rdev in _HARMLESS):
        return f"{path} is open, which processes cannot share"
    with open(f"/proc/self/fdinfo/{number}", encoding="ascii") as file:
        if "\nlock:" in file.read():
            return f"a lock on the file {path} is held, which a fork would not have"
    try:
        reopen(number)
    except OSError as error:
        return f"the file {path} is open, and opening it once more fails ({error.strerror})"
    return None


def _memory() -> Obstacle | None:
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        for line in file:
            _, access, _, _, _, *path = line.split(maxsplit=5)
            what = path[0].strip() if path else "without a name"
            if access.endswith("s") and ("w" in access or _is_device(what)):
                return Obstacle(f"memory that processes share is mapped ({what}), so one would see what another "
                                "writes; make locks of multiprocessing and writable maps in task()")
    return None


def _is_device(path: str) -> bool:
    return path.startswith("/dev/") and not path.startswith(("/dev/shm/", "/dev/zero"))
