"""Checks that what README.md, CONTRIBUTING.md and docs/ tell a reader to run or to open exists."""

import os
import posixpath
import re
import subprocess

from repository import Finding

# The documents `FOR_READERS` at the top of the repository are checked beside those in docs/.
FOR_READERS = ("README.md", "CONTRIBUTING.md")
PATH = re.compile(r"(?<![\w/.-])((?:\./)?(?:scripts|examples|docs|bench|tests|deploy|\.ci)/[\w./-]*\w)")
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
CODE = re.compile(r"`([^`]+)`")
SUITE = re.compile(r"^\s*(?:TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)
METHOD = re.compile(r"^\s*def (test_\w+)", re.MULTILINE)
TEST_OF_SUITE = re.compile(r"^(\w+)\.(\w+)$")
TEST_METHOD = re.compile(r"(?:^|\.)(test_\w+)$")
VERB = re.compile(r"(?:^|[\s;&|/])rekindle\s+([a-z][a-z-]*)")


def code_of(repository, path):
    """Yields (line, code) of fenced blocks and of code within a line."""
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
    for path in [p for p in repository.select(".md") if p in FOR_READERS or p.startswith("docs/")]:
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
    yield from tests(repository)


def tests(repository):
    """Checks that every test that a document names exists."""
    suites = {}
    for path in repository.select(".cc"):
        for suite, test in SUITE.findall(repository.text(path)):
            suites.setdefault(suite, set()).add(test)
    methods = {name for path in repository.select(".py") for name in METHOD.findall(repository.text(path))}
    scripts = {path.rpartition("/")[2].removesuffix(".py") for path in repository.select("_test.py", "_test.cc")}
    for path in [p for p in repository.select(".md") if p.startswith("docs/")]:
        for number, code in code_of(repository, path):
            method = TEST_METHOD.search(code)
            if method and method.group(1) not in methods | scripts:
                yield Finding(path, number, f"names the test {code}, which does not exist", "correct the name")
            test = None if method else TEST_OF_SUITE.match(code)
            if test and test.group(1) in suites and test.group(2) not in suites[test.group(1)]:
                yield Finding(path, number, f"names the test {code}, which does not exist", "correct the name")


def verbs(repository, path):
    """Checks that every `rekindle VERB` that a document names is a command of rekindle, if rekindle has been built."""
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
