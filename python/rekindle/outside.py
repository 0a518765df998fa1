"""Watches what lies outside of the flat memory and must not change: nobody would carry the change to other ranks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import torch

from rekindle.errors import Refused
from rekindle.layout import Parts, plain
from rekindle.memory import bytes_of

# A frozen parameter may be large, so at most so many of its values are hashed.
MOST_SAMPLED = 64 * 1024


@dataclass
class _Watched:
    name: str
    owner: Mapping[str, torch.Tensor | None]
    key: str
    what: str
    fix: str
    tensor: torch.Tensor | None
    # `kept` says that every visible change is one, because the values are not compared as a whole.
    kept: bool
    pointer: int = 0
    version: int = 0
    content: bytes = b""


class Outside:
    """Refuses a forward that changed a frozen parameter, or a buffer that is not persistent.

    Changes that PyTorch counts, or that put another tensor in the place, are seen after every forward. What a forward
    hides, as a write through `.data`, is seen after the 1st, 2nd, 4th, 8th... forward of this process."""

    def __init__(self, module: torch.nn.Module, parts: Parts) -> None:
        self._module = module
        self._passes = 0
        self._watched: list[_Watched] = []
        for prefix, owner in module.named_modules():
            for key, parameter in owner._parameters.items():
                if parameter is not None and not parameter.requires_grad:
                    self._watch(_name(prefix, key), owner._parameters, key, parameter)
            for key, buffer in owner._buffers.items():
                if buffer is None or any(buffer is value for value in parts.outside.values()):
                    self._watch(_name(prefix, key), owner._buffers, key, buffer)
        self._names = self._buffer_names()

    def _watch(self, name: str, owner: Mapping[str, torch.Tensor | None], key: str,
               tensor: torch.Tensor | None) -> None:
        frozen = isinstance(tensor, torch.nn.Parameter)
        watched = _Watched(
            name, owner, key, "frozen parameter" if frozen else "buffer",
            "give it requires_grad=True, or make it a persistent buffer, if it should change" if frozen else
            "register it with persistent=True, or compute it in forward without storing it", tensor, frozen)
        self._note(watched, tensor)
        watched.content = _content(tensor, frozen)
        self._watched.append(watched)

    def _note(self, watched: _Watched, tensor: torch.Tensor | None) -> None:
        watched.tensor = tensor
        if tensor is not None:
            watched.pointer, watched.version = _pointer(tensor), tensor._version

    def check(self) -> None:
        """Raises Refused if a forward has changed something since the last call."""
        self._passes += 1
        whole = self._passes & (self._passes - 1) == 0
        for watched in self._watched:
            now = watched.owner.get(watched.key)
            same = now is watched.tensor and (now is None or (
                now._version == watched.version and _pointer(now) == watched.pointer))
            if same and not whole:
                continue
            if (watched.kept and not same) or _content(now, watched.kept) != watched.content:
                self._note(watched, now)
                raise Refused(f"forward changed the {watched.what} {watched.name}, which is not in the state that all "
                              f"ranks share; {watched.fix}", kind="write", parameter=watched.name)
            self._note(watched, now)
        if whole:
            self._check_names()

    def _check_names(self) -> None:
        for name in self._buffer_names():
            if name not in self._names:
                raise Refused(f"forward made the buffer {name}, which is not in the state that all ranks share; make "
                              "it in the module's constructor", kind="write", parameter=name)

    def _buffer_names(self) -> set[str]:
        return {_name(prefix, key) for prefix, owner in self._module.named_modules() for key in owner._buffers}


def _name(prefix: str, key: str) -> str:
    return plain(f"{prefix}.{key}" if prefix else key)


def _pointer(tensor: torch.Tensor) -> int:
    return tensor.data_ptr() if tensor.layout == torch.strided else 0


def _content(tensor: torch.Tensor | None, sampled: bool) -> bytes:
    """Returns a hash of the values, type and shape."""
    if tensor is None:
        return b""
    whole = hashlib.blake2b(f"{tensor.dtype} {list(tensor.shape)}".encode(), digest_size=16)
    values = (tensor.detach() if tensor.layout == torch.strided else tensor.detach().to_dense()).contiguous()
    if sampled and values.numel() > MOST_SAMPLED:
        values = values.view(-1)[::values.numel() // MOST_SAMPLED + 1].contiguous()
    whole.update(bytes_of(values))
    return whole.digest()
