"""Finds the parts of a task by their names in the user's file, since other processes import them from there.

A job has such a task as "train:hf.model_init.args.train_set.eval_set.collate.loss": after "hf" come the names in the
file of what rekindle.hf.run() was given, in the order of PARTS. A part that was not given is None, and those at the
end are left out."""

from __future__ import annotations

import keyword
from collections.abc import Callable
from types import ModuleType
from typing import Any

from rekindle.errors import Refused

PARTS = ("model_init", "args", "train_dataset", "eval_dataset", "data_collator", "compute_loss_func")
PREFIX = "hf."
_LEAST = 3


def write(module: ModuleType, given: dict[str, Any]) -> str:
    """Returns "hf." and the names of the parts in the module. Raises Refused."""
    words = [_name(module, part, given.get(part)) for part in PARTS]
    while words[-1] == "None":
        words.pop()
    return PREFIX + ".".join(words)


def read(module: ModuleType, attribute: str) -> Callable[[], Any]:
    """Returns the function that makes the task that write() has named. Raises Refused."""
    words = attribute.removeprefix(PREFIX).split(".")
    if not _LEAST <= len(words) <= len(PARTS) or not all(word.isidentifier() for word in words):
        raise Refused(f"the task {attribute!r} is not of the form that rekindle.hf.run writes; let it write the job")
    parts = {}
    for part, word in zip(PARTS, words):
        if word == "None":
            continue
        if not hasattr(module, word):
            raise Refused(f"{module.__name__} has no {word}, which is the {part} of the job; was it renamed?")
        parts[part] = getattr(module, word)

    def task() -> Any:
        from rekindle.hf.model import make

        return make(**parts)

    return task


def _name(module: ModuleType, part: str, value: Any) -> str:
    """Returns the name that `value` has at the top of the module."""
    if value is None:
        return "None"
    own = getattr(value, "__name__", None)
    found = [name for name, other in vars(module).items()
             if other is value and name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")]
    if not found:
        what = own if isinstance(own, str) else f"an object of type {type(value).__name__}"
        raise Refused(f"{part} is {what}, which has no name at the top of the file, so another process cannot import "
                      f"it; write there: {part} = ..., and give rekindle.hf.run that name")
    return own if own in found else found[0]
