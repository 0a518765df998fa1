"""Runs data processes, and gets batches from them: those that are asked for, and ahead those that are expected.

data[i] and collate never run in the process that runs forward, because a process has one generator of each kind. The
processes are forked after task() has returned and before the first forward."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rekindle import batches, data_worker, processes, wire
from rekindle.errors import Refused

# An answer has at most a message and a traceback, as JSON.
_MOST_ANSWER = 256 * 1024


class Wanted(NamedTuple):
    """Names a batch, or samples of which hashes are wanted. `first` is the number of the first sample in the run,
    counted from the run's start."""

    kind: int
    first: int
    samples: tuple[int, ...]
    checked: data_worker.Checked = data_worker.Checked()


class Broken(Exception):
    """Says that a data process has ended. No further batch can be made in this process."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.message)
        self.refused = refused


@dataclass
class _Worker:
    pid: int
    end: socket.socket
    jobs: dict[int, _Job] = field(default_factory=dict)


@dataclass
class _Job:
    wanted: Wanted
    worker: _Worker
    # `taken` says that the model process waits for it, and `dropped` that nobody will.
    taken: bool = False
    dropped: bool = False
    answered: bool = False
    descriptor: int = -1
    how: int = data_worker.MADE
    hash: int = 0
    refused: Refused | None = None


class DataProcesses:
    """Any thread may call expect(). Only the main thread may call take()."""

    def __init__(self, reader: data_worker.Reader, count: int, prefetch: int, closing: Sequence[int]) -> None:
        """Forks the processes. They close the descriptors in `closing`, which belong to the model process."""
        self._prefetch = prefetch
        self._lock = threading.Lock()
        self._expected: deque[Wanted] = deque()
        self._jobs: list[_Job] = []
        self._number = 0
        self._answer = bytearray(_MOST_ANSWER)
        self._space = socket.CMSG_SPACE(struct.calcsize("i"))
        self._workers: list[_Worker] = []
        self._poll = select.poll()
        for _ in range(count):
            worker = self._fork(reader, closing)
            self._workers.append(worker)
            self._poll.register(worker.end, select.POLLIN)
        self._by_descriptor = {worker.end.fileno(): worker for worker in self._workers}

    def _fork(self, reader: data_worker.Reader, closing: Sequence[int]) -> _Worker:
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

        def serve() -> None:
            mine.close()
            for worker in self._workers:
                worker.end.close()
            for descriptor in closing:
                os.close(descriptor)
            data_worker.serve(its, reader)

        # Threads beside the forking one hold no lock that the new process needs.
        pid = processes.fork(serve)
        its.close()
        return _Worker(pid, mine)

    def pids(self) -> list[int]:
        return [worker.pid for worker in self._workers]

    def expect(self, wanted: Iterable[Wanted]) -> None:
        """Says what will be taken next. Replaces what was expected before; what has begun of it and is not expected any
        more is thrown away when it is there."""
        with self._lock:
            left = list(wanted)
            for job in list(self._jobs):
                if job.taken:
                    continue
                job.dropped = job.wanted not in left
                if not job.dropped:
                    left.remove(job.wanted)
                elif job.answered:
                    self._throw_away(job)
            self._expected = deque(left)
            self._advance()

    def take(self, wanted: Wanted) -> tuple[Any, int]:
        """Returns the batch, and the hash of the checked sample. Raises Refused where user code failed, and Broken."""
        job = self._await(wanted)
        return batches.read(job.descriptor), job.hash

    def hashes(self, samples: tuple[int, ...]) -> tuple[int, int]:
        """Returns what data_worker.Reader.hashes() returns. Raises what take() raises."""
        job = self._await(Wanted(data_worker.HASHES, 0, samples))
        return job.how, job.hash

    def _await(self, wanted: Wanted) -> _Job:
        job = self._claim(wanted)
        while job is None:
            self._receive()
            job = self._claim(wanted)
        while not job.answered:
            self._receive()
        with self._lock:
            self._jobs.remove(job)
            self._advance()
        if job.refused is not None:
            raise job.refused
        return job

    def kill(self) -> None:
        """Kills the processes. Any thread may call this as the last thing that it does."""
        for worker in self._workers:
            try:
                os.kill(worker.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def stop(self) -> None:
        """Kills the processes and waits until they have ended."""
        self.kill()
        for worker in self._workers:
            try:
                os.waitpid(worker.pid, 0)
            except ChildProcessError:
                pass

    def _claim(self, wanted: Wanted) -> _Job | None:
        """Returns the job of a batch, which is begun if need be, or None where every process has too many requests."""
        with self._lock:
            job = next((job for job in self._jobs if job.wanted == wanted and not job.taken), None)
            if job is None:
                if wanted in self._expected:
                    self._expected.remove(wanted)
                job = self._begin(wanted)
            if job is not None:
                job.taken, job.dropped = True, False
            return job

    def _advance(self) -> None:
        """Begins expected batches as far as they may be ahead. The caller holds the lock."""
        ahead = sum(not job.taken and not job.dropped for job in self._jobs)
        while self._expected and ahead < self._prefetch and self._begin(self._expected[0]) is not None:
            self._expected.popleft()
            ahead += 1

    def _begin(self, wanted: Wanted) -> _Job | None:
        worker = min(self._workers, key=lambda one: len(one.jobs))
        number = self._number + 1
        request = data_worker.REQUEST.pack(number, wanted.kind, wanted.first, *wanted.checked, len(wanted.samples))
        request += struct.pack(f"<{len(wanted.samples)}q", *wanted.samples)
        try:
            worker.end.send(request, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return None
        except (BrokenPipeError, ConnectionResetError):
            pass  # The answer to this job is the end of its process, which _receive() sees.
        self._number = number
        job = worker.jobs[number] = _Job(wanted, worker)
        self._jobs.append(job)
        return job

    def _receive(self) -> None:
        """Waits for answers and notes them."""
        for descriptor, _ in self._poll.poll():
            worker = self._by_descriptor[descriptor]
            try:
                size, ancillary, _, _ = worker.end.recvmsg_into([self._answer], self._space, socket.MSG_CMSG_CLOEXEC)
            except ConnectionResetError:
                size, ancillary = 0, []
            if not size:
                raise Broken(_ended(worker))
            with self._lock:
                self._note(worker, memoryview(self._answer)[:size], wire.descriptors_of(ancillary))

    def _note(self, worker: _Worker, packet: memoryview, descriptors: list[int]) -> None:
        number, how, hashed = data_worker.ANSWER.unpack_from(packet)
        job = worker.jobs.pop(number)
        job.answered, job.how, job.hash = True, how, hashed
        if how == data_worker.FAILED:
            told = json.loads(bytes(packet[data_worker.ANSWER.size:]))
            job.refused = Refused(told["message"], kind=told["kind"], sample=told["sample"], lines=told["lines"])
        elif descriptors:
            job.descriptor = descriptors[0]
        if job.dropped:
            self._throw_away(job)

    def _throw_away(self, job: _Job) -> None:
        """Forgets a batch that was made and that nobody will take. The caller holds the lock."""
        self._jobs.remove(job)
        if job.descriptor >= 0:
            os.close(job.descriptor)


def _ended(worker: _Worker) -> Refused:
    """Returns what is known of the end of a data process. It is killed where it has closed its socket only."""
    try:
        os.kill(worker.pid, signal.SIGKILL)
        _, status = os.waitpid(worker.pid, 0)
    except (ProcessLookupError, ChildProcessError):
        status = 0
    job = next(iter(worker.jobs.values()), None)
    what = "while it had nothing to do"
    if job is not None:
        what = f"while it made the batch of the samples {data_worker.some(job.wanted.samples)}"
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return Refused(f"a data process was killed {what}, as it happens where memory runs out; use fewer "
                       "data_workers or smaller samples", kind="memory")
    code = os.waitstatus_to_exitcode(status)
    how = f"of signal {-code}" if code < 0 else f"with code {code}"
    return Refused(f"a data process ended {how} {what}; run these samples of the Dataset alone to see why", kind="data")
