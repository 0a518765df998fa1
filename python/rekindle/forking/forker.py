"""Serves the trainers that are connected to a warm process: forks model processes for them, and kills what is left.

`../warm.py` says what is sent. Whoever is connected may send anything: it costs its sender the connection."""

from __future__ import annotations

import fcntl
import functools
import gc
import json
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NoReturn

from rekindle import processes, wire
from rekindle.forking import forkable

MOST_BYTES = 4096
MOST_CONNECTIONS = MOST_CHILDREN = 64
# So many orphans are waited for at a time. The others were killed too, and their turn comes.
MOST_ORPHANS = 32
# When the warm process ends, it waits so long for the end of what it has killed.
GRACE = 1.5
DESCRIPTORS = 3
_SPACE = socket.CMSG_SPACE(DESCRIPTORS * struct.calcsize("i"))
_SIGNALS = (signal.SIGTERM, signal.SIGCHLD, signal.SIGINT)


@dataclass(eq=False)
class _Connection:
    end: socket.socket
    children: dict[int, _Child] = field(default_factory=dict)


@dataclass(eq=False)
class _Child:
    """`ends` is a pidfd of the process, and `trainer` one of its trainer, or -1 after the trainer has ended."""

    pid: int
    ends: int
    trainer: int
    connection: _Connection


