"""Speaks the trainer's side of the conversation with a model process, for what needs micro-batches and no trainer."""

from __future__ import annotations

import mmap
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch

from rekindle import child, messages, processes, wire
from rekindle.layout import Entry
from rekindle.memory import WIDTH

# A model process may be silent for so long. It may load large data, or compile the module.
PATIENCE = 1800.0
# A process whose socket is closed ends at once, so one that lives so much longer is killed.
GRACE = 60.0


class Failure(Exception):
    """Holds what the model process said in Failed."""

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__("\n".join(filter(None, (fields.get("message"), fields.get("traceback")))))
        self.fields = fields


@dataclass
class Answer:
    """What came for Compute. `numbers` has those of the parameters and buffers in the slot, as they were delivered."""

    done: messages.Done
    numbers: list[int]

    @property
    def loss(self) -> float:
        return self.done.loss_sum


def new_memory(size: int) -> int:
    """Returns a memfd of `size` bytes."""
    descriptor = os.memfd_create("rekindle-peer", os.MFD_CLOEXEC)
    os.ftruncate(descriptor, size)
    return descriptor


def await_end(pids: Iterable[int], seconds: float) -> list[int]:
    """Returns those of the processes that have not ended within `seconds`."""
    opened = {}
    for pid in pids:
        try:
            opened[os.pidfd_open(pid)] = pid
        except ProcessLookupError:
            pass
    poll = select.poll()
    for descriptor in opened:
        poll.register(descriptor, select.POLLIN)
    left = dict(opened)
    while left and (ended := poll.poll(seconds * 1000)):
        for descriptor, _ in ended:
            poll.unregister(descriptor)
            del left[descriptor]
    for descriptor in opened:
        os.close(descriptor)
    return list(left.values())


class Peer:
    """Starts a model process and talks to it.

    The process is a fork of this one, which has the imports already and must have started no thread, or the program
    `python -m rekindle.child`, which begins from nothing."""

    def __init__(self, settings: Mapping[str, Any], scratch: str, start: Literal["fork", "program"] = "fork") -> None:
        """`settings` are those of Configure. `scratch` is a folder for what the process writes, also for its temporary
        files."""
        self._scratch = scratch
        self.faults = os.path.join(scratch, "faults")
        self.log = os.path.join(scratch, "log")
        self.settings = dict(settings)
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = self._start_program(its) if start == "program" else self._fork(mine, its)
        its.close()
        self.channel = wire.Channel(mine.detach(), messages.CHILD_MESSAGES)
        self.notes: list[str] = []
        self.requests = 0
        self.status: int | None = None

    def _start_program(self, its: socket.socket) -> int:
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "rekindle.child", "--fd", str(its.fileno()), "--faults", self.faults],
                pass_fds=[its.fileno()], env={**processes.environment(), "TMPDIR": self._scratch},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        # This object waits for the process by its number, as it does for a forked one.
        self.process.returncode = 0
        return self.process.pid

    def _fork(self, mine: socket.socket, its: socket.socket) -> int:
        def serve() -> None:
            mine.close()
            os.environ["TMPDIR"] = self._scratch
            redirect(self.log)
            child.main(its.detach(), self.faults)

        return processes.fork(serve, outlives=True)

    def receive(self, seconds: float = PATIENCE) -> messages.Body:
        """Returns the next message that is no Note. Raises Failure, TimeoutError, and EOFError where the process is
        gone."""
        while True:
            if not select.select([self.channel], [], [], seconds)[0]:
                raise TimeoutError(f"the model process has said nothing for {seconds:.0f} s; it wrote: {self.output()}")
            received = self.channel.receive()
            if received is None:
                raise EOFError(f"the model process is gone; it wrote: {self.output()}")
            message: messages.Body = received.message
            if isinstance(message, messages.Failed):
                raise Failure(message.fields)
            if not isinstance(message, messages.Note):
                return message
            self.notes.append(message.fields["text"])

    def output(self) -> str:
        """Returns what the process has written to its standard output and error."""
        return pathlib.Path(self.log).read_text(encoding="utf-8", errors="replace")

    def configure(self) -> dict[str, Any]:
        """Returns what Ready says. Raises Failure."""
        self.channel.send(messages.Configure(self.settings))
        ready = self.receive()
        assert isinstance(ready, messages.Ready), ready
        self.told = ready.fields
        self.layout: list[dict[str, Any]] = self.told["layout"]
        self.entries = [Entry(**entry) for entry in self.layout]
        self.names = [entry.name for entry in self.entries]
        self.total = sum(entry.size for entry in self.entries)
        return self.told

    def initial(self) -> torch.Tensor:
        """Makes the slots. Returns the values of the whole layout as the task made them. Raises Failure."""
        size = -(-self.total * WIDTH // mmap.PAGESIZE) * mmap.PAGESIZE
        descriptor = new_memory(2 * size)
        mapped = mmap.mmap(descriptor, 2 * size)
        self.slots = [torch.frombuffer(mapped, dtype=torch.float32, count=self.total, offset=slot * size)
                      for slot in range(2)]
        self.channel.send(messages.Slots(2, size), [descriptor])
        os.close(descriptor)
        self.channel.send(messages.Initialize(1))
        answer = self.receive()
        assert answer == messages.Initialized(1), answer
        return self.slots[1].clone()

    def bind(self, values: torch.Tensor, offset: int = 64) -> None:
        """Gives the model process new memory with `values` as its weights. It is in `weights` from then on."""
        size = offset + WIDTH * self.total
        descriptor = new_memory(size)
        self.weights = torch.frombuffer(mmap.mmap(descriptor, size), dtype=torch.float32, count=self.total,
                                        offset=offset)
        self.weights.copy_(values)
        self.channel.send(messages.Bind(offset, WIDTH * self.total), [descriptor])
        os.close(descriptor)

    def ask(self, samples: Sequence[int], step: int = 0, index: int = 0, slot: int = 0, scale: float = 1.0,
            first: int = 0, checked: tuple[int, int] = (-1, -1)) -> None:
        """Sends Compute without waiting for the answer. What the answer leaves out is NaN in the slot."""
        self.requests += 1
        self.slots[slot].fill_(float("nan"))
        self.channel.send(messages.Compute(self.requests, step, index, slot, scale, first, *checked, tuple(samples)))

    def answer(self) -> Answer:
        """Waits for the answer to what was asked last. Raises what receive() raises."""
        numbers: list[int] = []
        while isinstance(message := self.receive(), messages.Gradients):
            assert message.request == self.requests, message
            numbers += message.parameters
        assert isinstance(message, messages.Done) and message.request == self.requests, message
        assert len(set(numbers)) == len(numbers), numbers
        return Answer(message, numbers)

    def exit_code(self) -> int:
        """Waits for the end of the process. Returns its exit code, or minus the signal that ended it."""
        if self.status is None:
            if await_end([self.pid], GRACE):
                raise TimeoutError(f"the model process does not end; it wrote: {self.output()}")
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.status

    def close(self) -> None:
        """Ends the process as a trainer that has died does, and waits for it."""
        self.channel.close()
        if self.status is None and await_end([self.pid], GRACE):
            os.kill(self.pid, signal.SIGKILL)
        self.exit_code()


def redirect(log: str) -> None:
    """Has this process write to the file `log`, and read nothing."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(nothing, 0)
    os.dup2(written, 1)
    os.dup2(written, 2)
    os.close(nothing)
    os.close(written)
