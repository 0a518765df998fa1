"""Defines what the user writes: a task, which holds a module, its data and its loss. Finds the task of a job."""

from __future__ import annotations

import difflib
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from rekindle.errors import Refused, kind_of, said, user_lines
from rekindle.running.checked import Limit

if TYPE_CHECKING:
    import torch

Rule = Literal["mean", "first", "frozen"]
RULES = ("mean", "first", "frozen")
# What a group of parameters may have for itself.
_GROUP_OPTIONS = {"learning_rate": Limit(0, 100), "weight_decay": Limit(0, 100)}
# Says whether this process has loaded a task, as those do that compute for others.
_loaded = False
HOW_TO_WRITE = ("write: def task(): return rekindle.Task(Model(), data=train_set, loss=lambda m, b: "
                "rekindle.Sum(loss_sum, count))")


class Sum:
    """A loss that is summed over `count` items, such as tokens or samples.

    `loss_sum` is a tensor with one value, and `count` a whole number or a tensor that holds one."""

    __slots__ = ("count", "loss_sum")

    def __init__(self, loss_sum: torch.Tensor, count: int | torch.Tensor) -> None:
        self.loss_sum = loss_sum
        self.count = count


class Task:
    """Holds what Rekindle trains.

    `data` and `validation` have a length and give a sample for a number, and `collate` makes a batch of a list of
    samples. `loss(module, batch)` returns a Sum. `buffers` says for names, or patterns of names, of buffers whether
    their new value is the mean over the micro-batches of a step, that of the first, or not taken. `groups` has a
    `learning_rate` and a `weight_decay` for patterns of names of parameters; the first pattern that matches decides.
    The learning rate goes up and down with the schedule as that of the job does. `couples_samples` says that the loss
    of a sample depends on the others of its micro-batch."""

    def __init__(self, module: torch.nn.Module, *, data: Any, loss: Callable[[Any, Any], Sum], validation: Any = None,
                 collate: Callable[[list[Any]], Any] | None = None, buffers: Mapping[str, Rule] | None = None,
                 groups: Mapping[str, Mapping[str, float]] | None = None, couples_samples: bool | None = None,
                 data_workers: int | None = None) -> None:
        self.module = _checked_module(module)
        self.data = _checked_data("data", data)
        self.validation = None if validation is None else _checked_data("validation", validation)
        self.loss = _checked_function("loss", loss, "a function of the module and a batch that returns rekindle.Sum")
        self.collate = None if collate is None else _checked_function("collate", collate, "a function of a list")
        self.buffers = _checked_buffers(buffers)
        self.groups = _checked_groups(groups)
        self.couples_samples = bool(couples_samples)
        if data_workers is not None and (type(data_workers) is not int or not 1 <= data_workers <= 64):
            raise Refused(f"data_workers is {data_workers!r}; give a number from 1 to 64")
        self.data_workers = data_workers


def _checked_module(module: Any) -> torch.nn.Module:
    import torch

    if isinstance(module, type) and issubclass(module, torch.nn.Module):
        raise Refused(f"the module is the class {module.__name__}; give an object of it: {module.__name__}(...)")
    if not isinstance(module, torch.nn.Module):
        raise Refused(f"the module is of type {type(module).__name__}; give a torch.nn.Module")
    if isinstance(module, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)):
        raise Refused(f"the module is wrapped in {type(module).__name__}; give the module itself, because Rekindle "
                      "exchanges the gradients")
    return module


def _checked_data(name: str, data: Any) -> Any:
    import torch

    if isinstance(data, torch.utils.data.DataLoader):
        raise Refused(f"{name} is a DataLoader; give its dataset, because Rekindle chooses the samples")
    if isinstance(data, torch.utils.data.IterableDataset):
        raise Refused(f"{name} is an IterableDataset, whose samples have no numbers, so none could be computed again; "
                      "give a Dataset with __len__ and __getitem__, such as list(dataset)")
    if not callable(getattr(type(data), "__getitem__", None)) or not callable(getattr(type(data), "__len__", None)):
        raise Refused(f"{name} is of type {type(data).__name__}, which has no __len__ or no __getitem__; give a "
                      "Dataset that has both")
    if isinstance(data, Mapping) and 0 not in data:
        raise Refused(f"{name} is a dict of {', '.join(map(repr, list(data)[:4]))}, whose samples have no numbers; "
                      f"give one of its values, such as {name}[{next(iter(data), 'train')!r}]")
    if len(data) < 1:
        raise Refused(f"{name} has no samples; give a Dataset with at least one")
    return data


