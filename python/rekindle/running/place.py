"""Finds the file of a task, and refuses what other processes cannot import."""

from __future__ import annotations

import ast
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

from rekindle import task as tasks
from rekindle.errors import Refused

HOW_TO_WRITE = """
    def task():
        return rekindle.Task(Model(), data=train_set, loss=lambda m, b: rekindle.Sum(loss_sum, count))
    if __name__ == "__main__":
        rekindle.{call}(task, steps=1000, batch=64)"""


@dataclass(frozen=True)
class Place:
    """Says where a task is: "module:function", the folder of the module, and its file."""

    task: str
    folder: str
    file: str


def find(function: Callable[[], Any] | tasks.Located, call: str, how: str | None = None) -> Place:
    """Returns the place of the task. `call` is the name of the function that the user has called, for messages, and
    `how` has the lines to write, where they are not those for rekindle.run.

    Raises Refused for a task that only this process can find, in a process that computes for a job, and where a call
    below would be made again by each process that imports the file."""
    if isinstance(function, tasks.Located):
        return Place(function.spec, function.folder, function.file)
    how = HOW_TO_WRITE.format(call=call) if how is None else how
    try:
        task, folder = tasks.locate(function)
    except Refused as error:
        raise Refused(error.message.removesuffix(f" {tasks.HOW_TO_WRITE}") + f" The lines to write:{how}") from None
    module = sys.modules[function.__module__]
    name = function.__name__
    file = os.path.abspath(str(module.__file__))
    try:
        inspect.signature(function).bind()
    except TypeError as error:
        raise Refused(f"{name} cannot be called without arguments ({error}); it has to take none, as here:"
                      f"{how}") from None
    if getattr(module, name, None) is not function:
        raise Refused(f"the name {name} in {os.path.basename(file)} stands for something else by now, which another "
                      "process would take for the task; give the task a name of its own")
    _check_call(module, file, call, how)
    check_outside_guard(file, [name], how)
    return Place(task, folder, file)


def _check_call(module: ModuleType, file: str, call: str, how: str) -> None:
    """Refuses a call that would be made again when the file is imported."""
    tree = _parsed(file)
    if tree is None:
        return
    guards = _guards(tree)
    line = _line_of_call(module)
    if line is not None and not any(guard.lineno <= line <= (guard.end_lineno or line) for guard in guards):
        raise Refused(f"{os.path.basename(file)} calls rekindle.{call} in line {line} whenever it is imported, and "
                      "each process that computes for the job imports it; put the call below: if __name__ == "
                      f"\"__main__\":, as here:{how}")


def check_outside_guard(file: str, names: Sequence[str], how: str) -> None:
    """Refuses a name that would not be there when another process imports the file."""
    tree = _parsed(file)
    if tree is None:
        return
    guards = _guards(tree)
    outside = _names([node for node in tree.body if node not in guards])
    for name in names:
        # A star stands for an import of any names.
        if name in _names(guards) and not outside & {name, "*"}:
            raise Refused(f"{name} is defined below if __name__ == \"__main__\":, so a process that imports "
                          f"{os.path.basename(file)} does not find it; move it above that line, as here:{how}")


def _guards(tree: ast.Module) -> list[ast.If]:
    return [node for node in tree.body if isinstance(node, ast.If) and _asks_for_name(node.test)]


def _parsed(file: str) -> ast.Module | None:
    try:
        with open(file, "rb") as source:
            return ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return None


def _asks_for_name(test: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(test))


def _line_of_call(module: ModuleType) -> int | None:
    """Returns the line at the top level of the module that is running now, or None if none is."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_globals is vars(module) and frame.f_code.co_name == "<module>":
            return frame.f_lineno
        frame = frame.f_back
    return None


def _names(nodes: list[ast.stmt] | list[ast.If]) -> set[str]:
    """Returns the names that the statements give to something in their module."""
    return {name for node in nodes for name in _bound(node)}


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).split(".")[0]
    elif isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store):
            yield node.id
    elif not isinstance(node, ast.Lambda):
        for part in ast.iter_child_nodes(node):
            yield from _bound(part)
