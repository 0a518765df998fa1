"""Collects the kinds of faults by name: every subclass of `Fault` in a file of this folder."""
import importlib
import pathlib

from kinds.fault import Fault


def every_kind(base=Fault):
    for kind in base.__subclasses__():
        if kind.name:
            yield kind
        yield from every_kind(kind)


for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
    if path.stem != "__init__":
        importlib.import_module(f"kinds.{path.stem}")

EVERY_KIND = {kind.name: kind for kind in sorted(every_kind(), key=lambda kind: kind.name)}


def kinds_for(model):
    """Returns {name: kind} of what may happen in a round whose job trains `model` (schedule.py)."""
    return {name: kind for name, kind in EVERY_KIND.items() if model == "own" or not kind.of_own_models}
