"""Says where each parameter and buffer of a module lies in the flat memory, and refuses what cannot be trained."""

from __future__ import annotations

import fnmatch
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import torch

from rekindle.errors import Refused
from rekindle.memory import bytes_of
from rekindle.task import Rule

TRAINED = (torch.float32, torch.bfloat16, torch.float16)
WHOLE = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
# Whole numbers up to this one have an exact value as float32.
MOST_WHOLE = 1 << 24


@dataclass
class Entry:
    """One parameter or buffer. `offset` and `size` count elements of float32, whatever its own `dtype` is."""

    name: str
    shape: list[int]
    dtype: str
    kind: Literal["parameter", "buffer"]
    offset: int
    size: int
    decay: bool
    rule: Rule | None = None

    @property
    def whole(self) -> bool:
        return getattr(torch, self.dtype) in WHOLE


@dataclass
class Frozen:
    """A parameter that is not trained. It is outside of the flat memory."""

    name: str
    shape: list[int]
    dtype: str


@dataclass
class Layout:
    """The flat memory: first all parameters that are trained, then all persistent buffers, packed without gaps.

    `tied` has the further names of parameters and buffers that have several, each with the first name."""

    entries: list[Entry]
    frozen: list[Frozen]
    tied: dict[str, str]
    total: int

    def to_json(self) -> dict[str, Any]:
        entries = [{name: value for name, value in asdict(entry).items() if value is not None}
                   for entry in self.entries]
        return {"layout": entries, "frozen": [asdict(frozen) for frozen in self.frozen], "tied": self.tied}


@dataclass
class Parts:
    """The tensors of a module beside its layout.

    `trained` has the parameters and `buffers` the persistent buffers in the order of the layout. `frozen` has the
    parameters that are not trained, and `outside` the buffers that are not persistent, both by name. A name is that of
    the module, without the prefix that torch.compile() adds."""

    layout: Layout
    trained: list[torch.nn.Parameter]
    buffers: list[torch.Tensor]
    frozen: dict[str, torch.Tensor]
    outside: dict[str, torch.Tensor]


def plain(name: str) -> str:
    """Returns the name that a tensor has without torch.compile()."""
    return name.replace("_orig_mod.", "")


def describe(module: torch.nn.Module, rules: Mapping[str, Rule]) -> Parts:
    """Returns the layout of `module` and its tensors. `rules` are those of the task for buffers. Raises Refused."""
    trained, frozen, tied = _parameters(module)
    buffers, outside = _buffers(module, tied)
    for name in [*buffers, *outside]:
        if name in trained or name in frozen:
            raise Refused(f"a parameter and a buffer have the name {name}; rename one of them", parameter=name)
    _check_sparse(module)
    _check_shared({**trained, **buffers})
    entries: list[Entry] = []
    offset = 0
    chosen = _rules(buffers, rules)
    for name, tensor in [*trained.items(), *buffers.items()]:
        is_buffer = name in chosen
        entries.append(Entry(
            name=name, shape=list(tensor.shape), dtype=_spelled(tensor.dtype), offset=offset, size=tensor.numel(),
            kind="buffer" if is_buffer else "parameter", decay=tensor.ndim >= 2 and not is_buffer,
            rule=chosen.get(name)))
        offset += tensor.numel()
    described = [Frozen(name, list(tensor.shape), _spelled(tensor.dtype)) for name, tensor in frozen.items()]
    return Parts(Layout(entries, described, tied, offset), list(trained.values()), list(buffers.values()), frozen,
                 outside)


def digest(parts: Parts) -> str:
    """Returns a hash of the layout and of the values of all parameters and buffers."""
    whole = hashlib.sha256(json.dumps(parts.layout.to_json(), sort_keys=True, separators=(",", ":")).encode("utf-8"))
    for tensor in [*parts.trained, *parts.buffers, *parts.frozen.values(), *parts.outside.values()]:
        values = (tensor.detach() if tensor.layout == torch.strided else tensor.detach().to_dense()).contiguous()
        whole.update(bytes_of(values))
    return whole.hexdigest()


