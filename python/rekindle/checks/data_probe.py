"""Reads samples in several orders, each in a process of its own, and says what the Dataset has kept."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from rekindle import processes, sample_hash
from rekindle.checks import causes, observed, plan
from rekindle.checks.module_probe import Loaded
from rekindle.checks.plan import MicroBatch
from rekindle.checks.report import Cause
from rekindle.data_worker import Reader

MOST_EXPERIMENTS = 12
# The hashes of a micro-batch: one for each sample, and one for what collate made of them.
Hashes = list[str]


def search(loaded: Loaded, batches: Sequence[MicroBatch], tell: Callable[[Cause], None]) -> None:
    """Tells what makes samples depend on which were read before them, and what does not repeat at all."""
    back = _aside(lambda: {"hashes": [_read(loaded, batch) for batch in reversed(batches)]})
    again = _aside(lambda: {"hashes": [_read(loaded, batch) for batch in reversed(batches)]})
    if back is None or again is None:
        return
    odd = _first_odd(list(reversed(batches)), back["hashes"], again["hashes"])
    if odd is not None:
        tell(causes.of_dataset(odd, again=True))
    there = _aside(lambda: _forwards(loaded, batches, back["hashes"][0]))
    if there is None:
        return
    if odd is None:
        odd = _first_odd(batches, there["hashes"], list(reversed(back["hashes"])))
        if odd is not None:
            tell(causes.of_dataset(odd, again=False))
    for fields in there["causes"]:
        tell(Cause(**fields))


def _first_odd(batches: Sequence[MicroBatch], one: list[Hashes], other: list[Hashes]) -> str | None:
    """Returns what differs first: a sample, or what collate made of equal ones."""
    for batch, mine, its in zip(batches, one, other):
        for sample, a, b in zip([*batch.samples, None], mine, its):
            if a != b:
                return "collate" if sample is None else f"data[{sample}]"
    return None


def _forwards(loaded: Loaded, batches: Sequence[MicroBatch], fresh: Hashes) -> dict[str, Any]:
    """Reads all batches in order. Experiments show what makes the last one another than `fresh`, which a new process
    has read."""
    data = {"data": loaded.task.data, "collate": loaded.task.collate}
    before = loaded.snapshot(**data)
    noted = len(loaded.watch.draws)
    with loaded.watch.during(causes.IN_DATA):
        hashes = [_read(loaded, batch) for batch in batches]
    changed = observed.changes(before, loaded.snapshot(**data))
    confirmed: list[observed.Change] = []
    if hashes[-1] != fresh:
        confirmed = observed.experiments(lambda: _read(loaded, batches[-1]) == fresh, changed)
    found = [causes.of_draw(draw) for draw in loaded.watch.draws[noted:]]
    found += [causes.of_change(change, causes.IN_DATA, confirmed) for change in changed[:MOST_EXPERIMENTS]]
    return {"hashes": hashes, "causes": [asdict(cause) for cause in found]}


def _read(loaded: Loaded, batch: MicroBatch) -> Hashes:
    """Makes a batch as a data process does."""
    reader, hasher = Reader(loaded.task, loaded.settings.seed, loaded.settings.folder), sample_hash.Hasher()
    items = reader.items(False, batch.first, batch.samples)
    hashes = [hasher.of(item).hex() for item in items]
    return [*hashes, hasher.of(reader.collated(batch.first, batch.samples, items)).hex()]


def _aside(function: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
    """Returns what `function` returns in a fork of this process, or None where it fails there."""
    reader, writer = os.pipe()

    def write() -> None:
        with open(writer, "w", encoding="utf-8") as file:
            json.dump(function(), file)

    pid = processes.fork(write)
    os.close(writer)
    with open(reader, "rb") as file:
        text = file.read()
    os.waitpid(pid, 0)
    found: dict[str, Any] | None = json.loads(text) if text else None
    return found