class Forker:
    """Serves connections until it is told to end. Everything happens in one thread, which waits in poll() alone."""

    def __init__(self, listener: socket.socket, watch: forkable.Watch, obstacle: forkable.Obstacle | None,
                 seconds: float) -> None:
        self._listener = listener
        self._obstacle = obstacle
        self._files = watch.files()
        self._collects = gc.isenabled()
        told: dict[str, Any] = {"ready": obstacle is None, "seconds": round(seconds, 3)}
        if obstacle is None:
            told["pid"] = os.getpid()
        else:
            told |= {"reason": obstacle.reason, "import": obstacle.culprit}
        self._hello = told
        self._connections: set[_Connection] = set()
        self._children: dict[int, _Child] = {}
        self._orphans: dict[int, int] = {}
        self._ending = self._unattended = False
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[], object]] = {}
        # What a turn no longer needs is closed at its end, so that no event is taken for that of another descriptor.
        self._closing: list[Callable[[], object]] = []
        self._listen_to_signals()
        self._listener.setblocking(False)
        self._on(self._listener.fileno(), self._accept)

    def end_with(self, descriptor: int) -> None:
        """Ends when the process ends of which `descriptor` is a pidfd."""

        def ended() -> None:
            self._ending = True
            self._off(descriptor)

        self._on(descriptor, ended)

    def outlive_for_trainers(self, descriptor: int) -> None:
        """After the end of the process of which `descriptor` is a pidfd, ends as soon as nobody is connected."""

        def left_alone() -> None:
            self._unattended = True
            self._off(descriptor)

        self._on(descriptor, left_alone)

    def run(self) -> None:
        """Serves, and kills all that is left at the end."""
        # Objects of the imports are not looked at again, so their pages stay shared with the forks.
        gc.collect()
        gc.disable()
        while not self._ending and (self._connections or not self._unattended):
            self._turn(None)
        self._ending = True
        self._off(self._listener.fileno(), self._listener.close)
        for connection in list(self._connections):
            self._leave(connection)
        deadline = time.monotonic() + GRACE
        self._sweep()
        while (self._children or self._orphans) and (left := deadline - time.monotonic()) > 0:
            self._turn(left * 1000)

    def _turn(self, milliseconds: float | None) -> None:
        for descriptor, _ in self._poll.poll(milliseconds):
            handler = self._handlers.get(descriptor)
            if handler is not None:
                handler()
        for close in self._closing:
            close()
        self._closing.clear()

    def _on(self, descriptor: int, handler: Callable[[], object]) -> None:
        self._handlers[descriptor] = handler
        self._poll.register(descriptor, select.POLLIN)

    def _off(self, descriptor: int, close: Callable[[], object] | None = None) -> None:
        del self._handlers[descriptor]
        self._poll.unregister(descriptor)
        self._closing.append(close or functools.partial(os.close, descriptor))

    def _listen_to_signals(self) -> None:
        """Ends at SIGTERM. Keeps how the imports left signals, for the forks."""

        def note(number: int, frame: FrameType | None) -> None:
            self._ending = True

        self._dispositions = {number: signal.getsignal(number) or signal.SIG_DFL for number in _SIGNALS}
        reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._on(reading, functools.partial(os.read, reading, 256))
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, note)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)

    def _accept(self) -> None:
        try:
            end, _ = self._listener.accept()
        except OSError:
            return  # The other side has left already.
        if len(self._connections) == MOST_CONNECTIONS:
            end.close()
            return
        connection = _Connection(end)
        self._connections.add(connection)
        self._on(end.fileno(), functools.partial(self._receive, connection))
        self._say(connection, self._hello)

    def _say(self, connection: _Connection, fields: dict[str, Any]) -> None:
        """Sends a packet. Leaves a connection whose other side is gone or does not read."""
        try:
            connection.end.send(_packed(fields), socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)
        except OSError:
            self._leave(connection)

    def _receive(self, connection: _Connection) -> None:
        try:
            packet, ancillary, flags, _ = connection.end.recvmsg(
                MOST_BYTES, _SPACE, socket.MSG_CMSG_CLOEXEC | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            self._leave(connection)
            return
        descriptors = wire.descriptors_of(ancillary)
        try:
            if packet:
                self._serve(connection, _parsed(packet, flags), descriptors)
            else:
                self._leave(connection)
        except wire.Garbage as error:
            self._say(connection, {"closed": str(error)})
            self._leave(connection)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _leave(self, connection: _Connection) -> None:
        if connection not in self._connections:
            return
        self._connections.remove(connection)
        self._off(connection.end.fileno(), connection.end.close)
        for child in connection.children.values():
            _kill(child.pid)

    def _serve(self, connection: _Connection, asked: dict[str, Any], descriptors: list[int]) -> None:
        if asked.get("verb") == "fork":
            faults = asked.get("faults")
            if faults is not None and (type(faults) is not str or not faults.startswith("/") or "\0" in faults):
                raise wire.Garbage(f"faults is {faults!r}; it is an absolute path or null")
            if len(descriptors) != DESCRIPTORS:
                raise wire.Garbage(f"fork came with {len(descriptors)} descriptors; it needs {DESCRIPTORS}")
            self._fork(connection, faults, *descriptors)
        elif asked.get("verb") == "kill" and type(asked.get("pid")) is int and not descriptors:
            child = connection.children.get(asked["pid"])
            if child is not None:
                _kill(child.pid)
        else:
            raise wire.Garbage("a packet is neither fork nor kill as this version knows them")

    def _fork(self, connection: _Connection, faults: str | None, model: int, log: int, trainer: int) -> None:
        try:
            why = self._objection(model, log, trainer)
            child = None if why is not None else self._forked(connection, faults, model, log, trainer)
        except OSError as error:
            why, child = f"the system cannot fork the warm process: {error.strerror}", None
        if child is None:
            self._say(connection, {"refused": why})
            return
        self._children[child.pid] = connection.children[child.pid] = child
        self._on(child.ends, functools.partial(self._ended, child))
        self._on(child.trainer, functools.partial(self._trainer_ended, child))
        self._say(connection, {"pid": child.pid})

    def _objection(self, model: int, log: int, trainer: int) -> str | None:
        """Returns why nothing is forked, if that is so."""
        if self._obstacle is not None:
            return self._obstacle.reason
        if len(self._children) >= MOST_CHILDREN:
            return f"there are {MOST_CHILDREN} model processes already; end some"
        if not is_socket(model):
            return "the first descriptor is no socket of type SOCK_SEQPACKET"
        if fcntl.fcntl(log, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            return "the second descriptor is not open for writing"
        if not is_pidfd(trainer):
            return "the third descriptor is no pidfd"
        return "the trainer has ended" if has_ended(trainer) else None

    def _forked(self, connection: _Connection, faults: str | None, model: int, log: int, trainer: int) -> _Child:
        gc.freeze()
        # A signal to the fork before it has its own handlers would be taken for one to this process.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            pid = processes.fork(lambda: self._become(model, log, faults))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        kept = -1
        try:
            kept = os.dup(trainer)
            return _Child(pid, os.pidfd_open(pid), kept, connection)
        except OSError:
            _kill(pid)
            os.waitpid(pid, 0)
            if kept >= 0:
                os.close(kept)
            raise

    def _become(self, model: int, log: int, faults: str | None) -> NoReturn:
        """Makes this process, which was just forked, a model process. Objects whose descriptors it closes stay alive
        in the frames below, so none of them closes a number that is another descriptor by then."""
        from rekindle import child

        os.setsid()
        # What descendants leave behind comes to this process, and to the warm process after it.
        processes.adopt_orphans()
        signal.set_wakeup_fd(-1)
        for number, disposition in self._dispositions.items():
            signal.signal(number, disposition)
        os.dup2(log, 1)
        os.dup2(log, 2)
        kept = {0, 1, 2, model, *self._files}
        for descriptor in forkable.descriptors():
            if descriptor not in kept:
                os.close(descriptor)
        for descriptor in self._files:
            forkable.reopen(descriptor)
        if self._collects:
            gc.enable()
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        child.main(model, faults)

    def _trainer_ended(self, child: _Child) -> None:
        self._off(child.trainer)
        child.trainer = -1
        _kill(child.pid)

    def _ended(self, child: _Child) -> None:
        # The number of the group is not used again before its leader was waited for.
        _kill(child.pid)
        pid, status = os.waitpid(child.pid, os.WNOHANG)
        if not pid:
            return
        self._off(child.ends)
        if child.trainer >= 0:
            self._off(child.trainer)
        del self._children[child.pid], child.connection.children[child.pid]
        if child.connection in self._connections:
            self._say(child.connection, {"ended": child.pid, "code": os.waitstatus_to_exitcode(status)})
        self._sweep()

    def _sweep(self) -> None:
        """Kills the orphans that processes which have ended left to this one."""
        for pid in processes.children():
            if pid in self._children or pid in self._orphans:
                continue
            _kill(pid)
            if len(self._orphans) < MOST_ORPHANS:
                self._orphans[pid] = os.pidfd_open(pid)
                self._on(self._orphans[pid], functools.partial(self._orphan_ended, pid))

    def _orphan_ended(self, pid: int) -> None:
        if os.waitpid(pid, os.WNOHANG)[0]:
            self._off(self._orphans.pop(pid))
            self._sweep()


def _packed(fields: dict[str, Any]) -> bytes:
    """Returns a packet. Its texts are cut until it is short enough."""
    most = MOST_BYTES
    while True:
        cut = {name: value[:most] if isinstance(value, str) else value for name, value in fields.items()}
        packet = json.dumps(cut, ensure_ascii=False).encode("utf-8", "replace")
        if len(packet) <= MOST_BYTES:
            return packet
        most //= 2


def _parsed(packet: bytes, flags: int) -> dict[str, Any]:
    if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
        raise wire.Garbage(f"a packet has more than {MOST_BYTES} bytes or {DESCRIPTORS} descriptors")
    try:
        asked = json.loads(packet.decode("utf-8"))
    except (ValueError, RecursionError):
        raise wire.Garbage("a packet is no JSON") from None
    if type(asked) is not dict:
        raise wire.Garbage("a packet is no JSON object")
    return asked


def _kill(pid: int) -> None:
    """Kills a child, which was not waited for yet, and the group that it leads, if any.

    A fork that does not lead one yet has started no process."""
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except OSError:
            pass  # Nothing is left of it, or it has become another user's.


def is_socket(descriptor: int, listening: bool = False) -> bool:
    """Returns whether the descriptor is a socket of type SOCK_SEQPACKET, which listens or does not."""
    try:
        with socket.socket(fileno=os.dup(descriptor)) as end:
            return (end.family == socket.AF_UNIX and end.type == socket.SOCK_SEQPACKET and
                    end.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == listening)
    except OSError:
        return False


def is_pidfd(descriptor: int) -> bool:
    try:
        with open(f"/proc/self/fdinfo/{descriptor}", encoding="ascii", errors="replace") as file:
            return "\nPid:" in file.read()
    except OSError:
        return False


def has_ended(pidfd: int) -> bool:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(0))
