"""What comes of a job: its result, or an error with the user's lines."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rekindle.errors import Refused

if TYPE_CHECKING:
    import torch

_LONGEST_HEADER = 100 << 20


class Failed(Exception):
    """Says why a job has failed. `lines` has the user's lines of the traceback, or what the trainers wrote last."""

    def __init__(self, message: str, lines: str = "") -> None:
        super().__init__(f"{message}\n{lines}" if lines else message)
        self.message = message
        self.lines = lines


@dataclass(frozen=True, repr=False)
class Result:
    """What a job has trained.

    `digest` is the hash of the final weights, moments and place in the data: equal digests mean equal bits. `losses`
    and `validation` are lists of (step, loss), which are thinned to 400 points where there are more steps.
    `checkpoint` is the path or URI of the final checkpoint, and `path` the folder with its weights as safetensors
    files. Both are None where there are no weights. `folder` is the one in which the run has kept its state, and the
    output of the workers below `nodes/*/logs` if it has trained on this machine."""

    name: str
    uid: str
    digest: str
    losses: list[tuple[int, float]]
    validation: list[tuple[int, float]]
    checkpoint: str | None
    path: str | None
    folder: str = ""
    # `missing` says why there are no weights.
    missing: str = ""

    def __repr__(self) -> str:
        """Returns one line. The curves are told by how they end."""
        def end(points: list[tuple[int, float]]) -> str:
            return f"{len(points)} points, the last one ({points[-1][0]}, {points[-1][1]:.6g})" if points else "none"

        return (f"Result(name={self.name!r}, uid={self.uid!r}, digest={self.digest!r}, losses: {end(self.losses)}; "
                f"validation: {end(self.validation)}; checkpoint={self.checkpoint!r}, path={self.path!r})")

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Returns the weights and persistent buffers by the names that they have in the module.

        Frozen parameters, which training does not change, are not among them, and a tied tensor is there once, under
        its first name. Raises Refused where no weights were kept."""
        if self.path is None:
            raise Refused(f"there are no weights of job {self.name}: {self.missing}")
        return read_weights(self.path)

    def load_into(self, module: torch.nn.Module) -> None:
        """Puts the weights and persistent buffers into a module like the one that task() makes.

        It may be compiled, or be the one inside of a compiled one. Raises Refused where the module has no place for a
        tensor, or no weights were kept."""
        from rekindle.layout import plain

        own = {plain(name): tensor for name, tensor in module.state_dict().items()}
        trained = self.state_dict()
        for name, values in trained.items():
            place = own.get(name)
            if place is None or place.shape != values.shape:
                has = "no such tensor" if place is None else f"one of the shape {list(place.shape)}"
                raise Refused(f"job {self.name} has trained {name} of the shape {list(values.shape)}, and the module "
                              f"{type(module).__name__} has {has}; give a module like the one that task() makes")
        for name, values in trained.items():
            own[name].copy_(values)


def read_weights(folder: str) -> dict[str, torch.Tensor]:
    """Returns the tensors of a set of safetensors files."""
    index = os.path.join(folder, "model.safetensors.index.json")
    names = ["model.safetensors"]
    if os.path.exists(index):
        with open(index, encoding="utf-8") as file:
            names = sorted(set(json.load(file)["weight_map"].values()))
    found: dict[str, torch.Tensor] = {}
    for name in names:
        found.update(_read_file(os.path.join(folder, os.path.basename(name))))
    return found


def _read_file(path: str) -> dict[str, torch.Tensor]:
    import torch

    types = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
    found: dict[str, torch.Tensor] = {}
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > _LONGEST_HEADER:
            raise Refused(f"{path} is no safetensors file; remove its folder and run again")
        header: dict[str, Any] = json.loads(file.read(length))
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            begin, end = entry["data_offsets"]
            file.seek(8 + length + begin)
            data = bytearray(file.read(end - begin))
            if len(data) != end - begin or entry["dtype"] not in types:
                raise Refused(f"{path} is damaged at {name}; remove its folder and run again")
            values = torch.frombuffer(data, dtype=types[entry["dtype"]]) if data else torch.empty(
                0, dtype=types[entry["dtype"]])
            found[name] = values.reshape(entry["shape"])
    return found


def curve(points: list[Mapping[str, Any]]) -> list[tuple[int, float]]:
    return [(int(point["step"]), float(point["value"])) for point in points]
