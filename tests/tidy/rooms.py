#!/usr/bin/python3
"""Checks that the table of rooms in docs/architecture.md agrees with tests/tidy/includes.py and the rooms' READMEs.

A room is a folder of sources. A row says what a room may reach, and has the first paragraph of its README.
`rooms.py --write` makes the table."""

import os
import sys

from includes import ROOMS
from repository import Finding, Repository

DOCUMENT = "docs/architecture.md"
HEAD = "| room | what lives there | may reach |\n|---|---|---|\n"


def first_paragraph(text):
    """Returns the first paragraph of a README, after its title."""
    paragraphs = text.split("\n\n")
    return " ".join(paragraphs[1].split()) if len(paragraphs) > 1 else ""


def table(repository):
    rows = []
    for room, reach in ROOMS:
        readme = f"{room}/README.md"
        what = first_paragraph(repository.text(readme)) if readme in repository.paths else ""
        rows.append(f"| `{room}/` | {what} | {', '.join(reach.split())} |\n")
    return HEAD + "".join(rows)


def split(text):
    """Returns the text before the table of rooms, the table, and the text after it."""
    begin = text.find(HEAD.splitlines(keepends=True)[0])
    if begin < 0:
        return None
    end = begin
    for line in text[begin:].splitlines(keepends=True):
        if not line.startswith("|"):
            break
        end += len(line)
    return text[:begin], text[begin:end], text[end:]


def check(repository):
    if DOCUMENT not in repository.paths:
        return
    text = repository.text(DOCUMENT)
    parts = split(text)
    if parts is None:
        yield Finding(DOCUMENT, 1, "has no table of rooms", f"begin it with: {HEAD.splitlines()[0]}")
        return
    before, have, _ = parts
    wanted = table(repository).splitlines()
    for number, (one, other) in enumerate(zip(have.splitlines() + [""] * len(wanted), wanted)):
        if one != other:
            yield Finding(DOCUMENT, before.count("\n") + number + 1, "is not what ROOMS and the READMEs say",
                          "run: tests/tidy/rooms.py --write")
            return
    if len(have.splitlines()) > len(wanted):
        yield Finding(DOCUMENT, before.count("\n") + len(wanted) + 1, "is a row of no room",
                      "run: tests/tidy/rooms.py --write")


def main():
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: rooms.py --write")
    root = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    repository = Repository(root=root)
    before, _, after = split(repository.text(DOCUMENT))
    with open(os.path.join(root, DOCUMENT), "w", encoding="utf-8") as file:
        file.write(before + table(repository) + after)


if __name__ == "__main__":
    main()
