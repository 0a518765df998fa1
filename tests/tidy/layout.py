"""Files stay small, each top-level folder tells what lives there, header guards follow the path."""

import re

from repository import Finding

SOURCES = (".h", ".cc", ".cu", ".cuh", ".py", ".sh", ".proto", ".cmake", "CMakeLists.txt")
WARN_LINES, MAX_LINES, README_LINES = 300, 500, 25


def check(repository):
    yield from lengths(repository)
    yield from readmes(repository)
    for path in repository.select(".h", ".cuh"):
        yield from guard(repository, path)


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


def guard(repository, path):
    wanted = "REKINDLE_" + re.sub(r"[^A-Za-z0-9]", "_", path).upper() + "_"
    text = repository.text(path)
    match = re.search(r"^#ifndef (\w+)\n#define (\w+)$", text, re.MULTILINE)
    if not match or match.groups() != (wanted, wanted) or not text.rstrip().endswith(f"#endif  // {wanted}"):
        line = text.count("\n", 0, match.start()) + 1 if match else 1
        yield Finding(path, line, "wrong or no header guard",
                      f"#ifndef/#define {wanted} and a last line #endif  // {wanted}")