def _checked_function(name: str, function: Any, wanted: str) -> Any:
    if not callable(function):
        raise Refused(f"{name} is of type {type(function).__name__}; give {wanted}")
    return function


def _checked_buffers(buffers: Mapping[str, Rule] | None) -> dict[str, Rule]:
    if buffers is not None and not isinstance(buffers, Mapping):
        raise Refused(f"buffers is of type {type(buffers).__name__}; give a dict of names and rules")
    for name, rule in (buffers or {}).items():
        if not isinstance(name, str) or rule not in RULES:
            raise Refused(f"buffers has {name!r}: {rule!r}; a rule is one of {', '.join(map(repr, RULES))}")
    return dict(buffers or {})


def _checked_groups(groups: Mapping[str, Mapping[str, float]] | None) -> dict[str, dict[str, float]]:
    if groups is not None and not isinstance(groups, Mapping):
        raise Refused(f"groups is of type {type(groups).__name__}; give a dict of patterns and options")
    for pattern, options in (groups or {}).items():
        if not isinstance(pattern, str) or not isinstance(options, Mapping):
            raise Refused(f"groups has {pattern!r}: {options!r}; give a pattern of names and a dict of options, such "
                          "as {'*.bias': {'weight_decay': 0.0}}")
        for name in options:
            if name not in _GROUP_OPTIONS:
                fix = "write learning_rate" if name == "lr" else "set it for all in the optimizer of the job"
                raise Refused(f"groups has {name!r} for {pattern!r}, and a group can have its own learning_rate and "
                              f"weight_decay; {fix}")
    return {pattern: {name: _checked_option(pattern, name, value) for name, value in options.items()}
            for pattern, options in (groups or {}).items()}


def _checked_option(pattern: str, name: str, value: Any) -> float | bool:
    # True and False say whether the weight decay of the job applies.
    if name == "weight_decay" and isinstance(value, bool):
        return value
    return _GROUP_OPTIONS[name].check(f"{name} of {pattern!r} in groups", value)


@dataclass(frozen=True)
class Located:
    """A task of which it is known already how load() finds it: `spec` in `folder`. `file` is that of `module`."""

    spec: str
    folder: str
    file: str
    module: str

    def __call__(self) -> Any:
        """Makes the task, as another process does."""
        return load(self.spec, self.folder)()


def locate(function: Any) -> tuple[str, str]:
    """Returns "module:attribute" of a task, and the folder from which load() finds it in another process.

    Raises Refused for what only this process can find, and in a process that has loaded a task itself."""
    if isinstance(function, Located):
        return function.spec, function.folder
    if _loaded:
        raise Refused("this process computes for a check or a job, and imports the file of the task for that; put the "
                      "call below: if __name__ == \"__main__\":")
    if isinstance(function, Task):
        raise Refused("a rekindle.Task was given, and other processes have to make one of their own; give the function "
                      "that makes it, without calling it: task, and not task()")
    name = getattr(function, "__qualname__", None)
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    path = getattr(module, "__file__", None)
    if not callable(function) or not isinstance(name, str) or not name.isidentifier() or path is None:
        what = name if isinstance(name, str) else f"an object of type {type(function).__name__}"
        raise Refused(f"another process cannot import {what}; write it at the top of a file, such as train.py, as a "
                      f"function with a name of its own. {HOW_TO_WRITE}")
    assert module is not None
    spelled = module.__name__
    if spelled == "__main__":
        found = getattr(module, "__spec__", None)
        spelled = os.path.splitext(os.path.basename(path))[0] if found is None else found.name
    parts = spelled.removesuffix(".__init__").split(".")
    if not all(part.isidentifier() for part in parts):
        raise Refused(f"the file {os.path.basename(path)} cannot be imported by its name; give it one of letters, "
                      "digits and underscores, such as train.py")
    is_package = os.path.basename(path) == "__init__.py"
    up = len(parts) + is_package
    return f"{spelled}:{name}", os.path.realpath(os.path.join(os.path.abspath(path), *[os.pardir] * up))


