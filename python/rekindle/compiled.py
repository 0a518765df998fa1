"""Keeps torch.compile() from making bits depend on what a process has computed before, for jobs that are exact."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

import torch

# After a second shape PyTorch would compile for all shapes at once, which gives other bits than code for one shape. So
# each shape gets code of its own, and no number of shapes is so large that the next one runs without being compiled.
_DYNAMO = {"automatic_dynamic_shapes": False,
           **dict.fromkeys(("recompile_limit", "cache_size_limit", "accumulated_recompile_limit",
                            "accumulated_cache_size_limit"), 1 << 20)}
# These measure which code is the fastest, and take it. The next process may measure otherwise.
_SEARCHES = ("max_autotune", "coordinate_descent_tuning")


def make_steady() -> None:
    """Sets what is imported already of PyTorch's compiler, and the rest when torch.compile() is called first.

    Importing the compiler takes long, and most tasks do without it."""
    if not hasattr(torch.compile, "original"):
        torch.compile = _steady(torch.compile)
    dynamo = sys.modules.get("torch._dynamo.config")
    for name, value in _DYNAMO.items():
        _set(dynamo, name, value)
    inductor = sys.modules.get("torch._inductor.config")
    for name in ("max_autotune", "max_autotune_pointwise", "max_autotune_gemm", "coordinate_descent_tuning"):
        _set(inductor, name, False)
    # torch.compile(mode="max-autotune") keeps the options of its mode for when something is compiled.
    wrapper: Any = getattr(torch, "_TorchCompileInductorWrapper", None)
    if wrapper is not None and not hasattr(wrapper.__call__, "original"):
        wrapper.__call__ = _without_searches(wrapper.__call__)


def _set(config: Any, name: str, value: Any) -> None:
    """Sets an option that this version of PyTorch has."""
    if config is not None and hasattr(config, name):
        setattr(config, name, value)


def _steady(original: Any) -> Any:
    """Returns torch.compile() for a task that may call it first in its forward or loss."""
    @functools.wraps(original)
    def call(*arguments: Any, **options: Any) -> Any:
        importlib.import_module("torch._dynamo")
        make_steady()
        return original(*arguments, **options)

    call.original = original  # type: ignore[attr-defined]
    return call


def _without_searches(original: Any) -> Any:
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        self.config = {name: value for name, value in self.config.items() if not name.startswith(_SEARCHES)}
        return original(self, *arguments, **options)

    call.original = original  # type: ignore[attr-defined]
    return call
