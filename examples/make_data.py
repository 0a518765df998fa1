#!/usr/bin/env python3
"""Makes small data, so that each example can be seen to run: make_data.py images|table|gpt2 FOLDER"""
import json
import math
import pathlib
import random
import struct
import sys

IMAGES, ROWS, TOKENS = 1000, 4000, 40_000
# The sizes of the weights are those of examples/gpt2-from-weights.yaml.
LAYERS, WIDTH, CONTEXT, VOCABULARY = 2, 32, 64, 512


def images(folder):
    """Writes records in the format of CIFAR-10. An image of class c has stripes of c + 1 pixels and some noise."""
    draw = random.Random(1)
    with open(folder / "images.bin", "wb") as file:
        for _ in range(IMAGES):
            label, across = draw.randrange(10), draw.random() < 0.5
            colour = [draw.randrange(100, 256) for _ in range(3)]
            plane = [1 if (x if across else y) // (label + 1) % 2 else 0 for y in range(32) for x in range(32)]
            noise = draw.randbytes(3 * 1024)
            pixels = (plane[i % 1024] * colour[i // 1024] * 3 // 4 + noise[i] // 4 for i in range(3 * 1024))
            file.write(bytes([label]) + bytes(pixels))


def table(folder):
    """Writes a table of points, and whether each is inside a ring."""
    import pyarrow
    import pyarrow.parquet
    draw = random.Random(1)
    points = [(draw.uniform(-2, 2), draw.uniform(-2, 2)) for _ in range(ROWS)]
    columns = {"x": [x for x, _ in points], "y": [y for _, y in points], "day": [i % 365 for i in range(ROWS)],
               "inside": [int(1 < math.hypot(x, y) < 2) for x, y in points]}
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "table.parquet", row_group_size=1500)


def gpt2(folder):
    """Writes token ids in a simple pattern, and random weights with the same tensors as a published GPT-2."""
    draw = random.Random(1)
    ids = [0]
    for _ in range(TOKENS):
        ids.append((ids[-1] * 5 + draw.choice([1, 1, 1, 7])) % VOCABULARY)
    (folder / "tokens.bin").write_bytes(struct.pack(f"<{len(ids)}H", *ids))

    shapes = {"wte.weight": [VOCABULARY, WIDTH], "wpe.weight": [CONTEXT, WIDTH], "lm_head.weight": [VOCABULARY, WIDTH]}
    for layer in range(LAYERS):
        block = f"h.{layer}."
        for name, (inputs, outputs) in {"attn.c_attn": (WIDTH, 3 * WIDTH), "attn.c_proj": (WIDTH, WIDTH),
                                        "mlp.c_fc": (WIDTH, 4 * WIDTH), "mlp.c_proj": (4 * WIDTH, WIDTH)}.items():
            shapes[block + name + ".weight"] = [inputs, outputs]
            shapes[block + name + ".bias"] = [outputs]
        shapes[block + "attn.bias"] = [1, 1, CONTEXT, CONTEXT]
        for norm in ("ln_1", "ln_2"):
            shapes[f"{block}{norm}.weight"] = shapes[f"{block}{norm}.bias"] = [WIDTH]
    shapes["ln_f.weight"] = shapes["ln_f.bias"] = [WIDTH]
    header, data = {}, bytearray()
    for name, shape in shapes.items():
        count, begin = math.prod(shape), len(data)
        norm = name.endswith("weight") and "ln_" in name
        values = [1.0 if norm else draw.gauss(0, 0.02) if len(shape) > 1 else 0.0 for _ in range(count)]
        data += struct.pack(f"<{count}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    (folder / "gpt2").mkdir(exist_ok=True)
    (folder / "gpt2" / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


MAKERS = {"images": images, "table": table, "gpt2": gpt2}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in MAKERS:
        sys.exit(__doc__)
    target = pathlib.Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    MAKERS[sys.argv[1]](target)
    print(f"wrote {sys.argv[1]} into {target}")
