"""The model process: loads a task and computes what the trainer asks for, until the trainer is gone.

A thread reads all messages. It answers pings by itself, tells the data processes what is expected, ends the process as
soon as the trainer has closed the socket, and hands everything else to the main thread."""

from __future__ import annotations

import argparse
import faulthandler
import fcntl
import fnmatch
import gc
import os
import platform
import queue
import signal
import sys
import threading
import time
from typing import Any, NoReturn

import torch

from rekindle import frozen, layout, memory, messages, processes, randomness, settings, task, wire
from rekindle.data_process import Broken, DataProcesses, Wanted
from rekindle.data_worker import HASHES, MADE, TRAINING, VALIDATION, Checked, Reader
from rekindle.errors import MOST_MESSAGE, Refused, kind_of, said, user_lines
from rekindle.model_process import Model
from rekindle.state import IDLE, LOADING, WAITS_FOR_DATA, State

# The process ends with one of these codes.
TRAINER_GONE, STOPPED, REFUSED, GARBAGE, BROKEN = 0, 0, 3, 4, 5
# Validation data are read in no order of their own. This number stands for the place of a sample in the run.
NO_PLACE = -1


class Child:
    """Holds the conversation. Its thread and its main thread share `_channel`, `_state` and `_data`."""

    def __init__(self, descriptor: int) -> None:
        self._channel = wire.Channel(descriptor, messages.TRAINER_MESSAGES)
        self._state = State()
        self._asked: queue.SimpleQueue[wire.Received] = queue.SimpleQueue()
        self._data: DataProcesses | None = None
        self._model: Model | None = None
        self._total = 0
        self._sizes = (0, 0)
        self._settings: settings.Settings | None = None
        self._is_nice = False

    def run(self) -> int:
        """Serves the trainer. Returns the code to exit with."""
        threading.Thread(target=self._read, name="rekindle-reader", daemon=True).start()
        while True:
            asked = self._asked.get()
            if isinstance(asked.message, messages.Stop):
                break
            try:
                self._serve(asked.message, asked.descriptors)
            except wire.Gone:
                self._end(TRAINER_GONE)
            except wire.Garbage as error:
                self._end_of_garbage(error)
            except Broken as error:
                self._fail(error.refused, asked.message)
                self._end(BROKEN)
            except BaseException as error:
                self._fail(error, asked.message)
                if self._model is None:
                    self._end(REFUSED)
                self._model.reset()
            self._state.code = IDLE
        if self._data is not None:
            self._data.stop()
        return STOPPED

    def _read(self) -> None:
        """Reads the trainer's messages until the socket closes. A thread of its own runs this function."""
        try:
            while (received := self._channel.receive()) is not None:
                if isinstance(received.message, messages.Ping):
                    self._channel.send(messages.Pong(received.message.token, time.process_time(), self._state.code))
                elif isinstance(received.message, messages.Expect):
                    self._expect(received.message)
                else:
                    self._asked.put(received)
        except wire.Garbage as error:
            self._end_of_garbage(error)
        except wire.Gone:
            pass
        except BaseException as error:
            self._end_of_garbage(wire.Garbage(f"the thread that reads messages failed: {said(error)}"))
        self._end(TRAINER_GONE)

    def _end(self, code: int) -> NoReturn:
        """Ends the process at once, whatever the main thread does. The data processes end with it."""
        if self._data is not None:
            self._data.kill()
        os._exit(code)

    def _end_of_garbage(self, error: wire.Garbage) -> NoReturn:
        text = f"the model process cannot go on, because what the trainer sent is wrong: {error}"
        try:
            os.write(2, f"rekindle: {text}\n".encode())
            self._channel.send(messages.Failed({"request": None, "kind": "task", "message": text, "traceback": "",
                                                "sample": None, "parameter": None}))
        except (OSError, wire.Gone):
            pass
        self._end(GARBAGE)

    def _fail(self, error: BaseException, asked: messages.Body) -> None:
        """Tells the trainer what went wrong."""
        what = {messages.Compute: "the micro-batch", messages.Evaluate: "the evaluation"}.get(type(asked), "the task")
        # The trainer says in which step this was.
        where = f" {asked.index}" if isinstance(asked, messages.Compute) else ""
        kind = kind_of(error, "task" if self._model is None else "exception")
        fields: dict[str, Any] = {"request": getattr(asked, "request", None), "kind": kind, "traceback": "",
                                  "sample": None, "parameter": None}
        folder = self._settings.folder if self._settings else os.getcwd()
        if isinstance(error, Refused):
            fields.update(message=error.message, sample=error.sample, parameter=error.parameter,
                          traceback=error.lines or user_lines(error, folder))
        else:
            hint = "use a smaller micro_batch" if kind == "memory" else "mend the line that the traceback shows"
            fields.update(message=f"{what}{where} raised {said(error)}; {hint}", traceback=user_lines(error, folder))
        fields["message"] = " ".join(fields["message"].split())[:2 * MOST_MESSAGE]
        self._channel.send(messages.Failed(fields))

    def _note(self, text: str) -> None:
        self._channel.send(messages.Note({"text": text}))

    def _serve(self, asked: messages.Body, descriptors: list[int]) -> None:
        if isinstance(asked, messages.Compute):
            self._compute(asked)
        elif isinstance(asked, messages.Evaluate):
            self._evaluate(asked)
        elif isinstance(asked, messages.Hash):
            self._ready()
            self._hash(asked)
        elif isinstance(asked, messages.Bind):
            self._ready().bind(memory.map_weights(descriptors[0], asked.offset, asked.size, self._total))
        elif isinstance(asked, messages.Slots):
            self._ready().use_slots(
                memory.map_slots(descriptors[0], asked.slots, asked.bytes_per_slot, self._total))
        elif isinstance(asked, messages.Initialize):
            self._ready().initialize(asked.slot)
            self._channel.send(messages.Initialized(asked.slot))
        elif isinstance(asked, messages.Configure):
            self._configure(asked.fields)

    def _ready(self) -> Model:
        if self._model is None:
            raise wire.Garbage("a message came before Configure")
        return self._model

    def _expect(self, asked: messages.Expect) -> None:
        if self._data is None:
            raise wire.Garbage("Expect came before Ready")
        if self._is_nice:
            self._is_nice = not processes.set_session_nice(0)
        wanted = [Wanted(TRAINING, batch.first, batch.samples, Checked(batch.checked_place, batch.checked_sample))
                  for batch in asked.batches]
        for batch in wanted:
            self._check(batch)
        self._data.expect(wanted)

    def _check(self, wanted: Wanted) -> None:
        """Refuses samples that there are not."""
        size = self._sizes[wanted.kind == VALIDATION]
        samples = wanted.samples if wanted.checked == Checked() else (*wanted.samples, wanted.checked.sample)
        if not wanted.samples or min(samples) < 0 or max(samples) >= size or wanted.checked.place < -1:
            raise wire.Garbage(f"a message names the samples {samples[:8]} of {size}")

    def _take(self, wanted: Wanted) -> tuple[Any, int, float]:
        """Returns the batch, the hash of the checked sample, and the seconds for which it was waited."""
        self._check(wanted)
        assert self._data is not None
        self._state.code = WAITS_FOR_DATA
        begin = time.perf_counter()
        batch, hashed = self._data.take(wanted)
        return batch, hashed, time.perf_counter() - begin

    def _compute(self, asked: messages.Compute) -> None:
        model = self._ready()
        checked = Checked(asked.checked_place, asked.checked_sample)
        batch, hashed, waited = self._take(Wanted(TRAINING, asked.first, asked.samples, checked))
        done = model.compute(asked, batch, waited)
        done.checked_sample = hashed
        self._channel.send(done)

    def _evaluate(self, asked: messages.Evaluate) -> None:
        model = self._ready()
        batch, _, _ = self._take(Wanted(VALIDATION, NO_PLACE, asked.samples))
        self._channel.send(model.evaluate(asked, batch))

    def _hash(self, asked: messages.Hash) -> None:
        self._check(Wanted(HASHES, 0, asked.samples))
        self._note(f"reads {len(asked.samples)} samples, to compare them with those of other workers")
        assert self._data is not None
        self._state.code = WAITS_FOR_DATA
        how, value = self._data.hashes(asked.samples)
        repeated = how == MADE
        self._channel.send(messages.Hashed(asked.request, value if repeated else 0, -1 if repeated else value))

    def _configure(self, fields: dict[str, Any]) -> None:
        if self._model is not None:
            raise wire.Garbage("Configure came twice")
        self._state.code = LOADING
        chosen = self._settings = settings.read(fields)
        # A process that was not forked is in the session of its trainer, which sets the share of both.
        if chosen.nice and os.getsid(0) == os.getpid():
            self._is_nice = processes.set_session_nice(chosen.nice)
        settings.apply(chosen)
        randomness.seed_task(chosen.seed)
        self._note(f"imports {chosen.task.partition(':')[0]}")
        function = task.load(chosen.task, chosen.folder)
        self._note(f"calls {chosen.task}")
        randomness.seed_task(chosen.seed)
        made = task.make(function, chosen.task, chosen.folder)
        # The task may have changed what decides about bits.
        settings.apply(chosen)
        parts = layout.describe(made.module, made.buffers)
        # Temporary files lie in a folder of the job's own, or of the check's.
        if own_folder := os.environ.get("TMPDIR"):
            frozen.share(parts.frozen.values(), own_folder)
        groups = _groups(made, parts)
        # A pretrained module may come in the mode for evaluation. Parts that task() chose to leave in it stay so.
        if not made.module.training:
            made.module.train()
        workers = chosen.data_workers or made.data_workers or 1
        self._note(f"starts {workers} data processes")
        # The garbage collector need not look at what was loaded again and again, nor copy its pages in other processes.
        gc.collect()
        gc.freeze()
        self._sizes = (len(made.data), 0 if made.validation is None else len(made.validation))
        reader = Reader(made, chosen.seed, chosen.folder, chosen.exact)
        self._data = DataProcesses(reader, workers, chosen.prefetch, [self._channel.fileno()])
        self._total = parts.layout.total
        self._model = Model(made, parts, chosen, self._state, self._announce)
        self._channel.send(messages.Ready({
            "protocol": messages.VERSION, "pid": os.getpid(), "python": platform.python_version(),
            "torch": torch.__version__, **parts.layout.to_json(), "samples": self._sizes[0],
            "validation_samples": self._sizes[1], "groups": groups,
            "couples_samples": made.couples_samples or _has_batch_norm(made.module), "digest": layout.digest(parts)}))

    def _announce(self, request: int, numbers: tuple[int, ...]) -> None:
        self._channel.send(messages.Gradients(request, numbers))


