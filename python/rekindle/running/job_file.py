"""Makes the job file of a task: checks every argument of rekindle.run and writes the fields of a job."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from rekindle.errors import Refused
from rekindle.running import options
from rekindle.running.checked import Limit, one_of
from rekindle.running.place import Place

MOST_WORKERS = 64
MOST_MICRO_BATCHES = 65536
# The coordinator takes the first of these that divides the batch where the job names no size of micro-batches.
DEFAULT_MICRO_BATCHES = (4, 3, 2, 1)
_STEPS = Limit(1, 100_000_000, whole=True)
_BATCH = Limit(1, 16_777_216, whole=True)
_MICRO_BATCH = Limit(1, 8000, whole=True)
_WORKERS = Limit(1, MOST_WORKERS, whole=True)
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
# These are the arguments from which fields of a job come, for messages about a job that differs from an earlier one.
_ARGUMENTS = {"training.steps": "steps", "training.global_batch": "batch", "training.micro_batch": "micro_batch",
              "training.precision": "precision", "training.reduce": "reduce", "training.clip_norm": "clip_norm",
              "training.evaluate_every": "evaluate_every",
              "training.evaluate_micro_batches": "evaluate_micro_batches", "model.env_from": "env_from",
              "model.python": "task", "model.folder": "folder",
              "model.bundle": "folder", "model.data_workers": "data_workers",
              "model.start_minutes": "start_minutes"}


@dataclass(frozen=True)
class Wanted:
    """Holds the arguments of rekindle.run that describe the job, as the user gave them."""

    steps: Any
    batch: Any
    micro_batch: Any = None
    workers: Any = (1, 1)
    optimizer: Any = None
    schedule: Any = None
    precision: Any = "fp32"
    reduce: Any = "exact"
    seed: Any = 1
    clip_norm: Any = None
    evaluate_every: Any = None
    evaluate_micro_batches: Any = None
    checkpoint: Any = None
    data_workers: Any = None
    start_minutes: Any = None
    env_from: Any = ()
    name: Any = None


def describe(place: Place, wanted: Wanted) -> dict[str, Any]:
    """Returns the job as it is written to a job file. Raises Refused."""
    steps = _STEPS.check("steps", wanted.steps)
    low, high = _workers(wanted.workers)
    training: dict[str, Any] = {"steps": steps, **_batches(wanted, high)}
    training["precision"] = one_of("precision", wanted.precision, ("fp32", "bf16", "fp16", "auto"))
    training["reduce"] = one_of("reduce", wanted.reduce, ("exact", "fp32", "bf16"))
    if wanted.clip_norm is not None:
        training["clip_norm"] = Limit(0, 1_000_000).check("clip_norm", wanted.clip_norm)
    if wanted.evaluate_every is not None:
        training["evaluate_every"] = Limit(0, 100_000_000, whole=True).check("evaluate_every", wanted.evaluate_every)
    if wanted.evaluate_micro_batches is not None:
        training["evaluate_micro_batches"] = Limit(1, MOST_MICRO_BATCHES, whole=True).check(
            "evaluate_micro_batches", wanted.evaluate_micro_batches)
    model: dict[str, Any] = {"python": place.task, "folder": place.folder}
    names = _variables(wanted.env_from)
    if names:
        model["env_from"] = names
    if wanted.data_workers is not None:
        model["data_workers"] = Limit(1, 64, whole=True).check("data_workers", wanted.data_workers)
    if wanted.start_minutes is not None:
        model["start_minutes"] = Limit(1, 1440, whole=True).check("start_minutes", wanted.start_minutes)
    spec: dict[str, Any] = {
        "seed": Limit(0, 2_147_483_647, whole=True).check("seed", wanted.seed), "workers": {"min": low, "max": high},
        "model": model, "training": training, "optimizer": _optimizer(wanted.optimizer)}
    if wanted.schedule is not None:
        spec["schedule"] = _schedule(wanted, int(steps))
    checkpoint = _checkpoint(wanted)
    if checkpoint:
        spec["checkpoint"] = checkpoint
    return {"name": _name(wanted.name, place), "spec": spec}


def _variables(names: Any) -> list[str]:
    if isinstance(names, (str, bytes)) or not isinstance(names, (list, tuple, set, frozenset)):
        raise Refused(f"env_from is {_described(names)}; give a list of names of variables, such as ['HF_HOME']")
    for name in names:
        if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
            raise Refused("env_from has what is no name of a variable; give names alone, such as ['HF_HOME'], and set "
                          "their values in the environment")
    return sorted(set(names))


def _workers(workers: Any) -> tuple[int, int]:
    pair = workers if isinstance(workers, (tuple, list)) else (workers, workers)
    if len(pair) != 2:
        raise Refused(f"workers is {workers!r}; give a number, or the least and the greatest one, such as (2, 8)")
    low, high = (int(_WORKERS.check(f"workers[{i}]" if pair is workers else "workers", pair[i])) for i in range(2))
    if low > high:
        raise Refused(f"workers is {workers!r}, whose first number is the greater one; give ({high}, {low})")
    return low, high


def _batches(wanted: Wanted, workers: int) -> dict[str, Any]:
    """Returns the fields of the batch. `workers` is the largest number of workers."""
    batch = int(_BATCH.check("batch", wanted.batch))
    if wanted.micro_batch == "auto":
        raise Refused("micro_batch is 'auto', which does not see the memory of the process that runs the module; give "
                      "the number of samples that it takes at once, such as 4")
    if wanted.micro_batch is None:
        size = next(size for size in DEFAULT_MICRO_BATCHES if batch % size == 0)
    else:
        size = int(_MICRO_BATCH.check("micro_batch", wanted.micro_batch))
    if batch % size != 0:
        below = max(part for part in range(1, min(size, batch) + 1) if batch % part == 0)
        raise Refused(f"micro_batch is {size}, which does not divide batch {batch}; give for example {below}")
    count = batch // size
    if count > MOST_MICRO_BATCHES:
        raise Refused(f"batch {batch} has {count} micro-batches of {size}, and {MOST_MICRO_BATCHES} are the most; give "
                      "a larger micro_batch")
    if workers > count:
        raise Refused(f"workers is up to {workers}, and batch {batch} has only {count} micro-batches of {size}; give "
                      f"at most {count} workers, a larger batch or a smaller micro_batch")
    return {"global_batch": batch} if wanted.micro_batch is None else {"global_batch": batch, "micro_batch": size}


def _optimizer(optimizer: Any) -> dict[str, Any]:
    chosen = options.AdamW() if optimizer is None else optimizer
    if not isinstance(chosen, options.OPTIMIZERS):
        names = ", ".join(f"rekindle.{kind.__name__}" for kind in options.OPTIMIZERS)
        raise Refused(f"optimizer is {_described(optimizer)}; give an object of one of {names}, such as "
                      "rekindle.AdamW(3e-4), because the optimizer runs outside of Python")
    return chosen.to_fields()


def _schedule(wanted: Wanted, steps: int) -> dict[str, Any]:
    schedule = wanted.schedule
    if not isinstance(schedule, options.SCHEDULES):
        names = ", ".join(f"rekindle.{kind.__name__}" for kind in options.SCHEDULES)
        raise Refused(f"schedule is {_described(schedule)}; give an object of one of {names}, such as "
                      "rekindle.Cosine(warmup_steps=100)")
    given = schedule.to_fields()
    warmup, decay = given.get("warmup_steps") or 0, given.get("decay_steps") or 0
    if warmup + decay > steps:
        parts = " and ".join(f"{name} {value}" for name, value in (("warmup_steps", warmup), ("decay_steps", decay))
                             if value)
        raise Refused(f"the schedule has {parts}, and there are {steps} steps; give fewer, or more steps")
    if isinstance(schedule, options.Plateau) and not wanted.evaluate_every:
        raise Refused("the schedule is Plateau, which follows the validation loss; give evaluate_every too, such as "
                      "evaluate_every=100")
    return given


def _checkpoint(wanted: Wanted) -> dict[str, Any]:
    checkpoint = wanted.checkpoint
    if checkpoint is None:
        return {}
    if not isinstance(checkpoint, options.Checkpoint):
        if isinstance(checkpoint, bool) or not isinstance(checkpoint, int):
            raise Refused(f"checkpoint is {_described(checkpoint)}; give the number of steps between checkpoints, or "
                          "a rekindle.Checkpoint, such as rekindle.Checkpoint(every_seconds=300)")
        steps = Limit(0, 100_000_000, whole=True).check("checkpoint", checkpoint)
        return {"every_steps": steps}
    if checkpoint.keep_best and not wanted.evaluate_every:
        raise Refused("Checkpoint.keep_best follows the validation loss; give evaluate_every too, such as "
                      "evaluate_every=100")
    return checkpoint.to_fields()


def _name(name: Any, place: Place) -> str:
    if name is None:
        module, _, attribute = place.task.partition(":")
        return default_name(module if attribute == "task" else f"{module}-{attribute}")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or re.fullmatch(r"[0-9a-f]{32}", name):
        raise Refused(f"name is {name!r}; give 1 to 63 of a-z, 0-9 and '-', with no '-' at the ends, such as "
                      "'my-model'")
    return name


def default_name(words: str) -> str:
    """Returns the name of a job that the user has not named. `words` are for example the name of the module."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:63].strip("-") or "job"


def _described(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"of type {type(value).__name__}"


def differences(earlier: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Returns what differs between two jobs, such as "batch was 32 and is 64"."""
    before, after = _leaves(earlier["spec"]), _leaves(now["spec"])
    told = []
    for field in {**after, **before}:
        if before.get(field) != after.get(field):
            name = _ARGUMENTS.get(field, field)
            told.append(f"{name} was {before.get(field, 'left out')} and is {after.get(field, 'left out')}")
    return told


def as_arguments(message: str) -> str:
    """Returns a message about a job in which fields of the job have the names of arguments of rekindle.run."""
    def argument(found: re.Match[str]) -> str:
        return _ARGUMENTS.get(found[0], found[0])

    return re.sub(r"\b(?:training|model)\.[a-z_]+", argument, message.replace("optimizer.learning_rate",
                                                                             "the optimizer's learning_rate"))


def _leaves(tree: dict[str, Any], above: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in tree.items():
        found.update(_leaves(value, f"{above}{name}.") if isinstance(value, dict) else {above + name: value})
    return found
