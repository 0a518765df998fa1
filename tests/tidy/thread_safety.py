"""Lets clang check that every guarded field is touched with its mutex held. Files that see LibTorch are left out."""

import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess

from registered import Skipped
from repository import Finding

WRAPPER = "common/sync/mutex.h"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
GUARDED = re.compile(r"GUARDED_BY|MutexLock|LOCKS_REQUIRED")
TORCH = re.compile(r"^\s*#\s*include\s+<(torch|ATen|c10)/", re.MULTILINE)
ERROR = re.compile(r"^(\S+?):(\d+):\d+: (?:fatal error|error): (.*)$", re.MULTILINE)
# Clang gets neither the flags that only g++ has nor those that have no meaning without an output.
WITH_VALUE = {"-o", "-MF", "-MT", "-MQ", "-include"}
DROPPED = re.compile(r"^(-c|-MD|-MMD|-W.*|-O.*|-g.*|-f(?!PIC).*)$")


def reach(repository, path, known):
    """Returns `path` and the tracked files that it includes, directly or not."""
    seen, ahead = set(), [path]
    while ahead:
        at = ahead.pop()
        if at in seen or at not in known:
            continue
        seen.add(at)
        ahead += INCLUDE.findall(repository.text(at))
    return seen


def sources(repository):
    """Returns the sources that clang has to read: those that match `GUARDED`, and those that include a header from
    their own folder that matches it, because only these touch the private fields of that header's classes. For each
    other header that matches `GUARDED`, one source that includes it is enough. Sources that include LibTorch are left
    out."""
    known = set(repository.paths)
    guarded = {path for path in known if path.endswith((".h", ".cc")) and GUARDED.search(repository.text(path))}
    chosen, seen = [], {WRAPPER}
    others = []
    for path in repository.select(".cc"):
        included = [header for header in INCLUDE.findall(repository.text(path)) if header in guarded]
        beside = [header for header in included if os.path.dirname(header) == os.path.dirname(path)]
        if not (path in guarded or included) or sees_torch(repository, path, known):
            continue
        if path in guarded or beside:
            chosen.append(path)
            seen.update(included)
        else:
            others.append((path, included))
    for path, included in others:
        if not seen.issuperset(included):
            chosen.append(path)
            seen.update(included)
    return sorted(chosen)


def sees_torch(repository, path, known):
    return any(TORCH.search(repository.text(file)) for file in reach(repository, path, known))


def clang_command(command, path):
    """Returns the command by which clang checks `path`, made from `command`, by which g++ compiles it."""
    words, kept, skip = shlex.split(command), [], False
    for word in words[1:]:
        if skip or word in WITH_VALUE:
            skip = word in WITH_VALUE and not skip
        elif not DROPPED.match(word) and not word.endswith((".cc", "g++", "c++")):
            kept.append(word)
    return ["clang++", *kept, "-fsyntax-only", "-Wthread-safety", "-Werror=thread-safety", path]


def errors(output, root):
    """Yields the findings in what clang has printed."""
    for path, line, what in ERROR.findall(output):
        yield Finding(os.path.relpath(path, root), int(line), what, "hold the mutex, or say that the caller holds it")


def check(repository):
    if not shutil.which("clang++"):
        raise Skipped("there is no clang++")
    if not repository.build or not os.path.exists(os.path.join(repository.build, "compile_commands.json")):
        raise Skipped("no build folder was given")
    with open(os.path.join(repository.build, "compile_commands.json"), encoding="utf-8") as file:
        commands = {os.path.relpath(one["file"], repository.root): one for one in json.load(file)}

    def run(path):
        one = commands[path]
        command = clang_command(one["command"], os.path.join(repository.root, path))
        return path, subprocess.run(command, cwd=one["directory"], capture_output=True, text=True, check=False)

    chosen = [path for path in sources(repository) if path in commands]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, done in pool.map(run, chosen):
            found = list(errors(done.stderr, repository.root))
            yield from found
            if done.returncode != 0 and not found:
                yield Finding(path, 1, f"clang ended with {done.returncode}: {done.stderr[-200:]}", "see its message")
