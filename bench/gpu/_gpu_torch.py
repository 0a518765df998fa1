"""Trains GPT-2 with PyTorch as the peer of gpu.py: BF16 by autocast, fused AdamW; prints each figure as a line of JSON.

Shapes, batch and number of micro-batches are those of rekindle-bench-gpu-train, with one exception: the vocabulary of
the compiled model is padded to a multiple of 64, from 50257 to 50304, as who compiles GPT-2 does for the sake of speed.
Its cross-entropy has the padded logits too, and no target is one of them. Speed is the median of seven whole steps.
With checkpoints it is the mean, because each of them slows down several steps.
"""
import argparse
import json
import statistics
import tempfile
import time

import torch
from torch import nn
from torch.nn import functional as F

ROUNDS, WARM = 7, 3
# Large products are fast where their sizes are multiples of `PADDED`.
PADDED = 64


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        n, t, width = x.shape
        q, k, v = (part.view(n, t, self.heads, width // self.heads).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).split(width, dim=2))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(n, t, width))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, a, vocabulary):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, a.width), nn.Embedding(a.context, a.width)
        self.blocks = nn.Sequential(*(Block(a.width, a.heads) for _ in range(a.layers)))
        self.norm = nn.LayerNorm(a.width)

    def forward(self, inputs, targets):
        h = self.tokens(inputs) + self.positions.weight[:inputs.shape[1]]
        logits = F.linear(self.norm(self.blocks(h)), self.tokens.weight)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]).float(), targets.view(-1))


def settle(device):
    if device == "cuda":
        torch.cuda.synchronize()


def tokens_per_second(a, compiled=False, after_step=None, middle=statistics.median):
    torch.manual_seed(1)
    vocabulary = -(-a.vocabulary // PADDED) * PADDED if compiled else a.vocabulary
    model = Gpt2(a, vocabulary).to(a.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    run = torch.compile(model) if compiled else model
    batch = torch.randint(0, a.vocabulary, (a.sequences, a.context + 1), device=a.device)
    seconds = []
    for _ in range(WARM + ROUNDS):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        for _ in range(a.micro_batches):
            with torch.autocast(a.device, dtype=torch.bfloat16):
                loss = run(batch[:, :-1], batch[:, 1:].contiguous()) / a.micro_batches
            loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if after_step:
            after_step(model, optimizer)
        settle(a.device)
        seconds.append(time.perf_counter() - start)
    return a.sequences * a.context * a.micro_batches / middle(seconds[WARM:])


def speed_with_checkpoints(a):
    """Returns the speed with an asynchronous checkpoint after each step, divided by that without."""
    import torch.distributed as dist
    from torch.distributed import checkpoint as dcp
    saves = []
    with tempfile.TemporaryDirectory() as folder:
        backend = "cpu:gloo,cuda:nccl" if a.device == "cuda" else "gloo"
        dist.init_process_group(backend, init_method=f"file://{folder}/group", rank=0, world_size=1)

        def save(model, optimizer):
            if saves:
                saves[-1].result()
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            saves.append(dcp.async_save(state, checkpoint_id=f"{folder}/{len(saves)}"))

        with_checkpoints = tokens_per_second(a, after_step=save, middle=statistics.mean)
        saves[-1].result()
        dist.destroy_process_group()
    return with_checkpoints / tokens_per_second(a, middle=statistics.mean)


def matmul_flops(a):
    """Returns the operations a second that a large matrix product in BF16 reaches, which is the limit for training."""
    n = 8192 if a.device == "cuda" else 512
    x = torch.randn(n, n, device=a.device, dtype=torch.bfloat16)
    seconds = []
    for _ in range(WARM + ROUNDS):
        settle(a.device)
        start = time.perf_counter()
        x @ x
        settle(a.device)
        seconds.append(time.perf_counter() - start)
    return 2 * n**3 / statistics.median(seconds[WARM:])


FIGURES = {"eager": tokens_per_second, "compile": lambda a: tokens_per_second(a, compiled=True),
           "matmul_flops": matmul_flops, "speed_with_checkpoints": speed_with_checkpoints}


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("figures", nargs="+", choices=FIGURES)
    p.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    for name, value in (("layers", 12), ("heads", 12), ("width", 768), ("context", 1024), ("vocabulary", 50257),
                        ("sequences", 16), ("micro-batches", 2)):
        p.add_argument(f"--{name}", type=int, default=value)
    a = p.parse_args()
    for name in a.figures:
        # A line leaves this process at once, because the next figure may hang.
        print(json.dumps({"figure": name, "value": FIGURES[name](a)}), flush=True)


if __name__ == "__main__":
    main()
