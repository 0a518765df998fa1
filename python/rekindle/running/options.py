"""Defines the optimizers, schedules and checkpoints of a job, with the fields and defaults that a job file has.

docs/jobs.md says what each field means. A field that is None is left out of the job file, and gets its default there,
because that depends on the number of steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from rekindle.errors import Refused
from rekindle.running.checked import Limit, one_of

_SHARE = Limit(0, 1, below=True)
_STEPS = Limit(1, 100_000_000, whole=True)
_LIMITS: Mapping[str, Limit] = {
    "learning_rate": Limit(0, 100, above=True), "beta1": _SHARE, "beta2": _SHARE, "momentum": _SHARE,
    "epsilon": Limit(0, 1, above=True), "weight_decay": Limit(0, 100),
    "warmup_steps": Limit(0, 100_000_000, whole=True), "final_ratio": Limit(0, 1), "decay_steps": _STEPS,
    "cycle_steps": _STEPS, "cycle_growth": Limit(1, 100, whole=True), "factor": _SHARE,
    "patience": Limit(0, 1_000_000, whole=True), "min_delta": _SHARE,
    "every_steps": Limit(0, 100_000_000, whole=True), "every_seconds": Limit(1, 604_800),
    "keep_last": Limit(1, 1000, whole=True), "keep_every": Limit(0, 100_000_000, whole=True),
    "keep_best": Limit(0, 1000, whole=True), "memory_every_steps": Limit(0, 100_000_000, whole=True)}
_STORES = ("file:///", "s3://", "gs://", "abfs://")


class _Options:
    """Checks the numbers among its fields."""

    def __post_init__(self) -> None:
        for entry in fields(self):  # type: ignore[arg-type]
            value = getattr(self, entry.name)
            if entry.name in _LIMITS and not (value is None and entry.default is None):
                checked = _LIMITS[entry.name].check(f"{type(self).__name__}.{entry.name}", value)
                object.__setattr__(self, entry.name, checked)

    def to_fields(self) -> dict[str, Any]:
        """Returns the fields of the job file."""
        given = {entry.name: getattr(self, entry.name) for entry in fields(self)}  # type: ignore[arg-type]
        return {name: value for name, value in given.items() if value is not None}


class Optimizer(_Options):
    """Is one of AdamW, SGD, Lion and Muon. `weight_decay` acts on matrices and not on vectors."""

    kind: ClassVar[str]

    def to_fields(self) -> dict[str, Any]:
        return {"kind": self.kind, **super().to_fields()}


@dataclass(frozen=True)
class AdamW(Optimizer):
    kind: ClassVar[str] = "adamw"
    learning_rate: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.95
    epsilon: float = 1e-8
    weight_decay: float = 0.1


@dataclass(frozen=True)
class SGD(Optimizer):
    """Here the weight decay is a part of the gradient."""

    kind: ClassVar[str] = "sgd"
    learning_rate: float = 0.1
    momentum: float = 0.9
    weight_decay: float = 1e-4


@dataclass(frozen=True)
class Lion(Optimizer):
    kind: ClassVar[str] = "lion"
    learning_rate: float = 1e-4
    beta1: float = 0.9
    beta2: float = 0.99
    weight_decay: float = 1.0


@dataclass(frozen=True)
class Muon(Optimizer):
    """`momentum` is that of matrices. The betas and `epsilon` are those of AdamW, which trains the rest."""

    kind: ClassVar[str] = "muon"
    learning_rate: float = 1e-3
    momentum: float = 0.95
    beta1: float = 0.9
    beta2: float = 0.95
    epsilon: float = 1e-8
    weight_decay: float = 0.1


class Schedule(_Options):
    """Says how the learning rate goes on after a linear warm-up, whose default is a tenth of the steps, at most 100."""

    kind: ClassVar[str]

    def to_fields(self) -> dict[str, Any]:
        return {"kind": self.kind, **super().to_fields()}


@dataclass(frozen=True)
class Cosine(Schedule):
    kind: ClassVar[str] = "cosine"
    warmup_steps: int | None = None
    final_ratio: float = 0.1


@dataclass(frozen=True)
class Constant(Schedule):
    kind: ClassVar[str] = "constant"
    warmup_steps: int | None = None


@dataclass(frozen=True)
class Linear(Schedule):
    kind: ClassVar[str] = "linear"
    warmup_steps: int | None = None
    final_ratio: float = 0.1


@dataclass(frozen=True)
class CosineRestarts(Schedule):
    """`cycle_steps` is a quarter of the steps by default."""

    kind: ClassVar[str] = "cosine_restarts"
    warmup_steps: int | None = None
    final_ratio: float = 0.1
    cycle_steps: int | None = None
    cycle_growth: int = 1


@dataclass(frozen=True)
class WarmupStableDecay(Schedule):
    """`decay_steps` is a fifth of the steps by default."""

    kind: ClassVar[str] = "warmup_stable_decay"
    warmup_steps: int | None = None
    final_ratio: float = 0.1
    decay_steps: int | None = None


@dataclass(frozen=True)
class Plateau(Schedule):
    """Lowers the rate when the validation loss has stopped falling. It needs `evaluate_every`."""

    kind: ClassVar[str] = "plateau"
    warmup_steps: int | None = None
    final_ratio: float = 0.0
    factor: float = 0.5
    patience: int = 1
    min_delta: float = 1e-4


@dataclass(frozen=True)
class Checkpoint(_Options):
    """Says when checkpoints are taken, where they go and which stay.

    At most one of `every_steps`, `every_seconds` and `interval`, which can be "auto", may be given. Without any there
    is one each 50 steps. With `every_steps` 0 there are none, and no weights are kept. `store` is a URI such as
    file:///folder. Without it, checkpoints go to a folder of the cluster."""

    every_steps: int | None = None
    every_seconds: float | None = None
    interval: str | None = None
    keep_last: int = 2
    keep_every: int = 0
    keep_best: int = 0
    memory_every_steps: int = 0
    precision: str = "exact"
    store: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("Checkpoint.precision", self.precision, ("exact", "fp16", "bf16"))
        if self.interval is not None:
            one_of("Checkpoint.interval", self.interval, ("auto",))
        given = [name for name in ("every_steps", "every_seconds", "interval") if getattr(self, name) is not None]
        if len(given) > 1:
            raise Refused(f"Checkpoint has {' and '.join(given)}; give one of them")
        if self.store is not None and not (isinstance(self.store, str) and self.store.startswith(_STORES)):
            raise Refused(f"Checkpoint.store is {self.store!r}; give a URI that begins with one of "
                          f"{', '.join(_STORES)}, such as file:///folder")


OPTIMIZERS: tuple[type[Optimizer], ...] = (AdamW, SGD, Lion, Muon)
SCHEDULES: tuple[type[Schedule], ...] = (Cosine, Constant, Linear, CosineRestarts, WarmupStableDecay, Plateau)
