"""Trains a task: on this machine by `run`, or on a cluster that is there already by `submit`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rekindle.errors import Refused
from rekindle.running import describing, job_file, place, programs, session
from rekindle.running.cluster import LocalCluster, ProjectFolder
from rekindle.running.job_file import Wanted
from rekindle.running.options import Checkpoint, Optimizer, Schedule
from rekindle.running.progress import Progress
from rekindle.running.result import Failed, Result


def run(task: Callable[[], Any], *, steps: int, batch: int, micro_batch: int | Literal["auto"] | None = None,
        workers: int | tuple[int, int] = (1, 1), optimizer: Optimizer | None = None, schedule: Schedule | None = None,
        precision: str = "fp32", reduce: str = "exact", seed: int = 1, clip_norm: float | None = None,
        evaluate_every: int | None = None, evaluate_micro_batches: int | None = None,
        checkpoint: Checkpoint | int | None = None, data_workers: int | None = None, start_minutes: int | None = None,
        env_from: Sequence[str] = (), name: str | None = None, fresh: bool = False,
        cluster: str | None = None) -> Result:
    """Trains the task on this machine until all steps are made, and returns the result.

    `task` is a function without arguments at the top of a file that returns a rekindle.Task. Other processes import
    the file, so the call of run() is below `if __name__ == "__main__":`.

    `batch` is the number of samples of a step. It is divided into parts of `micro_batch` samples, which move between
    workers. `workers` is a number, or the least and the greatest number. Here it is as many of them as this machine
    has processors. With reduce="exact" the result has the same bits on any number of workers. `optimizer` is AdamW()
    and `schedule` Cosine() by default. `checkpoint` is a rekindle.Checkpoint, or the number of steps between two.
    `env_from` names variables that the task finds in its environment, where few others are. On this machine their
    values are those of this process, and on a cluster they lie on each node. docs/jobs.md says what else each argument
    means, and which default it has where it is None. So `clip_norm` is 1 by default, and 0 for no clipping.

    A second call with the same arguments goes on where the job was, or returns the result of a job that has made all
    its steps. A job that has failed goes on from its newest checkpoint. With `fresh` it begins anew, and forgets the
    earlier job of that name with its checkpoints. Jobs of one folder that have different names do not disturb each
    other. `cluster` is the address of a coordinator. With it no cluster is started here.

    Ctrl-C pauses the job with a checkpoint, stops all that was started, and raises KeyboardInterrupt. Raises Refused
    for an argument that is wrong, and Failed with the lines of the user's code where that has raised an error."""
    found = place.find(task, "run")
    job = job_file.describe(found, Wanted(
        steps, batch, micro_batch, workers, optimizer, schedule, precision, reduce, seed, clip_norm, evaluate_every,
        evaluate_micro_batches, checkpoint, data_workers, start_minutes, env_from, name))
    _check_address("cluster", cluster)
    describing.hand_over(job)
    program = programs.find()
    folder = ProjectFolder(found.folder)
    progress = Progress(sys.stderr)
    if cluster is not None:
        client = programs.Client(program, cluster, progress.say)
        return session.Session(client, folder, None, progress).run(found, describing.with_bundle(job), fresh)
    count = _workers_here(job["spec"]["workers"])
    values = _values(job["spec"]["model"].get("env_from", []))
    with LocalCluster(program, folder, count, values, progress.say) as local:
        progress.say(f"trains job {job['name']} on this machine with {count} worker{'s' if count > 1 else ''}; "
                     f"`rekindle watch {job['name']} --endpoint {local.endpoint}` shows more")
        client = programs.Client(program, local.endpoint, progress.say)
        return session.Session(client, folder, local, progress).run(found, job, fresh)


@dataclass(frozen=True)
class Submitted:
    """Names a job that was submitted. `rekindle watch NAME` follows it."""

    name: str
    uid: str


def submit(task: Callable[[], Any], *, steps: int, batch: int, micro_batch: int | Literal["auto"] | None = None,
           workers: int | tuple[int, int] = (1, 1), optimizer: Optimizer | None = None,
           schedule: Schedule | None = None, precision: str = "fp32", reduce: str = "exact", seed: int = 1,
           clip_norm: float | None = None, evaluate_every: int | None = None,
           evaluate_micro_batches: int | None = None, checkpoint: Checkpoint | int | None = None,
           data_workers: int | None = None, start_minutes: int | None = None, env_from: Sequence[str] = (),
           name: str | None = None, endpoint: str | None = None) -> Submitted:
    """Submits the task as a job, and returns at once.

    The arguments are those of run(). `endpoint` is the address of a coordinator. Without it the job goes to the one
    that the command `rekindle` uses: that of REKINDLE_ENDPOINT or of the context, or else 127.0.0.1:7070. The folder
    of the task's file is sent along, without what .gitignore and .rekindleignore in it leave out. Raises Refused, and
    Failed where the coordinator cannot be reached."""
    found = place.find(task, "submit")
    job = job_file.describe(found, Wanted(
        steps, batch, micro_batch, workers, optimizer, schedule, precision, reduce, seed, clip_norm, evaluate_every,
        evaluate_micro_batches, checkpoint, data_workers, start_minutes, env_from, name))
    _check_address("endpoint", endpoint)
    describing.hand_over(job)
    client = programs.Client(programs.find(), endpoint, Progress(sys.stderr).say)
    try:
        submitted = session.submit(client, ProjectFolder(found.folder), found, describing.with_bundle(job))
    except programs.ProgramError as error:
        raise Failed(error.message) from None
    return Submitted(submitted["name"], submitted["uid"])


def _check_address(where: str, address: Any) -> None:
    if address is not None and (not isinstance(address, str) or not address.rpartition(":")[2].isdigit()):
        raise Refused(f"{where} is {address!r}; give the address of a coordinator, such as '127.0.0.1:7070'")


def _values(names: Sequence[str]) -> dict[str, str]:
    """Returns the values that this process has for variables of the task."""
    for name in names:
        if name not in os.environ:
            raise Refused(f"env_from has {name}, which is not set here; set it, or leave it out of env_from")
        if "\n" in os.environ[name]:
            raise Refused(f"env_from has {name}, whose value has several lines; give one of one line")
    return {name: os.environ[name] for name in names}


def _workers_here(workers: dict[str, int]) -> int:
    """Returns how many workers this machine gets: the most that were asked for, or as many as it has processors."""
    return max(workers["min"], min(workers["max"], len(os.sched_getaffinity(0))))
