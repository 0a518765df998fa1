"""Compares 20 steps of models of tests/zoo with the same steps by PyTorch. Prints {model: {"off", "itself"}} as JSON.

usage: _parity.py adamw|sgd LIMIT [always | all | NAME,...]

A difference is the largest one of a weight, as a fraction of the largest weight of its tensor. `off` is that to
PyTorch. Where it is above LIMIT, `itself` is that of PyTorch to itself with other rounding errors: some models take 20
steps to other weights when a last bit changes, and are no measure then. Else it is null."""
import fnmatch
import json
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ZOO = ROOT / "tests" / "zoo"
sys.path[:0] = [str(ROOT / "tests" / name) for name in ("python", "harness", "zoo")]

import base  # noqa: E402, F401

import choice  # noqa: E402
import packages  # noqa: E402
import torch  # noqa: E402
from cluster import Cluster  # noqa: E402
from plain import Plain  # noqa: E402
from rekindle.layout import plain as plain_name  # noqa: E402
from rekindle.running.result import read_weights  # noqa: E402
from sample_order import drawn  # noqa: E402

SEED, STEPS, MICRO_BATCHES = 3, 20, 2
# PyTorch is compared with itself in `REPEATED` runs whose gradients are moved by the share `ROUNDING` of the largest
# one, as by one rounding to float32.
REPEATED, ROUNDING = 3, 2.0**-24
# The epsilon keeps AdamW from making large steps of gradients that are only rounding errors of zero.
RATES = {"adamw": {"learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.95, "epsilon": 1e-5, "weight_decay": 0.1},
         "sgd": {"learning_rate": 1e-2, "momentum": 0.9, "weight_decay": 1e-4}}


def job(model, kind):
    return {"name": model.name.replace("_", "-"), "spec": {
        "seed": SEED, "workers": {"min": 1, "max": 1}, "model": {"python": model.spec, "folder": str(ZOO)},
        "training": {"steps": STEPS, "global_batch": MICRO_BATCHES * model.micro_batch,
                     "micro_batch": model.micro_batch, "reduce": "exact", "clip_norm": 1.0},
        "optimizer": {"kind": kind, **RATES[kind]}, "schedule": {"kind": "constant", "warmup_steps": 0},
        "checkpoint": {"every_steps": STEPS}}}


def by_pattern(options, name, otherwise):
    """Returns the value of the first pattern that matches a name."""
    return next((value for pattern, value in options.items() if fnmatch.fnmatchcase(plain_name(name), pattern)),
                otherwise)


def optimizer_of(kind, weights, own):
    """Returns PyTorch's optimizer of weights by name. `own` are the groups of the task."""
    rates, groups = RATES[kind], []
    for name, weight in weights.items():
        options = by_pattern(own, name, {})
        decay = options.get("weight_decay", weight.ndim >= 2)
        groups.append({"params": [weight], "lr": options.get("learning_rate", rates["learning_rate"]),
                       "weight_decay": decay * rates["weight_decay"] if isinstance(decay, bool) else decay})
    if kind == "sgd":
        return torch.optim.SGD(groups, lr=rates["learning_rate"], momentum=rates["momentum"])
    return torch.optim.AdamW(groups, lr=rates["learning_rate"], betas=(rates["beta1"], rates["beta2"]),
                             eps=rates["epsilon"])


def buffers_after(task, before, after):
    """Returns what a step makes of the buffers, of which `after` has the values after each of its micro-batches."""
    made = {}
    for name, old in before.items():
        rule = by_pattern(task.buffers, name, "mean")
        values = [one[name] for one in after]
        mean = torch.stack(values).mean(0) if old.is_floating_point() and rule == "mean" else values[0]
        made[name] = old if rule == "frozen" else mean
    return made


def persistent(module):
    """Returns the buffers that are part of the state, as pairs of name and value. A forward may change no others."""
    kept = module.state_dict().keys()
    return [(name, buffer) for name, buffer in module.named_buffers() if name in kept]


def set_buffers(module, values):
    with torch.no_grad():
        for name, buffer in persistent(module):
            buffer.copy_(values[name])


def copies(tensors):
    return {name: tensor.detach().clone() for name, tensor in tensors}


def by_pytorch(model, kind, disturbed=None):
    """Returns the weights by name after the steps. The number `disturbed` draws other rounding errors of gradients."""
    noise = torch.Generator().manual_seed(disturbed or 0)
    loop = Plain(model.make, SEED)
    module, size = loop.task.module, model.micro_batch
    trained = {name: parameter for name, parameter in module.named_parameters() if parameter.requires_grad}
    # A parameter of another type is a rounded copy of a weight in float32, as in a trainer.
    weights = {name: torch.nn.Parameter(parameter.detach().float().clone()) for name, parameter in trained.items()}
    optimizer = optimizer_of(kind, weights, loop.task.groups)
    numbers = drawn(SEED, len(loop.task.data), STEPS * MICRO_BATCHES * size)
    for step in range(STEPS):
        before, after, sums, count = copies(persistent(module)), [], {}, 0
        for index in range(MICRO_BATCHES):
            set_buffers(module, before)
            first = (step * MICRO_BATCHES + index) * size
            _, gradients = loop.compute(numbers[first:first + size], step=step, index=index, first=first)
            count += loop.count
            after.append(copies(persistent(module)))
            for name, gradient in gradients.items():
                sums[name] = sums[name] + gradient if name in sums else gradient.float().clone()
        set_buffers(module, buffers_after(loop.task, before, after))
        for name, weight in weights.items():
            weight.grad = sums[name] / count if name in sums else None
            if weight.grad is not None and disturbed is not None:
                signs = 2 * torch.rand(weight.grad.shape, generator=noise) - 1
                weight.grad += signs * ROUNDING * weight.grad.abs().max()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimizer.step()
        with torch.no_grad():
            for name, parameter in trained.items():
                parameter.copy_(weights[name])
    return {plain_name(name): weight.detach() for name, weight in weights.items()}


def difference(ours, theirs):
    most = max(float(value.abs().max()) for value in theirs.values())
    return max(float((ours[name].float() - value).abs().max()) / max(float(value.abs().max()), 1e-3 * most)
               for name, value in theirs.items())


def main(kind, limit, *words):
    torch.use_deterministic_algorithms(True)
    models = choice.those_that_run(choice.chosen(words))
    paths = os.pathsep.join(filter(None, [str(ROOT / "python"), packages.use()]))
    found = {}
    with tempfile.TemporaryDirectory() as folder, Cluster(
            pathlib.Path(folder, "cluster"), nodes=("a",), worker_flags={"a": ["--python", sys.executable]},
            worker_env={"a": {"PYTHONPATH": paths}}) as cluster:
        cluster.start()
        for model in models:
            uid = cluster.submit(job(model, kind))["uid"]
            status = cluster.await_end(uid)
            if status["state"] != "SUCCEEDED":
                sys.exit(f"{model.name}: {status['reason']}")
            weights = pathlib.Path(folder, model.name)
            cluster.cli("checkpoint", "export", uid, str(weights))
            theirs = by_pytorch(model, kind)
            off, itself = difference(read_weights(str(weights)), theirs), None
            if off > float(limit):
                itself = max(difference(by_pytorch(model, kind, seed), theirs) for seed in range(1, REPEATED + 1))
            found[model.name] = {"off": off, "itself": itself}
            shown = "" if itself is None else f", and PyTorch is off itself by {itself:.1e}"
            print(f"{model.name}: {off:.1e}{shown}", file=sys.stderr, flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