def load(spec: str, folder: str) -> Callable[[], Any]:
    """Imports the module of `spec`, which is "module:attribute", from `folder`. Returns its function.

    The folder becomes the current one, as for a script that is run in it. Raises Refused."""
    global _loaded
    _loaded = True
    name, colon, attribute = spec.partition(":")
    is_named = attribute.startswith("hf.")
    if not colon or not (is_named or attribute.isidentifier()) or not all(
            part.isidentifier() for part in name.split(".")):
        raise Refused(f"the task {spec!r} is not of the form module:attribute; write for example train:task")
    module = _imported(name, folder)
    if is_named:
        from rekindle.hf import names

        return names.read(module, attribute)
    if not hasattr(module, attribute):
        near = difflib.get_close_matches(attribute, vars(module), 1)
        hint = f"did you mean {name}:{near[0]}?" if near else HOW_TO_WRITE
        raise Refused(f"{_file(module)} has no {attribute}; {hint}")
    function = getattr(module, attribute)
    if isinstance(function, Task):
        raise Refused(f"{attribute} in {_file(module)} is a Task and no function, so it was not made under the seed; "
                      f"{HOW_TO_WRITE}")
    if not callable(function):
        raise Refused(f"{attribute} in {_file(module)} is of type {type(function).__name__} and cannot be called; "
                      f"{HOW_TO_WRITE}")
    try:
        inspect.signature(function).bind()
    except TypeError as error:
        raise Refused(f"{attribute} in {_file(module)} cannot be called without arguments ({error}); "
                      f"{HOW_TO_WRITE}") from None
    except ValueError:
        pass  # Something written in C has no signature, and the call will show what it wants.
    return function  # type: ignore[no-any-return]


def make(function: Callable[[], Any], spec: str, folder: str) -> Task:
    """Calls the function that load() returned. Raises Refused."""
    try:
        task = function()
    except Refused as error:
        error.lines = error.lines or user_lines(error, folder)
        raise
    except BaseException as error:
        raise Refused(f"{spec} raised {said(error)}; {_how_to_mend(error, os.path.realpath(folder))}",
                      kind=kind_of(error, "task"), lines=user_lines(error, folder)) from error
    if isinstance(task, Task):
        return task
    what = "nothing (is its return missing?)" if task is None else f"an object of type {type(task).__name__}"
    raise Refused(f"{spec} returned {what} instead of a rekindle.Task; {HOW_TO_WRITE}")


def _how_to_mend(error: BaseException, folder: str) -> str:
    file = getattr(error, "filename", None)
    if isinstance(error, FileNotFoundError) and isinstance(file, str) and not os.path.isabs(file):
        return f"relative paths begin at the folder of the task here, {folder}: name the file from there"
    return "mend the line that the traceback shows"


def _file(module: ModuleType) -> str:
    return os.path.basename(getattr(module, "__file__", None) or module.__name__)


def _imported(name: str, folder: str) -> ModuleType:
    root = os.path.realpath(folder)
    if not os.path.isdir(root):
        raise Refused(f"the folder of the task, {folder}, does not exist; is it on this node?")
    os.chdir(root)
    if root not in sys.path:
        sys.path.insert(0, root)
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name + ".").startswith(error.name + "."):
            raise Refused(f"there is no module {name} in the folder of the task; is {name.replace('.', '/')}.py in the "
                          "folder that was sent?") from None
        raise Refused(f"importing {name} raised {said(error)}; install it for this node's interpreter "
                      f"({sys.executable}), or send it with the task", lines=user_lines(error, folder)) from error
    except BaseException as error:
        raise Refused(f"importing {name} raised {said(error)}; {_how_to_mend(error, root)}",
                      lines=user_lines(error, folder)) from error
    file = getattr(module, "__file__", None)
    if file is None or not os.path.realpath(file).startswith(os.path.join(root, "")):
        which = "one that is built into Python" if file is None else os.path.realpath(file)
        raise Refused(f"the module {name} is another one, {which}; give the file of the task another name")
    return module
