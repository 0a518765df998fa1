"""The warm process of a job: has the imports of its task, and forks model processes for the trainers of a node.

It never calls the task, starts no thread and uses no GPU. Its starter gives it a listening socket of type
SOCK_SEQPACKET, and whoever may connect to that may have user code run. A connection belongs to one trainer. Each packet
on it is a JSON object of at most 4096 bytes. The warm process sends first, as soon as the imports are done:

  {"ready": true, "pid": P, "seconds": S}                          The imports took S seconds.
  {"ready": false, "reason": R, "import": M, "seconds": S}         It will fork nothing. M is the module in whose import
                                                                   the reason lies, or "" if that is not known.
Trainer to warm process:

  {"verb": "fork", "faults": PATH or null}     With three descriptors (SCM_RIGHTS): the end of a SOCK_SEQPACKET pair for
                                               the model process, a file for its output, and a pidfd of the trainer.
                                               PATH is absolute, and it is for faults of the processor.
  {"verb": "kill", "pid": N}                   Kills a process that this connection has started. If it has ended
                                               already, nothing happens.
Warm process to trainer:

  {"pid": N} or {"refused": WHY}               The answer to "fork". Answers come in the order of the requests.
  {"ended": N, "code": C}                      Process N has ended with exit code C, or by the signal -C.
  {"closed": WHY}                              A packet was wrong. The connection is closed after this.

A process that was forked leads a session. It and all of its descendants are killed when it ends, when its trainer
ends, when the connection is closed, or when the warm process ends."""

from __future__ import annotations

import argparse
import fcntl
import importlib
import os
import signal
import socket
import sys
import time
from typing import NoReturn

from rekindle import processes, task
from rekindle.errors import Refused, said
from rekindle.forking import forkable
from rekindle.forking.forkable import Obstacle
from rekindle.forking.forker import Forker, has_ended, is_pidfd, is_socket


def _prepare(folder: str, spec: str, seed: int) -> tuple[forkable.Watch, Obstacle | None]:
    """Imports what a model process needs. Returns what is known of it, and what is in the way of forks."""
    with forkable.Watch() as watch:
        try:
            importlib.import_module("rekindle.child")
            # What the user's file draws while it is imported is the same as in a process that starts cold.
            importlib.import_module("rekindle.randomness").seed_task(seed)
            task.load(spec, folder)
        except Refused as error:
            return watch, Obstacle(error.message, watch.failed)
        except BaseException as error:
            return watch, Obstacle(f"importing PyTorch raised {said(error)}", watch.failed)
    return watch, watch.obstacle()


def main(listen: int, folder: str, spec: str, seed: int, parent: int | None = None,
         agent: int | None = None) -> NoReturn:
    """Serves at the listening socket `listen`. `seed` is that of the job. `parent` and `agent` are pidfds.

    It ends when `parent` ends; when nobody is connected after `agent` has ended; and at SIGTERM. During the imports the
    kernel kills it when the thread ends that has started it, if there is a pidfd."""
    begin = time.monotonic()
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watched = [descriptor for descriptor in (parent, agent) if descriptor is not None]
    if not is_socket(listen, listening=True) or not all(map(is_pidfd, watched)):
        os.write(2, b"rekindle: the warm process needs a listening socket of type SOCK_SEQPACKET, and pidfds\n")
        os._exit(2)
    if watched:
        processes.die_with(os.getppid())
    if any(map(has_ended, watched)):
        os._exit(0)
    # Imports read nothing. The listening socket may have been descriptor 0.
    listener = socket.socket(fileno=fcntl.fcntl(listen, fcntl.F_DUPFD_CLOEXEC, 3))
    os.close(listen)
    while (nothing := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.dup2(nothing, 0)
    os.close(nothing)
    for descriptor in watched:
        os.set_inheritable(descriptor, False)
    watch, obstacle = _prepare(folder, spec, seed)
    sys.stdout.flush()
    forker = Forker(listener, watch, obstacle, time.monotonic() - begin)
    if parent is not None:
        forker.end_with(parent)
    if agent is not None:
        forker.outlive_for_trainers(agent)
    processes.live_on()
    processes.adopt_orphans()
    forker.run()
    os._exit(0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--listen", type=int, required=True, metavar="FD", help="the listening socket")
    parser.add_argument("--folder", required=True, metavar="FOLDER", help="the folder of the task")
    parser.add_argument("--task", required=True, metavar="MODULE:ATTRIBUTE", help="the task")
    parser.add_argument("--seed", type=int, required=True, metavar="N", help="the seed of the job")
    parser.add_argument("--parent-pidfd", type=int, metavar="FD", help="ends with this process")
    parser.add_argument("--agent-pidfd", type=int, metavar="FD", help="ends after it when nobody is connected")
    options = parser.parse_args()
    main(options.listen, options.folder, options.task, options.seed, options.parent_pidfd, options.agent_pidfd)
