"""Checks that C++ and CUDA files are formatted as .clang-format says."""

import os
import re
import subprocess

from repository import Finding

PLACE = re.compile(r"^(\S+?):(\d+):\d+: (?:error|warning): code should be clang-formatted", re.MULTILINE)


def check(repository):
    script = os.path.join(repository.root, "scripts", "format")
    result = subprocess.run([script, "--check"], capture_output=True, text=True)
    yield from findings(result.returncode, result.stderr + result.stdout)


def findings(code, output):
    """Yields one finding per file, at the first line that the formatter would change."""
    first = {}
    for path, line in PLACE.findall(output):
        first.setdefault(path, int(line))
    for path, line in first.items():
        yield Finding(path, line, "is not formatted", "scripts/format")
    if code != 0 and not first:
        yield Finding("scripts/format", 1, "failed: " + output.strip().replace("\n", " ")[-300:], "see its message")
