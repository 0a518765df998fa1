"""Reads how to compute from the trainer's first message, and sets PyTorch accordingly."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

import torch

from rekindle import compiled
from rekindle.errors import Refused
from rekindle.messages import VERSION

PRECISIONS = {"fp32": None, "bf16": torch.bfloat16, "fp16": torch.float16}
DEFAULT_PREFETCH = 2


@dataclass
class Settings:
    """`data_workers` is None where the task decides. `prefetch` is how many micro-batches are loaded ahead.
    `nice` is that of the session until micro-batches are expected."""

    task: str
    folder: str
    seed: int
    precision: str
    device: str
    threads: int
    exact: bool
    data_workers: int | None
    prefetch: int
    nice: int = 0

    @property
    def dtype(self) -> torch.dtype | None:
        """The type of autocast, or None without it."""
        return PRECISIONS[self.precision]


def read(fields: dict[str, Any]) -> Settings:
    """Returns the settings in `fields`. Raises Refused."""
    protocol = fields.get("protocol")
    if protocol != VERSION:
        raise Refused(f"the trainer speaks version {protocol!r} of the protocol and this package version {VERSION}; "
                      "install the package of the trainer's release")
    prefetch = fields.get("prefetch")
    if prefetch is None or isinstance(prefetch, bool):
        prefetch = 0 if prefetch is False else DEFAULT_PREFETCH
    fields = {**fields, "prefetch": prefetch}
    if fields.get("precision") not in PRECISIONS:
        raise Refused(f"the precision is {fields.get('precision')!r}; it is one of {', '.join(PRECISIONS)}")
    if fields.get("device") != "cpu":
        raise Refused(f"the device is {fields.get('device')!r}; a Python task computes on cpu")
    if type(fields.get("exact")) is not bool:
        raise Refused(f"exact is {fields.get('exact')!r}; it is true or false")
    workers = fields.get("data_workers")
    return Settings(
        task=_text(fields, "task"), folder=os.path.abspath(_text(fields, "folder")),
        seed=_number(fields, "seed", 0, (1 << 64) - 1), precision=fields["precision"], device="cpu",
        threads=_number(fields, "threads", 1, 4096), exact=fields["exact"],
        data_workers=None if workers is None else _number(fields, "data_workers", 1, 64),
        prefetch=_number(fields, "prefetch", 0, 64), nice=_number({"nice": 0, **fields}, "nice", 0, 19))


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value:
        raise Refused(f"{name} is {value!r}; it is a text")
    return value


def _number(fields: dict[str, Any], name: str, least: int, most: int) -> int:
    value = fields.get(name)
    if type(value) is not int or not least <= value <= most:
        raise Refused(f"{name} is {value!r}; it is a whole number from {least} to {most}")
    return value


def apply(settings: Settings) -> None:
    """Sets PyTorch's number of threads, and in exact mode what else decides about bits. Raises Refused."""
    torch.set_num_threads(settings.threads)
    if not settings.exact:
        return
    if sys.flags.hash_randomization:
        raise Refused("the interpreter draws the order of sets anew at each start, so runs would differ; start it with "
                      "PYTHONHASHSEED=0")
    torch.use_deterministic_algorithms(True)
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.allow_tf32 = False
    compiled.make_steady()