def _groups(made: task.Task, parts: layout.Parts) -> list[dict[str, Any]]:
    """Returns the optimizer groups. A list keeps their order, in which the first pattern that matches decides."""
    names = [entry.name for entry in parts.layout.entries if entry.kind == "parameter"]
    for pattern in made.groups:
        if not fnmatch.filter(names, pattern):
            raise Refused(f"groups has the pattern {pattern}, which no parameter has as its name; the first ones are "
                          f"{', '.join(names[:8])}", parameter=pattern)
    return [{"pattern": pattern, "options": options} for pattern, options in made.groups.items()]


def _has_batch_norm(module: torch.nn.Module) -> bool:
    return any(isinstance(part, torch.nn.modules.batchnorm._BatchNorm) and part.training for part in module.modules())


def _apart(descriptor: int) -> int:
    """Returns a descriptor of the same socket that is none of the standard streams.

    User code that reads its standard input would otherwise read the trainer's messages. It finds the end of a file."""
    if descriptor > 2:
        return descriptor
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, descriptor)
    os.close(nothing)
    return moved


def main(descriptor: int, faults: str | None = None) -> NoReturn:
    """Serves the trainer at the other end of `descriptor`, and ends the process.

    It may be called in a process that was forked after its imports. A fault of the processor, such as a write to the
    weights, is written to the file `faults` with the line where it happened."""
    if faults is not None:
        faulthandler.enable(os.open(faults, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600))
    descriptor = _apart(descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)
    os.set_inheritable(descriptor, False)
    code = Child(descriptor).run()
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fd", type=int, required=True, metavar="N", help="the socket to the trainer")
    parser.add_argument("--faults", metavar="PATH", help="the file for faults of the processor")
    options = parser.parse_args()
    main(options.fd, options.faults)
