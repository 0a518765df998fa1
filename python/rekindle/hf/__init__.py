"""Trains a model of Hugging Face with the arguments of its Trainer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from rekindle import task as tasks
from rekindle.errors import Refused
from rekindle.hf import arguments, names
from rekindle.running import place
from rekindle.running.job_file import default_name
from rekindle.running.options import Checkpoint, Optimizer, Schedule
from rekindle.running.result import Result

__all__ = ["check", "run", "submit", "task"]
HOW_TO_WRITE = """
    def model_init():
        return AutoModelForCausalLM.from_config(config)
    train_set = Texts()
    args = TrainingArguments("out", max_steps=1000, per_device_train_batch_size=8)
    if __name__ == "__main__":
        rekindle.hf.{call}(model_init, args, train_dataset=train_set)"""


def run(model_init: Callable[[], Any], args: Any, *, train_dataset: Any, eval_dataset: Any = None,
        data_collator: Callable[[list[Any]], Any] | None = None, compute_loss_func: Callable[..., Any] | None = None,
        micro_batch: int | None = None, workers: int | tuple[int, int] = (1, 1),
        optimizer: Optimizer | None = None, schedule: Schedule | None = None, reduce: str = "exact",
        evaluate_micro_batches: int | None = None, checkpoint: Checkpoint | int | None = None,
        start_minutes: int | None = None, env_from: Sequence[str] = (), name: str | None = None, fresh: bool = False,
        cluster: str | None = None) -> Result:
    """Trains what HF's Trainer would train with the same arguments, and returns the result, as rekindle.run does.

    `args` is a transformers.TrainingArguments. Each field of it that is not at its default is mapped to something
    here, has no meaning here, or is refused by name. docs/own-models-hf.md has the list. A step has
    `gradient_accumulation_steps` times `per_device_train_batch_size` samples, on whatever number of workers.
    `micro_batch` cuts it into smaller parts, so that more workers share them. `optimizer`, `schedule` and `checkpoint`
    stand in the place of what `args` says.

    Everything that is given here, but numbers and texts, has a name at the top of the file of `model_init`, because
    other processes import it from there."""
    job = _job("run", args, {"model_init": model_init, "args": args, "train_dataset": train_dataset,
                             "eval_dataset": eval_dataset, "data_collator": data_collator,
                             "compute_loss_func": compute_loss_func})
    from rekindle.run import run as train

    read = arguments.read(args, _samples(train_dataset), optimizer=optimizer, schedule=schedule, checkpoint=checkpoint)
    keywords = _keywords(read, micro_batch, eval_dataset)
    return train(job, **keywords, workers=workers, reduce=reduce, evaluate_micro_batches=evaluate_micro_batches,
                 start_minutes=start_minutes, env_from=env_from, name=name or default_name(job.module), fresh=fresh,
                 cluster=cluster)


def submit(model_init: Callable[[], Any], args: Any, *, train_dataset: Any, eval_dataset: Any = None,
           data_collator: Callable[[list[Any]], Any] | None = None, compute_loss_func: Callable[..., Any] | None = None,
           micro_batch: int | None = None, workers: int | tuple[int, int] = (1, 1),
           optimizer: Optimizer | None = None, schedule: Schedule | None = None, reduce: str = "exact",
           evaluate_micro_batches: int | None = None, checkpoint: Checkpoint | int | None = None,
           start_minutes: int | None = None, env_from: Sequence[str] = (), name: str | None = None,
           endpoint: str | None = None) -> Any:
    """Submits the same as a job, and returns at once, as rekindle.submit does."""
    job = _job("submit", args, {"model_init": model_init, "args": args, "train_dataset": train_dataset,
                                "eval_dataset": eval_dataset, "data_collator": data_collator,
                                "compute_loss_func": compute_loss_func})
    from rekindle.run import submit as send

    read = arguments.read(args, _samples(train_dataset), optimizer=optimizer, schedule=schedule, checkpoint=checkpoint)
    keywords = _keywords(read, micro_batch, eval_dataset)
    return send(job, **keywords, workers=workers, reduce=reduce, evaluate_micro_batches=evaluate_micro_batches,
                start_minutes=start_minutes, env_from=env_from, name=name or default_name(job.module),
                endpoint=endpoint)


def task(model_init: Callable[[], Any], args: Any, *, train_dataset: Any, eval_dataset: Any = None,
         data_collator: Callable[[list[Any]], Any] | None = None,
         compute_loss_func: Callable[..., Any] | None = None) -> tasks.Task:
    """Returns the rekindle.Task that run() trains, for a task() function of your own."""
    from rekindle.hf.model import make

    return make(model_init, args, train_dataset, eval_dataset, data_collator, compute_loss_func)


def check(model_init: Callable[[], Any], args: Any, *, train_dataset: Any, eval_dataset: Any = None,
          data_collator: Callable[[list[Any]], Any] | None = None,
          compute_loss_func: Callable[..., Any] | None = None) -> Any:
    """Shows whether the result depends on weights and samples alone, as rekindle.check does."""
    job = _job("check", args, {"model_init": model_init, "args": args, "train_dataset": train_dataset,
                               "eval_dataset": eval_dataset, "data_collator": data_collator,
                               "compute_loss_func": compute_loss_func})
    from rekindle.checks.call import check as examine

    read = arguments.read(args, _samples(train_dataset))
    return examine(job, micro_batch=read.micro_batch, seed=read.seed, precision=read.precision)


def _job(call: str, args: Any, given: dict[str, Any]) -> tasks.Located:
    """Returns the task that other processes make of the same parts. Raises Refused."""
    arguments.check(args)
    how = HOW_TO_WRITE.format(call=call)
    found = place.find(given["model_init"], f"hf.{call}", how)
    module = sys.modules[given["model_init"].__module__]
    try:
        attribute = names.write(module, given)
    except Refused as error:
        raise Refused(f"{error.message}. The lines to write:{how}") from None
    place.check_outside_guard(found.file, attribute.split(".")[1:], how)
    name = found.task.partition(":")[0]
    return tasks.Located(f"{name}:{attribute}", found.folder, found.file, name)


def _samples(train_dataset: Any) -> int:
    try:
        return len(train_dataset)
    except TypeError:
        raise Refused(f"train_dataset is of type {type(train_dataset).__name__}, which has no length, so none of its "
                      "samples could be read again; give a Dataset with __len__ and __getitem__, such as list(dataset)"
                      ) from None


def _keywords(read: arguments.Run, micro_batch: int | None, eval_dataset: Any) -> dict[str, Any]:
    keywords = read.to_keywords()
    if micro_batch is not None:
        keywords["micro_batch"] = micro_batch
    if read.evaluate_every is not None and eval_dataset is None:
        raise Refused("TrainingArguments has an eval_strategy, and there is no eval_dataset; give eval_dataset=, or "
                      "leave eval_strategy out")
    return keywords
