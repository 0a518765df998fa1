"""Checks that every source is compiled and that ctest runs every test, by what CMake left in the build folder."""

import json
import os
import re
import subprocess

from repository import Finding


# In a compiler command, the object file is in a folder that is named like its target.
OBJECT = re.compile(r" -o \S*CMakeFiles/([^/]+)\.dir/")


class Skipped(Exception):
    """Says why a rule cannot be checked, for instance because nothing has been built."""


def check(repository):
    if not repository.build or not os.path.exists(os.path.join(repository.build, "compile_commands.json")):
        raise Skipped("no build folder was given")
    if not has_everything(repository.build):
        raise Skipped("this build leaves out LibTorch, CUDA or Arrow, hence some of the sources")
    with open(os.path.join(repository.build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    listed = subprocess.run(["ctest", "--test-dir", repository.build, "--show-only=json-v1"], check=True,
                            capture_output=True, text=True).stdout
    yield from compare(repository, commands, json.loads(listed)["tests"])


def has_everything(build):
    return all(os.path.exists(os.path.join(build, marker))
               for marker in ("rekindle-has-torch", "rekindle-has-cuda", "rekindle-has-arrow"))


def compare(repository, compile_commands, tests):
    """Yields a finding for each source that is not compiled and each test that ctest does not run.

    `tests` is ctest's own list, whose entries have a name and, once the program is built, a command."""
    programs = {}
    for command in compile_commands:
        path = os.path.relpath(os.path.realpath(os.path.join(command["directory"], command["file"])), repository.root)
        target = OBJECT.search(command["command"])
        programs.setdefault(path, set()).add(target.group(1) if target else "")
    names = {test["name"] for test in tests}
    arguments = {os.path.relpath(word, repository.root) for test in tests for word in test.get("command", [])[1:]
                 if word.startswith("/")}

    for path in repository.select(".cc"):
        if path not in programs:
            yield Finding(path, 1, "is compiled into no target", "name it in its folder's CMake file, or remove it")
        elif path.endswith("_test.cc") and not programs[path] & names:
            yield Finding(path, 1, "is compiled, but ctest does not run it", "use rk_test")
    for path in repository.select("_test.py", under="tests/"):
        if path not in arguments:
            yield Finding(path, 1, "is not run by ctest", "use rk_python_test")
