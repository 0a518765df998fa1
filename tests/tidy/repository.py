"""Reads the tracked files of a checkout for the rules. In the self-test, the files exist only in memory."""

import dataclasses
import os
import subprocess


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    """Describes one breach of a rule: where, what, and how to mend it. A warning does not fail the run."""

    path: str
    line: int
    what: str
    fix: str
    warning: bool = False

    def __str__(self):
        return f"{self.path}:{self.line}: {'warning: ' if self.warning else ''}{self.what}; fix: {self.fix}"


class Repository:
    """Holds files by their path relative to the root, each read once. `build` is the build folder, or None."""

    def __init__(self, files=None, root=None, build=None):
        self.root = root
        self.build = build
        self._text = dict(files or {})
        self.paths = sorted(self._text) if files is not None else self._tracked()

    def _tracked(self):
        command = ["git", "-c", "safe.directory=*", "-C", self.root, "ls-files", "-z"]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
        return sorted(path for path in listed if path and os.path.isfile(os.path.join(self.root, path)))

    def text(self, path):
        """Returns the file's text, or "" for a file that is not text."""
        if path not in self._text:
            with open(os.path.join(self.root, path), "rb") as file:
                data = file.read()
            self._text[path] = "" if b"\0" in data else data.decode("utf-8", errors="replace")
        return self._text[path]

    def lines(self, path):
        """Yields (number, line), where numbers begin with 1."""
        return enumerate(self.text(path).splitlines(), 1)

    def select(self, *suffixes, under=""):
        return [path for path in self.paths if path.startswith(under) and path.endswith(suffixes)]

    def has(self, path):
        """Returns whether `path` is a tracked file or a folder that has a tracked file in it."""
        folder = path.rstrip("/") + "/"
        return path in self.paths or any(known.startswith(folder) for known in self.paths)
