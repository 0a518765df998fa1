"""Checks that time is injected in one way, and that code to which a time is passed does not read a clock as well."""

import re

from includes import OUT_OF_PRODUCT
from repository import Finding

CLOCK = "common/time/clock."
FUNCTION = re.compile(r"std::function<double\(\)>")
SOURCE = re.compile(r"\bTimeSource\b")
# Only a call such as SteadySeconds() reads the clock. Its name without parentheses is handed on as a `TimeSource`.
READS = re.compile(r"\b(Steady|Boot|Wall)Seconds\(\)")
# Deadlines of gRPC are times of the system clock, so only the other one is for common::SteadySeconds() alone.
STEADY = re.compile(r"\bsteady_clock\b")
# The code in the files of `WAITS` is passed a time, but it may also read a clock, because it waits for real work to
# end.
WAITS = {"worker/train/save/blocking_save.cc"}


def check(repository):
    sources = set(repository.select(".h", ".cc"))
    for path in sorted(sources):
        if path.startswith(CLOCK):
            continue
        for number, line in repository.lines(path):
            if FUNCTION.search(line):
                yield Finding(path, number, "a time as std::function<double()>", f"use common::TimeSource ({CLOCK}h)")
            if STEADY.search(line) and not OUT_OF_PRODUCT.search(path):
                yield Finding(path, number, "reads the steady clock itself", f"use SteadySeconds() ({CLOCK}h)")
        if path.endswith(".h") and "/testing/" not in path and SOURCE.search(repository.text(path)):
            yield from reads(repository, path)
            if path[:-1] + "cc" in sources:
                yield from reads(repository, path[:-1] + "cc")


def reads(repository, path):
    if path in WAITS:
        return
    for number, line in repository.lines(path):
        if READS.search(line):
            yield Finding(path, number, "reads the machine's clock beside the one that it is given",
                          "use the given one, or let the caller pass the time")
