"""Writes and reads the messages between the trainer and the model process. Everything is bounded and checked.

A message is one packet of a SOCK_SEQPACKET socket: a header, and a body that is packed without gaps, little-endian.
Descriptors travel beside it. A JSON body that is too long for a packet travels as a sealed memfd."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rekindle import messages

MAGIC = 0x314B5052
HEADER = struct.Struct("<IHHI")
BODY_IN_MEMFD = 1
MOST_BYTES = 64 * 1024
MOST_JSON = 64 * 1024 * 1024
MOST_DESCRIPTORS = 4
SIZE = struct.Struct("<Q")
SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


class Garbage(Exception):
    """Says what is wrong with a message. The conversation cannot go on after it."""


class Gone(Exception):
    """Says that the other side has closed the socket."""


class Received(NamedTuple):
    message: Any
    descriptors: list[int]


class Channel:
    """One end of the conversation. Any thread may send, and one thread at a time may receive."""

    def __init__(self, descriptor: int, known: Mapping[int, type[messages.Body]]) -> None:
        """Takes over `descriptor`. `known` has the messages that the other side may send, by their numbers."""
        self._socket = socket.socket(fileno=descriptor)
        if self._socket.type != socket.SOCK_SEQPACKET:
            self._socket.close()
            raise Garbage(f"descriptor {descriptor} is no socket of type SOCK_SEQPACKET; the trainer gives it")
        self._socket.setblocking(True)
        self._known = known
        self._buffer = bytearray(MOST_BYTES)
        self._space = socket.CMSG_SPACE(MOST_DESCRIPTORS * struct.calcsize("i"))

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def send(self, message: messages.Body, descriptors: Sequence[int] = ()) -> None:
        """Sends `message` as one packet. Raises Gone where the other side has closed the socket."""
        body = message.pack()
        flags = 0
        opened = None
        if isinstance(message, messages.OfJson) and len(body) > messages.MOST_INLINE_JSON:
            if len(body) > MOST_JSON or not message.IN_MEMFD:
                raise Garbage(f"a message of {len(body)} bytes is more than may be sent")
            opened = _sealed(body)
            descriptors, body, flags = [opened], SIZE.pack(len(body)), BODY_IN_MEMFD
        packet = HEADER.pack(MAGIC, message.TYPE, flags, len(body)) + body
        try:
            if descriptors:
                socket.send_fds(self._socket, [packet], list(descriptors))
            else:
                self._socket.send(packet, socket.MSG_NOSIGNAL)
        except (BrokenPipeError, ConnectionResetError):
            raise Gone("the other side has closed the socket") from None
        finally:
            if opened is not None:
                os.close(opened)

    def receive(self) -> Received | None:
        """Waits for a message. Returns None if the other side has closed the socket. Raises Garbage if the message
        breaks the rules."""
        try:
            size, ancillary, flags, _ = self._socket.recvmsg_into([self._buffer], self._space,
                                                                  socket.MSG_CMSG_CLOEXEC)
        except ConnectionResetError:
            return None
        descriptors = descriptors_of(ancillary)
        if size == 0 and not descriptors:
            return None
        try:
            if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
                raise Garbage(f"a message has more than {MOST_BYTES} bytes or {MOST_DESCRIPTORS} descriptors")
            return Received(*self._decode(memoryview(self._buffer)[:size], descriptors))
        except BaseException:
            for descriptor in descriptors:
                os.close(descriptor)
            raise

    def _decode(self, packet: memoryview, descriptors: list[int]) -> tuple[Any, list[int]]:
        if len(packet) < HEADER.size:
            raise Garbage(f"a message of {len(packet)} bytes has no whole header")
        magic, number, flags, size = HEADER.unpack_from(packet)
        if magic != MAGIC:
            raise Garbage(f"a message begins with {magic:#010x} and not with {MAGIC:#010x}")
        kind = self._known.get(number)
        if kind is None:
            raise Garbage(f"no message has the number {number}")
        body = packet[HEADER.size:]
        if size != len(body):
            raise Garbage(f"{kind.__name__} says that it has {size} bytes, but it has {len(body)}")
        in_memfd = flags == BODY_IN_MEMFD and issubclass(kind, messages.OfJson) and kind.IN_MEMFD
        if flags and not in_memfd:
            raise Garbage(f"{kind.__name__} has the flags {flags:#x}, which mean nothing")
        if len(descriptors) != (1 if in_memfd else kind.DESCRIPTORS):
            raise Garbage(f"{kind.__name__} came with {len(descriptors)} descriptors")
        try:
            if not in_memfd:
                return kind.unpack(body), descriptors
            return kind.unpack(_contents(descriptors[0], body)), _closed(descriptors)
        except (struct.error, ValueError, OverflowError, RecursionError) as error:
            raise Garbage(f"the body of {kind.__name__} cannot be read: {error}") from None


def descriptors_of(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    """Returns the descriptors that came beside a packet."""
    found: list[int] = []
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            whole = len(data) - len(data) % struct.calcsize("i")
            found += struct.unpack(f"{whole // struct.calcsize('i')}i", data[:whole])
    return found


def _sealed(body: bytes) -> int:
    """Returns a memfd that holds `body` and that nobody can change."""
    descriptor = os.memfd_create("rekindle-message", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    left = memoryview(body)
    while left:
        left = left[os.write(descriptor, left):]
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, SEALS)
    return descriptor


def _contents(descriptor: int, body: memoryview) -> memoryview:
    """Returns what a memfd holds. An unsealed one is refused, because its owner could change it meanwhile."""
    size, = SIZE.unpack(body)
    if size > MOST_JSON:
        raise Garbage(f"a message of {size} bytes is more than the {MOST_JSON} that may be sent")
    try:
        seals = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
    except OSError:
        raise Garbage("a message came in a file that is no memfd") from None
    if seals & SEALS != SEALS:
        raise Garbage("a message came in a memfd that is not sealed")
    if os.fstat(descriptor).st_size != size:
        raise Garbage(f"a memfd should hold {size} bytes, but holds {os.fstat(descriptor).st_size}")
    data = b""
    while len(data) < size:
        data += os.pread(descriptor, size - len(data), len(data))
    return memoryview(data)


def _closed(descriptors: list[int]) -> list[int]:
    for descriptor in descriptors:
        os.close(descriptor)
    return []
