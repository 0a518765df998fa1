"""Checks that files and folders stay small, that each folder says what lives there, and how header guards are named."""

import re

from includes import OUT_OF_PRODUCT, ROOMS, room_of
from repository import Finding

SOURCES = (".h", ".cc", ".cu", ".cuh", ".py", ".sh", ".proto", ".cmake", "CMakeLists.txt")
WARN_LINES, MAX_LINES, README_LINES = 300, 400, 25
# `MOST_FILES` is the largest number of files of the product, or of the benches, in one folder.
MOST_FILES = 25


def check(repository):
    yield from lengths(repository)
    yield from readmes(repository)
    yield from rooms(repository)
    for path in repository.select(".h", ".cuh"):
        yield from guard(repository, path)
    yield from names(repository)


def lengths(repository):
    for path in repository.select(*SOURCES):
        count = len(repository.text(path).splitlines())
        if count > WARN_LINES:
            yield Finding(path, count, f"{count} lines", "one idea a file: split it", warning=count <= MAX_LINES)


def readmes(repository):
    folders = {path.split("/")[0] for path in repository.paths if "/" in path and not path.startswith(".")}
    for folder in sorted(folders):
        readme = f"{folder}/README.md"
        if readme not in repository.paths:
            yield Finding(readme, 1, "is missing", "ten lines: what lives in the folder, what may not, where to start")
        elif folder != "docs" and len(repository.text(readme).splitlines()) > README_LINES:
            yield Finding(readme, README_LINES + 1, f"more than {README_LINES} lines", "move the rest to docs/")


def rooms(repository):
    benches = {room_of(path) for path in repository.select("", under="bench/")}
    for room in [*(room for room, _ in ROOMS), *sorted(benches)]:
        files = [path for path in repository.select("", under=f"{room}/")
                 if room_of(path) == room and (room in benches or not OUT_OF_PRODUCT.search(path))]
        if len(files) > MOST_FILES:
            yield Finding(room, 1, f"has {len(files)} files, and {MOST_FILES} are the most",
                          "find the two ideas in it, and give each a folder")
        readme = f"{room}/README.md"
        if readme in repository.paths and repository.text(readme).split("\n")[0] != f"# {room}":
            yield Finding(readme, 1, "does not begin with the room's name", f"write: # {room}")
        if files and readme not in repository.paths:
            yield Finding(readme, 1, "is missing",
                          "ten lines: what lives in the folder, what may not, where to start")


def names(repository):
    """Finds headers whose name another header has, so that a sentence with the name would be about two things."""
    first = {}
    for path in repository.select(".h", ".cuh"):
        other = first.setdefault(path.rpartition("/")[2], path)
        if other != path:
            yield Finding(path, 1, f"has the name of {other}", "name each after what sets it apart")


def guard(repository, path):
    wanted = "REKINDLE_" + re.sub(r"[^A-Za-z0-9]", "_", path).upper() + "_"
    text = repository.text(path)
    match = re.search(r"^#ifndef (\w+)\n#define (\w+)$", text, re.MULTILINE)
    if not match or match.groups() != (wanted, wanted) or not text.rstrip().endswith(f"#endif  // {wanted}"):
        line = text.count("\n", 0, match.start()) + 1 if match else 1
        yield Finding(path, line, "wrong or no header guard",
                      f"#ifndef/#define {wanted} and a last line #endif  // {wanted}")
