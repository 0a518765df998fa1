"""Is the command `rekindle`, and those of the other programs: it becomes the program of that name in the package."""

from __future__ import annotations

import os
import sys

from rekindle.errors import PACKAGE


def main() -> None:
    name = os.path.basename(sys.argv[0])
    folder = os.environ.get("REKINDLE_BIN") or os.path.join(PACKAGE, "bin")
    program = os.path.join(os.path.abspath(folder), name)
    try:
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"error: {program} cannot be started: {error.strerror}\n"
                 "  fix: install the wheel that scripts/wheel makes, or set REKINDLE_BIN to the folder of the programs")
