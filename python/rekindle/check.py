"""Checks a task: `python -m rekindle.check FOLDER module:function`.

Exit code: 0 if nothing differs, 1 if something does, 2 if the task or an argument is refused. From a script, call
rekindle.check(task) instead, which runs this program."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from rekindle.checks.call import DIFFERS, EQUAL, MOST_SAMPLES, PRECISIONS, REFUSED
from rekindle.processes import environment

CODES = {"equal": EQUAL, "differs": DIFFERS, "refused": REFUSED}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m rekindle.check", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("folder", metavar="FOLDER", help="the folder from which the task is imported")
    parser.add_argument("task", metavar="module:function", help="the function that returns a rekindle.Task")
    parser.add_argument("--micro-batch", type=_number(1, MOST_SAMPLES), default=4, metavar="N", help="samples (4)")
    parser.add_argument("--seed", type=_number(0, (1 << 64) - 1), default=1, metavar="N", help="the job's seed (1)")
    parser.add_argument("--precision", choices=PRECISIONS, default="fp32", help="what forward computes in (fp32)")
    parser.add_argument("--inexact", action="store_true", help="allow operators that are not deterministic")
    parser.add_argument("--json", action="store_true", help="write the report as JSON")
    given = parser.parse_args()

    # PyTorch is imported only when it is clear that there is something to do.
    import torch

    from rekindle.checks import plays

    if not given.inexact:
        # This imports much, which each of the processes that are forked from this one would have to do by itself.
        torch.use_deterministic_algorithms(True)
    report = plays.check(plays.Options(given.task, os.path.abspath(given.folder), given.micro_batch, given.seed,
                                       given.precision, not given.inexact))
    print(report.to_json() if given.json else report.text())
    return CODES[report.outcome]


def _number(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text} is not from {least} to {most}")
        return value

    return read


if __name__ == "__main__":
    if sys.flags.hash_randomization:
        # The order of sets would be another one in each process that is forked from this one later.
        os.execve(sys.executable, [sys.executable, "-m", "rekindle.check", *sys.argv[1:]], environment())
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
