"""What README.md and docs/ tell a reader to run or to open exists."""

import os
import posixpath
import re
import subprocess

from repository import Finding

PATH = re.compile(r"(?<![\w/.-])((?:\./)?(?:scripts|examples|docs|bench|tests|deploy|\.ci)/[\w./-]*\w)")
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
CODE = re.compile(r"`([^`]+)`")
VERB = re.compile(r"(?:^|[\s;&|/])rekindle\s+([a-z][a-z-]*)")


def code_of(repository, path):
    """(line, code) of fenced blocks and of code within a line."""
    fenced = False
    for number, line in repository.lines(path):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced:
            yield number, line
        else:
            for code in CODE.findall(line):
                yield number, code


def check(repository):
    for path in [p for p in repository.select(".md") if p == "README.md" or p.startswith("docs/")]:
        for number, code in code_of(repository, path):
            for name in PATH.findall(code):
                if not repository.has(name.removeprefix("./")):
                    yield Finding(path, number, f"names {name}, which does not exist", "correct the path")
        for number, line in repository.lines(path):
            for target in LINK.findall(line):
                if "://" in target or target.startswith("mailto:"):
                    continue
                if not repository.has(posixpath.normpath(posixpath.join(posixpath.dirname(path), target))):
                    yield Finding(path, number, f"links to {target}, which does not exist", "correct the link")
        yield from verbs(repository, path)


def verbs(repository, path):
    """Every `rekindle VERB` is one that the program knows; only where the program has been built."""
    program = repository.build and os.path.join(repository.build, "bin", "rekindle")
    if not program or not os.path.exists(program):
        return
    for number, code in code_of(repository, path):
        for verb in VERB.findall(code.split("#")[0]):
            if not knows(program, verb):
                yield Finding(path, number, f"`rekindle {verb}` is no command", "see rekindle --help")


def knows(program, verb, known={}):
    if verb not in known:
        known[verb] = subprocess.run([program, verb, "--help"], capture_output=True, timeout=20).returncode == 0
    return known[verb]
