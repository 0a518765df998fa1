#!/usr/bin/python3
"""Checks rules about the repository itself. `tidy.py [RULE...]` checks all rules where none is named.

It prints file:line, what is wrong and how to mend it. The exit code is 0 where all is clean, 1 for findings and 77 for
a skipped rule.
"""

import argparse
import os
import sys

import adding
import clocks
import documents
import formatting
import functions
import includes
import layout
import links
import mutexes
import registered
import rooms
import thread_safety
import unused
import words
from repository import Repository

RULES = {
    "adding": adding, "clocks": clocks, "documents": documents, "format": formatting, "functions": functions,
    "includes": includes, "layout": layout, "links": links, "mutexes": mutexes, "registered": registered,
    "rooms": rooms, "thread_safety": thread_safety, "unused": unused, "words": words,
}


def run(name, repository):
    """Checks one rule, prints its findings, and returns 0, 1 or 77."""
    try:
        findings = sorted(set(RULES[name].check(repository)))
    except registered.Skipped as reason:
        print(f"{name}: skipped: {reason}")
        return 77
    for finding in findings:
        print(finding)
    failures = sum(not finding.warning for finding in findings)
    print(f"{name}: {failures} findings, {len(findings) - failures} warnings in {len(repository.paths)} files")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rules", nargs="*", metavar="RULE", help=", ".join(RULES))
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    parser.add_argument("--build", default=os.environ.get("REKINDLE_BUILD"), help="build folder, for what needs one")
    options = parser.parse_args()
    unknown = set(options.rules) - set(RULES)
    if unknown:
        parser.error(f"unknown rule {', '.join(unknown)}; there are {', '.join(RULES)}")
    repository = Repository(root=os.path.realpath(options.root), build=options.build)
    codes = [run(name, repository) for name in options.rules or RULES]
    return 1 if 1 in codes else max(codes) if len(codes) == 1 else 0


if __name__ == "__main__":
    sys.exit(main())
