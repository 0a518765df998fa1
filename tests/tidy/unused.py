"""Finds functions that no program has. The linker drops what nothing calls, so such a function is in an object file
and in no program."""

import json
import os
import re
import shlex
import subprocess

from functions import TOKEN, blank
from registered import Skipped, has_everything
from repository import Finding

# Only tests may use the files that match `FOR_TESTS`: tests themselves, and what exists for them.
FOR_TESTS = re.compile(r"^(tests|bench|examples)/|/(testing|fuzz|scenario|simulation)/|_test\.(cc|cu)$")
# In an object file only the functions of its own source count. Templates and inline functions are in every file that
# uses them.
OWN = re.compile(r"^[0-9a-f]+ T rekindle::(.*)$")
# `ANY` also matches `t` and `w`, because in a program a function that no loaded library may use is a local symbol.
ANY = re.compile(r"^[0-9a-f]+ [TtWw] rekindle::(.*)$")


def name_of(symbol):
    """Returns the last part of a demangled function without its arguments, or None for what has no plain name."""
    symbol = symbol.replace("(anonymous namespace)", "").split("(")[0]
    name = symbol.split("<")[0].rpartition("::")[2]
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else None


def symbols(output, kind):
    """Returns the functions in the lines of `nm` that `kind` matches, without suffixes such as " [clone .cold]"."""
    return {re.sub(r" \[clone .*\]", "", match.group(1)) for match in map(kind.match, output.splitlines()) if match}


def words(repository, wanted):
    """Counts the words in the C++ files that `wanted` accepts, outside of comments and string literals."""
    counts = {}
    for path in repository.select(".h", ".cc", ".cu", ".cuh"):
        if wanted(path):
            for word in re.findall(r"\w+", TOKEN.sub(blank, repository.text(path))):
                counts[word] = counts.get(word, 0) + 1
    return counts


def unused(repository, defined, kept):
    """Yields the functions that are dropped and are named nowhere but where they are declared and defined.

    `defined` has the functions of each source and `kept` those that are in a program. A function that the compiler has
    put into its callers is dropped, too, but its callers name it."""
    product = words(repository, lambda path: not FOR_TESTS.search(path))
    support = words(repository, lambda path: FOR_TESTS.search(path) and not path.endswith(("_test.cc", "_test.cu")))
    for path, functions in sorted(defined.items()):
        for symbol in sorted(functions - kept):
            name = name_of(symbol)
            if name is None or support.get(name) or product.get(name, 0) > 2:
                continue
            line = next((number for number, text in repository.lines(path) if re.search(rf"\b{name}\(", text)), 1)
            yield Finding(path, line, f"no program uses {symbol}", "remove it, or move it to the testing folder")


def nm(*files):
    return subprocess.run(["nm", "-C", "--defined-only", *files], capture_output=True, text=True, check=True).stdout


def check(repository):
    if not repository.build or not os.path.exists(os.path.join(repository.build, "compile_commands.json")):
        raise Skipped("no build folder was given")
    if not has_everything(repository.build):
        raise Skipped("this build leaves out LibTorch, CUDA or Arrow, hence some of the programs")
    programs = os.path.join(repository.build, "bin")
    kept = set()
    for program in sorted(os.listdir(programs)):
        if re.match(r"(lib)?rekindle(-|_|$)", program) and "bench" not in program:
            kept |= symbols(nm(os.path.join(programs, program)), ANY)
    with open(os.path.join(repository.build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    defined = {}
    for one in commands:
        path = os.path.relpath(one["file"], repository.root)
        command = shlex.split(one["command"])
        built = os.path.join(one["directory"], command[command.index("-o") + 1])
        if path in repository.paths and not FOR_TESTS.search(path) and os.path.exists(built):
            defined[path] = symbols(nm(built), OWN)
    yield from unused(repository, defined, kept)
