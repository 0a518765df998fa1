"""Starts trainers that also hold memory in small pages, so that the kernel has something to free at their death."""
import json
import os
import pathlib
import time

from programs import build_dir, program

# `MARGIN` is how many bytes must be free beside the ballast, for the trainers' own memory and the machine.
MARGIN = 8e9
# A trainer logs one of the messages of `STOPPED` when its part in a generation is over.
STOPPED = ("communicator ended", "generation ends")


def missing(held_bytes, trainers):
    """Says why so many trainers cannot hold so many bytes each on this machine. Returns "" where they can."""
    if not library().exists():
        return f"{library()} is not built"
    lines = dict(line.split(":") for line in pathlib.Path("/proc/meminfo").read_text().splitlines())
    free = int(lines["MemAvailable"].split()[0]) * 1024
    needed = trainers * held_bytes + MARGIN
    return "" if free >= needed else f"{free / 1e9:.0f} GB of memory are free, and {needed / 1e9:.0f} GB are needed"


def library():
    return build_dir() / "bin" / "librekindle_ballast.so"


def trainer_program(folder, held_bytes):
    """Writes a program for --trainer-binary: the trainer with `held_bytes` more memory. Returns its path."""
    path = pathlib.Path(folder) / f"trainer-holding-{held_bytes}"
    path.write_text(f'#!/bin/sh\nLD_PRELOAD={library()} REKINDLE_BALLAST_BYTES={held_bytes} '
                    f'exec {program("rekindle-trainer")} "$@"\n')
    path.chmod(0o700)
    return path


def held_by(pid):
    """Returns the resident memory of a process in bytes."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def logged(path, after, *messages):
    """Returns the Unix times at which a program wrote one of the messages to its log, at `after` or later.

    The program must log as JSON (REKINDLE_LOG_FORMAT=json)."""
    times = []
    for line in pathlib.Path(path).read_text(errors="replace").splitlines():
        if line.startswith("{") and line.endswith("}"):
            entry = json.loads(line)
            if entry["message"] in messages and entry["time"] >= after:
                times.append(entry["time"])
    return times


def noticed(cluster, node, after):
    """Returns the time at which the agent of a node learned of a trainer's end, or None while it does not know."""
    return min(logged(cluster.logs / f"{node}-worker.log", after, "trainer ended"), default=None)


def stopped(cluster, nodes, job, after):
    """Returns the time at which the last of these nodes' trainers ended its part in a generation.

    The time is None until all of these trainers have ended their parts."""
    times = [min((at for log in (cluster.nodes[n].dir / "logs").glob(f"{job}-0-*.log")
                  for at in logged(log, after, *STOPPED)),
                 default=None) for n in nodes]
    return None if None in times else max(times)


def clocks():
    """Returns the monotonic and the Unix seconds of one moment."""
    return time.monotonic(), time.time()
