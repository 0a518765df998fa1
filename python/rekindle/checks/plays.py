"""Plays micro-batches in model processes of their own, and says what differs first."""

from __future__ import annotations

import os
import signal
import struct
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any, Literal

import torch

from rekindle import messages, wire
from rekindle.checks import plan, probe
from rekindle.checks.plan import MicroBatch, Result, digest
from rekindle.checks.report import Difference, Report, shortened
from rekindle.layout import Entry
from rekindle.peer import Failure, Peer


@dataclass(frozen=True)
class Options:
    """How to compute, as in the first message to a model process."""

    task: str
    folder: str
    micro_batch: int = 4
    seed: int = 1
    precision: str = "fp32"
    exact: bool = True

    def settings(self, data_workers: int = 1, prefetch: int = 0) -> dict[str, Any]:
        return {"protocol": messages.VERSION, "task": self.task, "folder": self.folder, "seed": self.seed,
                "precision": self.precision, "device": "cpu", "threads": 1, "exact": self.exact,
                "data_workers": data_workers, "prefetch": prefetch}


@dataclass
class Play:
    """What one process has computed. `order` are the numbers of its micro-batches."""

    name: str
    order: list[int]
    told: dict[str, Any] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    # `initial` has a hash of each value that the task made, in the order of the layout.
    initial: list[bytes] = field(default_factory=list)
    results: dict[int, Result] = field(default_factory=dict)
    seconds: float = 0.0


def check(options: Options) -> Report:
    """Checks a task. The processes are forks of this one, which must have started no thread, except for one that begins
    from nothing: what depends on addresses may be equal in all forks."""
    report = Report(options.task, options.seed, options.precision, options.exact, options.micro_batch, plan.COUNT)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rekindle-check-") as scratch:
        _check(options, report, scratch)
    report.seconds = round(time.monotonic() - begin, 3)
    return report


def _check(options: Options, report: Report, scratch: str) -> None:
    try:
        whole = _play(options, report, scratch, Play("in order", list(range(plan.COUNT))))
        report.digest = whole.told["digest"]
        report.parameters = sum(entry.kind == "parameter" for entry in whole.entries)
        report.buffers = len(whole.entries) - report.parameters
        case = _first_difference(options, report, scratch, whole)
    except Failure as failure:
        report.outcome, report.refused = "refused", failure.fields
        return
    batches = plan.batches(whole.told["samples"], options.micro_batch)
    found = probe.search(options.settings(), batches, case, scratch, whole.seconds)
    report.notes += found.notes
    if case is not None:
        report.outcome, report.causes = "differs", found.causes


def _first_difference(options: Options, report: Report, scratch: str, whole: Play) -> probe.Case | None:
    """Compares `whole` with plays of other processes until something differs, and returns that."""
    alone: dict[int, Play] = {}
    for number in range(plan.COUNT):
        alone[number] = _play(options, report, scratch, Play("alone", [number]))
        if (case := _compare(options, report, whole, alone[number], number)) is not None:
            return case
    order = list(reversed(range(plan.COUNT)))
    back = _play(options, report, scratch, Play("in reverse", order), program=True)
    for number in order:
        if (case := _compare(options, report, back, alone[number], number)) is not None:
            return case
    return None


def _play(options: Options, report: Report, scratch: str, play: Play, program: bool = False) -> Play:
    """Plays the micro-batches of `play` in a new process and fills it. Raises Failure.

    A process that is started as a program has several data processes, which load ahead."""
    folder = tempfile.mkdtemp(dir=scratch)
    report.processes += 1
    settings = options.settings(data_workers=3, prefetch=4) if program else options.settings()
    peer = Peer(settings, folder, "program" if program else "fork")
    begin = time.monotonic()
    try:
        _compute(peer, play, options)
    except (EOFError, wire.Gone):
        raise Failure(_of_an_end(peer)) from None
    except TimeoutError as error:
        raise Failure(_fields("exception", str(error))) from None
    finally:
        peer.close()
    play.seconds = time.monotonic() - begin
    return play


def _compute(peer: Peer, play: Play, options: Options) -> None:
    play.told = peer.configure()
    play.entries = peer.entries
    initial = peer.initial()
    play.initial = [digest(_part(initial, entry)) for entry in play.entries]
    peer.bind(initial)
    every = plan.batches(play.told["samples"], options.micro_batch)
    if peer.settings["prefetch"]:
        peer.channel.send(messages.Expect(0, tuple(
            messages.Expected(every[number].index, every[number].first, every[number].samples)
            for number in play.order)))
    step = 0
    for number in play.order:
        if every[number].step != step:
            step = every[number].step
            _set_weights(peer, initial, step, options.seed)
        play.results[number] = _result(peer, every[number])


