"""Trainers that also hold memory in small pages, so that the kernel has something to free when they are killed."""
import json
import os
import pathlib
import time

from cluster import build_dir, program

MARGIN = 8e9    # Bytes beside what the trainers hold: for their own, and for the machine.
STOPPED = ("communicator ended", "generation ends")    # What a trainer logs when its part in a generation is over.


def missing(held_bytes, trainers):
    """Why so many trainers cannot hold so many bytes each here; empty where they can."""
    if not library().exists():
        return f"{library()} is not built"
    lines = dict(line.split(":") for line in pathlib.Path("/proc/meminfo").read_text().splitlines())
    free = int(lines["MemAvailable"].split()[0]) * 1024
    needed = trainers * held_bytes + MARGIN
    return "" if free >= needed else f"{free / 1e9:.0f} GB of memory are free, and {needed / 1e9:.0f} GB are needed"


def library():
    return build_dir() / "bin" / "librekindle_ballast.so"


def trainer_program(folder, held_bytes):
    """A program to be given as --trainer-binary: the trainer, with so many bytes held."""
    path = pathlib.Path(folder) / f"trainer-holding-{held_bytes}"
    path.write_text(f'#!/bin/sh\nLD_PRELOAD={library()} REKINDLE_BALLAST_BYTES={held_bytes} '
                    f'exec {program("rekindle-trainer")} "$@"\n')
    path.chmod(0o700)
    return path


def held_by(pid):
    """Bytes of a process that are in memory."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def logged(path, after, *messages):
    """Unix times at which a program that logs as JSON (REKINDLE_LOG_FORMAT=json) wrote one of the messages."""
    times = []
    for line in pathlib.Path(path).read_text(errors="replace").splitlines():
        if line.startswith("{") and line.endswith("}"):
            entry = json.loads(line)
            if entry["message"] in messages and entry["time"] >= after:
                times.append(entry["time"])
    return times


def noticed(cluster, node, after):
    """When the agent of a node knew of a trainer's end; None: not yet."""
    return min(logged(cluster.logs / f"{node}-worker.log", after, "trainer ended"), default=None)


def stopped(cluster, nodes, job, after):
    """When the last of the trainers of these nodes had ended its part in a generation; None: not all have."""
    times = [min((at for log in (cluster.nodes[n].dir / "logs").glob(f"{job}-0-*.log") for at in logged(log, after, *STOPPED)),
                 default=None) for n in nodes]
    return None if None in times else max(times)


def clocks():
    """(monotonic, Unix) seconds of one moment."""
    return time.monotonic(), time.time()