def _spelled(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _parameters(module: torch.nn.Module) -> tuple[dict[str, torch.nn.Parameter], dict[str, torch.Tensor],
                                                  dict[str, str]]:
    """Returns the trained parameters, the frozen ones, and the first name for each further name."""
    trained: dict[str, torch.nn.Parameter] = {}
    frozen: dict[str, torch.Tensor] = {}
    tied: dict[str, str] = {}
    first: dict[int, str] = {}
    for long_name, parameter in module.named_parameters(remove_duplicate=False):
        name = plain(long_name)
        if id(parameter) in first:
            if name != first[id(parameter)]:
                tied[name] = first[id(parameter)]
            continue
        first[id(parameter)] = name
        if name in trained or name in frozen:
            raise Refused(f"two parameters have the name {name}; rename one of them", parameter=name)
        _check_place("parameter", name, parameter)
        if parameter.requires_grad:
            _check_trained(name, parameter)
            trained[name] = parameter
        else:
            frozen[name] = parameter
    if not trained:
        what = "only parameters with requires_grad=False" if frozen else "no parameters"
        raise Refused(f"the module {type(module).__name__} has {what}; give a module that has something to train")
    return trained, frozen, tied


def _check_place(what: str, name: str, tensor: torch.Tensor) -> None:
    """Refuses a tensor whose values are not there, or not in the processor's memory."""
    if torch.nn.parameter.is_lazy(tensor):
        raise Refused(f"the {what} {name} has no shape yet, because its module is lazy; call the module once with a "
                      "sample in task(), or give the sizes", parameter=name)
    if tensor.device.type == "meta":
        raise Refused(f"the {what} {name} is on the device meta and has no values; make the module on the CPU",
                      parameter=name)
    if tensor.device.type != "cpu":
        raise Refused(f"the {what} {name} is on the device {tensor.device}; make the module on the CPU",
                      parameter=name)
    if type(tensor.data) is not torch.Tensor:
        raise Refused(f"the {what} {name} is a {type(tensor.data).__name__}; give an ordinary tensor", parameter=name)


def _check_trained(name: str, parameter: torch.nn.Parameter) -> None:
    if parameter.is_quantized or parameter.is_complex() or parameter.layout != torch.strided:
        what = ("is quantised" if parameter.is_quantized else "is complex" if parameter.is_complex() else
                f"has the layout {parameter.layout}")
        raise Refused(f"the parameter {name} {what} and cannot be trained; give real and imaginary part as parameters "
                      "of their own, or dense floating numbers, or set requires_grad=False", parameter=name)
    if parameter.dtype not in TRAINED:
        raise Refused(f"the parameter {name} is of type {_spelled(parameter.dtype)}; call module.float(), since "
                      "float32, bfloat16 and float16 can be trained", parameter=name)
    if parameter.numel() == 0:
        raise Refused(f"the parameter {name} has the shape {list(parameter.shape)} and no values; remove it, or set "
                      "requires_grad=False", parameter=name)


def _buffers(module: torch.nn.Module, tied: dict[str, str]) -> tuple[dict[str, torch.Tensor],
                                                                     dict[str, torch.Tensor]]:
    """Returns the persistent buffers and the other ones. Adds the further names of buffers to `tied`."""
    persistent: dict[str, torch.Tensor] = {}
    outside: dict[str, torch.Tensor] = {}
    first: dict[int, str] = {}
    for name, key, owner, buffer in _owned_buffers(module):
        if id(buffer) in first:
            if name != first[id(buffer)]:
                tied[name] = first[id(buffer)]
            continue
        first[id(buffer)] = name
        if name in persistent or name in outside:
            raise Refused(f"two buffers have the name {name}; rename one of them", parameter=name)
        _check_place("buffer", name, buffer)
        if key in owner._non_persistent_buffers_set:
            outside[name] = buffer
        else:
            _check_buffer(name, buffer)
            persistent[name] = buffer
    return persistent, outside


def _owned_buffers(module: torch.nn.Module) -> Iterator[tuple[str, str, torch.nn.Module, torch.Tensor]]:
    """Yields name, key in the owner, owner and value of each buffer, in the order of named_buffers()."""
    for prefix, owner in module.named_modules():
        for key, buffer in owner._buffers.items():
            if buffer is not None:
                yield plain(f"{prefix}.{key}" if prefix else key), key, owner, buffer


def _check_buffer(name: str, buffer: torch.Tensor) -> None:
    ways = "register it with persistent=False if forward does not change it"
    if buffer.dtype not in TRAINED + WHOLE or buffer.layout != torch.strided or buffer.is_quantized:
        raise Refused(f"the buffer {name} is of type {_spelled(buffer.dtype)} and has no exact value as float32; make "
                      f"it float32, or {ways}", parameter=name)
    if buffer.numel() == 0:
        raise Refused(f"the buffer {name} has no values; {ways}", parameter=name)
    if buffer.dtype in WHOLE and buffer.dtype != torch.bool and too_large(buffer):
        raise Refused(f"the buffer {name} has a value beyond {MOST_WHOLE}, which has no exact value as float32; "
                      f"{ways}", parameter=name)
    if buffer.dtype in TRAINED and not bool(torch.isfinite(buffer).all()):
        raise Refused(f"the buffer {name} is not finite; {ways}", parameter=name)


def too_large(values: torch.Tensor) -> bool:
    """Returns whether a whole number in `values` is too large for float32."""
    return bool((values.to(torch.int64).abs() > MOST_WHOLE).any())


def _check_sparse(module: torch.nn.Module) -> None:
    for name, part in module.named_modules():
        if isinstance(part, (torch.nn.Embedding, torch.nn.EmbeddingBag)) and part.sparse and part.weight.requires_grad:
            weight = plain(f"{name}.weight" if name else "weight")
            raise Refused(f"the parameter {weight} has sparse gradients; make its module with sparse=False",
                          parameter=weight)


def _check_shared(tensors: Mapping[str, torch.Tensor]) -> None:
    """Refuses tensors that lie in the same memory without being the same object: they could not stay equal."""
    spans = sorted((tensor.data_ptr(), tensor.data_ptr() + _extent(tensor), name) for name, tensor in tensors.items())
    for (_, end, name), (begin, _, other) in zip(spans, spans[1:]):
        if begin < end:
            raise Refused(f"{other} lies in the memory of {name}, but is another object; tie them by assigning the "
                          "same torch.nn.Parameter to both, or copy one with .clone()", parameter=other)


def _extent(tensor: torch.Tensor) -> int:
    """Returns how many bytes there are from the tensor's first element to the end of its last one."""
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    return (reach + 1) * tensor.element_size()


def _rules(buffers: Mapping[str, torch.Tensor], rules: Mapping[str, Rule]) -> dict[str, Rule]:
    """Returns the rule of each buffer. An exact name goes before a pattern, and an earlier pattern before a later."""
    chosen: dict[str, Rule] = {}
    used: set[str] = set()
    for name in buffers:
        key = name if name in rules else next((key for key in rules if fnmatch.fnmatchcase(name, key)), None)
        chosen[name] = "mean" if key is None else rules[key]
        used |= {key} if key is not None else set()
    for key in rules:
        if key not in used and not any(fnmatch.fnmatchcase(name, key) for name in buffers):
            known = ", ".join(list(buffers)[:8]) or "none"
            raise Refused(f"buffers names {key}, but the module has no persistent buffer of that name (it has: "
                          f"{known})", parameter=key)
    return chosen