def _set_weights(peer: Peer, initial: torch.Tensor, step: int, seed: int) -> None:
    """Changes the weights where they are, as the optimizer does between steps."""
    peer.weights.copy_(initial)
    if step:
        for number, entry in enumerate(peer.entries):
            if entry.kind == "parameter":
                plan.move(_part(peer.weights, entry), number, seed)


def _result(peer: Peer, batch: MicroBatch) -> Result:
    peer.ask(batch.samples, batch.step, batch.index, first=batch.first)
    answer = peer.answer()
    parts = {number: digest(_part(peer.slots[0], peer.entries[number])) for number in answer.numbers}
    return Result(answer.loss, struct.pack("<d", answer.loss), answer.done.count, answer.done.whole_buffers, parts)


def _part(flat: torch.Tensor, entry: Entry) -> torch.Tensor:
    return flat[entry.offset:entry.offset + entry.size]


def _compare(options: Options, report: Report, one: Play, other: Play, number: int) -> probe.Case | None:
    """Compares two processes and micro-batch `number` of both. Notes in the report what differs first."""
    difference = _of_the_start(one, other) or _of_results(one, other, number)
    if difference is None:
        return None
    report.difference = difference
    if difference.micro_batch is not None:
        batch = plan.batches(one.told["samples"], options.micro_batch)[number]
        difference.samples = list(batch.samples)
    before = one.order[:one.order.index(number)]
    part = next((at for at, entry in enumerate(one.entries) if entry.name == difference.name), None)
    result = other.results[number] if difference.between == "order" else None
    return probe.Case(difference.between, [*before, number], result, part)


def _of_the_start(one: Play, other: Play) -> Difference | None:
    """Compares what two processes made of the task."""
    def differs(what: Literal["layout", "data", "weights"], name: str | None) -> Difference:
        return Difference(what, "processes", "one process", "another", name)

    if one.told["layout"] != other.told["layout"]:
        pairs = zip(one.told["layout"], other.told["layout"])
        return differs("layout", next((a["name"] for a, b in pairs if a != b), None))
    for entry, mine, its in zip(one.entries, one.initial, other.initial):
        if mine != its:
            return differs("weights", entry.name)
    if one.told["digest"] != other.told["digest"]:
        return differs("weights", None)
    if any(one.told[name] != other.told[name] for name in ("samples", "validation_samples")):
        return differs("data", None)
    return None


def _of_results(one: Play, other: Play, number: int) -> Difference | None:
    mine, its = one.results[number], other.results[number]
    if mine == its:
        return None
    at = next((at for at in range(len(one.entries)) if mine.parts.get(at) != its.parts.get(at)), None)
    what: Literal["loss", "gradient", "buffer"] = "loss"
    if at is not None:
        what = "gradient" if one.entries[at].kind == "parameter" else "buffer"
    before = one.order[:one.order.index(number)]
    between: Literal["processes", "order"] = "order" if before else "processes"
    first = f"a process that computed {shortened(before)} before it" if before else "one new process"
    return Difference(what, between, first, "a new process" if before else "another",
                      None if at is None else one.entries[at].name, number,
                      losses=[repr(mine.loss), repr(its.loss)])


def _fields(kind: str, message: str, traceback: str = "") -> dict[str, Any]:
    return {"request": None, "kind": kind, "message": message, "traceback": traceback, "sample": None,
            "parameter": None}


def _of_an_end(peer: Peer) -> dict[str, Any]:
    """Returns what is known of a process that has ended without saying why."""
    code = peer.exit_code()
    where = ""
    if os.path.exists(peer.faults):
        with open(peer.faults, encoding="utf-8", errors="replace") as file:
            where = file.read(16_000)
    if code == -signal.SIGSEGV:
        return _fields("write", "the model process ended of SIGSEGV, as it does where forward writes to a parameter, "
                       "which only the optimizer may; compute the changed value without storing it, or make it a "
                       "buffer", where)
    how = f"of signal {-code}" if code < 0 else f"with code {code}"
    return _fields("exception", f"the model process ended {how} without a word; run the task alone to see why",
                   where or peer.output()[-16_000:])
