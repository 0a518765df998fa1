"""Speaks with a warm process as the C++ trainer does, and holds what the tests of it share."""

import json
import os
import signal
import socket

from base import ChildTest

from rekindle import processes, warm
from trainer import DEADLINE, TASKS, Trainer, await_end, processes_below

# A process may outlive the trainer by so many seconds.
GRACE = 2


class Line:
    """Is a connection to a warm process. `hello` is what that said first."""

    def __init__(self, path):
        self.end = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.end.settimeout(DEADLINE)
        self.end.connect(path)
        self.hello = self.receive()

    def receive(self):
        """Returns the next packet, or None where the warm process has closed the connection."""
        try:
            packet = self.end.recv(65536)
        except ConnectionResetError:
            return None
        assert len(packet) <= 4096, len(packet)
        return json.loads(packet) if packet else None

    def send(self, fields, descriptors=()):
        packet = fields if isinstance(fields, bytes) else json.dumps(fields).encode()
        socket.send_fds(self.end, [packet], list(descriptors))

    def fork(self, model, log, faults=None, trainer=None):
        """Returns the answer to a request to fork. Without another pidfd this process is the trainer."""
        pidfd = os.pidfd_open(os.getpid()) if trainer is None else trainer
        self.send({"verb": "fork", "faults": faults}, [model, log, pidfd])
        if trainer is None:
            os.close(pidfd)
        return self.receive()

    def close(self):
        self.end.close()


class Warmed(Trainer):
    """Is a trainer whose model process is forked by the warm process at the other end of `line`."""

    def __init__(self, line, task, scratch, log=None, **settings):
        """What the model process prints goes to the descriptor `log`, or else to a file."""
        self.line = line
        self.log_to = log
        super().__init__(task, scratch, **settings)

    def _fork(self, mine, its):
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        told = self.line.fork(its.fileno(), log if self.log_to is None else self.log_to, self.faults)
        os.close(log)
        assert "pid" in told, told
        return told["pid"]

    def exit_code(self):
        if self.status is None:
            while (told := self.line.receive()) is not None:
                if told.get("ended") == self.pid:
                    self.status = told["code"]
                    break
        return self.status


class WarmTest(ChildTest):
    """Starts warm processes as forks of the test, which has most of the imports."""

    def setUp(self):
        super().setUp()
        self.path = ""
        self.started = 0

    def listener(self):
        """Returns a listening socket at a new path."""
        self.started += 1
        self.path = os.path.join(self.folder.name, f"warm{self.started}")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(self.path)
        listener.listen()
        return listener

    def warm(self, task="warming:counts", folder=TASKS, parent=None, agent=None, seed=7):
        """Starts a warm process and returns its number."""
        own = os.pidfd_open(os.getpid())
        with self.listener() as listener:
            pid = processes.fork(lambda: warm.main(os.dup(listener.fileno()), str(folder), task, seed, parent,
                                                   own if agent is None else agent), outlives=True)
        os.close(own)
        self.addCleanup(self.reap, pid)
        return pid

    def reap(self, pid):
        """Ends a warm process as the agent does, so that it ends all that it or its imports have started."""
        try:
            os.kill(pid, signal.SIGTERM)
            if await_end([pid], GRACE):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    def line(self):
        line = Line(self.path)
        self.addCleanup(line.close)
        return line

    def pipe(self):
        """Returns a file with what is written to the descriptor that is returned beside it."""
        reading, writing = os.pipe()
        file = open(reading, encoding="utf-8")
        self.addCleanup(file.close)
        return file, writing

    def warmed(self, task, line=None, **options):
        """Returns a trainer and a file with what its model process prints."""
        printed, writing = self.pipe()
        trainer = Warmed(line or self.line(), task, self.folder.name, writing, **options)
        os.close(writing)
        self.addCleanup(trainer.channel.close)
        return trainer, printed

    def holding(self, line=None):
        """Returns a trainer whose model process is in one call of a C function, and all of its processes."""
        trainer, printed = self.warmed("warming:holds", line, data_workers=2)
        trainer.begin().ask([1, 2])
        self.assertEqual(printed.readline(), "holds\n")
        pids = [trainer.pid, *processes_below(trainer.pid)]
        self.assertEqual(len(pids), 3)
        return trainer, pids

    def assert_end(self, pids, seconds=GRACE):
        self.assertEqual(await_end(pids, seconds), [])
