"""Finds the program `rekindle` and calls its verbs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

from rekindle.errors import PACKAGE, Refused

NAME = "rekindle"
WRONG_USE = 2


class ProgramError(Exception):
    """Holds what a verb said when it failed. `code` is a word such as NOT_FOUND."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def find() -> str:
    """Returns the path of the program: in the folder REKINDLE_BIN, in the package, or in the PATH. Raises Refused."""
    named = os.environ.get("REKINDLE_BIN")
    if named:
        path = os.path.join(os.path.abspath(named), NAME)
        if not os.access(path, os.X_OK):
            raise Refused(f"REKINDLE_BIN is {named}, and there is no program {NAME} in that folder; set it to the "
                          "folder of the programs, such as build/release/bin")
        return path
    beside = os.path.join(PACKAGE, "bin", NAME)
    found = beside if os.access(beside, os.X_OK) else shutil.which(NAME)
    if found is None:
        raise Refused(f"the program {NAME} is neither in the package nor in the PATH; install it, or set REKINDLE_BIN "
                      "to the folder of the programs, such as build/release/bin")
    return os.path.abspath(found)


def error_of(output: str) -> ProgramError:
    """Returns the error in what a verb wrote, which is JSON in its last line."""
    last = output.strip().rpartition("\n")[2]
    try:
        told = json.loads(last)["error"]
        return ProgramError(str(told["code"]), str(told["message"]))
    except (ValueError, KeyError, TypeError):
        return ProgramError("UNKNOWN", output.strip() or "the program said nothing")


class Client:
    """Calls verbs of the coordinator at `endpoint`, or of the one that `rekindle` calls by itself. `say` gets warnings.

    A verb runs in a session of its own, so that a Ctrl-C in the terminal reaches this process alone."""

    def __init__(self, program: str, endpoint: str | None, say: Callable[[str], None]) -> None:
        self._program = program
        self.endpoint = endpoint
        self._say = say

    def call(self, *words: str) -> dict[str, Any]:
        """Returns what the verb has answered. Raises ProgramError."""
        done = subprocess.run(self._command(words), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", check=False, start_new_session=True)
        if done.returncode != 0:
            raise error_of(done.stderr)
        if done.stderr.strip():
            self._say(done.stderr.strip())
        answer = json.loads(done.stdout) if done.stdout.strip() else {}
        if not isinstance(answer, dict):
            raise ProgramError("UNKNOWN", f"{self._program} {words[0]} answered {done.stdout[:200]!r}")
        return answer

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Starts a verb that answers line by line."""
        return subprocess.Popen(self._command(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True)

    def job(self, name: str) -> dict[str, Any] | None:
        """Returns the newest job of that name or uid, or None."""
        try:
            return self.call("get", name)
        except ProgramError as error:
            if error.code == "NOT_FOUND":
                return None
            raise

    def _command(self, words: tuple[str, ...]) -> list[str]:
        where = [] if self.endpoint is None else ["--endpoint", self.endpoint]
        return [self._program, *words, *where, "-o", "json"]
