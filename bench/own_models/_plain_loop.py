"""Trains a task as a script of PyTorch does: a DataLoader with one process, AdamW and clipping.

usage: _plain_loop.py TASK STEPS MICRO_BATCH MICRO_BATCHES EVENTS [CHECKPOINT]

Each step is a line of JSON in the file EVENTS. Processes that torchrun has started divide the micro-batches of a step
by DDP. With CHECKPOINT they save each fifth step there, and go on from what is there."""
import contextlib
import json
import os
import sys
import time

import torch

import _own_tasks

SAVE_EVERY = 5


def batches(data, size, begin):
    """Yields batches of drawn samples. Those before number `begin` are left out."""
    def numbers():
        drawn = torch.Generator().manual_seed(1)
        number = 0
        while True:
            for batch in torch.randperm(len(data), generator=drawn).split(size):
                if len(batch) == size and number >= begin:
                    yield batch.tolist()
                number += 1
    return iter(torch.utils.data.DataLoader(data, batch_sampler=numbers(), num_workers=1))


def make(name):
    """Returns the task and its optimizer, which has the settings of the jobs that are compared."""
    torch.manual_seed(1)
    task = getattr(_own_tasks, name)()
    parameters = list(task.module.parameters())
    groups = [{"params": [p for p in parameters if p.ndim >= 2], "weight_decay": 0.1},
              {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0}]
    return task, torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.95), eps=1e-8)


def train_step(module, task, optimizer, feed, share):
    """Makes one step of `share` micro-batches of this process. The last one exchanges gradients, where DDP does."""
    optimizer.zero_grad(set_to_none=True)
    for number in range(share):
        with contextlib.nullcontext() if number == share - 1 or module is task.module else module.no_sync():
            result = task.loss(module, next(feed))
            (result.loss_sum / (result.count * share)).backward()
    torch.nn.utils.clip_grad_norm_(task.module.parameters(), 1.0)
    optimizer.step()


def main(name, steps, micro_batch, micro_batches, events, checkpoint=None):
    torch.set_num_threads(1)
    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    log = os.open(events, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    task, optimizer = make(name)
    module, step = task.module, 0
    if world > 1:
        torch.distributed.init_process_group("gloo")
    if checkpoint and os.path.exists(checkpoint):
        saved = torch.load(checkpoint)
        module.load_state_dict(saved["module"])
        optimizer.load_state_dict(saved["optimizer"])
        step = saved["step"]
    if world > 1:
        module = torch.nn.parallel.DistributedDataParallel(module, gradient_as_bucket_view=True)
    share = int(micro_batches) // world
    feed = batches(task.data, int(micro_batch), step * share)
    while step < int(steps):
        train_step(module, task, optimizer, feed, share)
        step += 1
        line = {"t": time.monotonic(), "step": step, "rank": rank, "pid": os.getpid()}
        os.write(log, (json.dumps(line) + "\n").encode())
        if checkpoint and rank == 0 and step % SAVE_EVERY == 0:
            torch.save({"module": task.module.state_dict(), "optimizer": optimizer.state_dict(), "step": step},
                       f"{checkpoint}.new")
            os.replace(f"{checkpoint}.new", checkpoint)


if __name__ == "__main__":
    main(*sys.argv[1:])
