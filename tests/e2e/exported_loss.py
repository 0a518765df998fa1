"""Prints as JSON an exported set's mean validation loss and the logits that trainer_logits.cc prints, by PyTorch alone.

The JSON also has the types that were read.

usage: exported_loss.py SET TEXT LAYERS HEADS WIDTH CONTEXT FRACTION

This needs torch and safetensors. All windows of the validation text are read, as worker/data/kinds/token_windows.h cuts
them.
"""
import json
import math
import pathlib
import sys

import torch
from safetensors.torch import load_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "worker/models/kinds"))
from gpt_parity import Gpt  # noqa: E402


def load(folder):
    index = folder / "model.safetensors.index.json"
    if not index.exists():
        return load_file(folder / "model.safetensors")
    weights = {}
    for tensor, name in json.loads(index.read_text())["weight_map"].items():
        weights[tensor] = load_file(folder / name)[tensor]
    return weights


def main():
    folder, text = map(pathlib.Path, sys.argv[1:3])
    layers, heads, width, context = map(int, sys.argv[3:7])
    torch.set_num_threads(1)
    weights = load(folder)
    model = Gpt(layers, heads, width, context)
    # The weights are loaded strictly: every name and every shape has to match the model.
    model.load_state_dict(weights)
    data = text.read_bytes()
    held = data[-math.floor(len(data) * float(sys.argv[7])):]
    windows = torch.tensor([list(held[at:at + context + 1]) for at in range(0, len(held) - context, context)])
    total = 0.0
    with torch.no_grad():
        for some in windows.split(16):
            total += model(some[:, :-1], some[:, 1:]).double().item()
        logits = [model.logits(torch.tensor([list(data[:n])]))[0, -1].tolist() for n in (1, context // 2, context)]
    print(json.dumps({"logits": logits, "loss": total / (len(windows) * context), "windows": len(windows),
                      "types": sorted({str(tensor.dtype) for tensor in weights.values()})}))


main()
