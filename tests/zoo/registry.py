"""Lists the models of the zoo. A file models_*.py adds a model by a decorator of the function that makes its task."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import rekindle

# The tolerance of most models.
ROUNDING = 1e-4


@dataclasses.dataclass(frozen=True)
class Model:
    """Tells a test what it has to know of a model, so that no test knows a model by its name.

    `needs` names the package that the model needs beside PyTorch and numpy, or is None. A plain loop whose weights lie
    in memory as the trainer's do has to give the same bits. `tolerance` is how far the loss and a gradient may be from
    those of a plain loop with ordinary memory, as a fraction, since PyTorch adds up some sums in another order there.
    `why` says why a model needs more than others. `micro_batch` is how many samples a micro-batch of this model has."""

    name: str
    make: Callable[[], rekindle.Task]
    group: str
    needs: str | None
    tolerance: float
    why: str
    micro_batch: int

    @property
    def spec(self) -> str:
        """The name of the function as a job has it."""
        return f"{self.make.__module__}:{self.make.__name__}"


MODELS: dict[str, Model] = {}


def model(name: str, group: str = "rotated", needs: str | None = None, tolerance: float = ROUNDING, why: str = "",
          micro_batch: int = 4) -> Callable[[Callable[[], rekindle.Task]], Callable[[], rekindle.Task]]:
    """Adds the function that is decorated to the zoo. The function itself stays as it is."""
    def add(make: Callable[[], rekindle.Task]) -> Callable[[], rekindle.Task]:
        assert name not in MODELS, f"two models have the name {name}; rename one"
        assert group in ("always", "rotated"), f"{name}: the group {group} is neither always nor rotated"
        assert (tolerance == ROUNDING) == (not why), f"{name}: a tolerance needs a reason, and a reason a tolerance"
        MODELS[name] = Model(name, make, group, needs, tolerance, why, micro_batch)
        return make
    return add
