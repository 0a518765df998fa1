"""Checks arguments. Each function returns the value as it is written to a job file, or raises Refused."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rekindle.errors import Refused


@dataclass(frozen=True)
class Limit:
    """Says which numbers are allowed. `above` says that `low` itself is not, and `below` that `high` is not."""

    low: float
    high: float
    whole: bool = False
    above: bool = False
    below: bool = False

    def check(self, where: str, value: Any) -> int | float:
        number = self._read(value)
        fits = number is not None and self.low <= number <= self.high and not (self.above and number == self.low)
        if number is None or not fits or (self.below and number == self.high):
            raise Refused(f"{where} is {_shown(value)}; give {self}")
        return number

    def _read(self, value: Any) -> int | float | None:
        if isinstance(value, bool):
            return None
        if isinstance(value, numbers.Integral):
            return int(value)
        return float(value) if isinstance(value, numbers.Real) and not self.whole else None

    def __str__(self) -> str:
        what = "a whole number" if self.whole else "a number"
        if self.above:
            return f"{what} above {_number(self.low)} and up to {_number(self.high)}"
        if self.below:
            return f"{what} from {_number(self.low)} to below {_number(self.high)}"
        return f"{what} from {_number(self.low)} to {_number(self.high)}"


def one_of(where: str, value: Any, choices: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise Refused(f"{where} is {_shown(value)}; give one of {', '.join(map(repr, choices))}")
    return value


def _number(value: float) -> str:
    return str(int(value)) if math.isfinite(value) and value == int(value) else str(value)


def _shown(value: Any) -> str:
    """Returns the value as one short line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"an object of type {type(value).__name__}"
