"""Holds what the tests of deploy/ share: paths, units as systemd reads them, and each program's flags."""
import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
UNITS = DEPLOY / "systemd"
sys.path.insert(0, str(ROOT / "tests/harness"))
INSTALLED = "/opt/rekindle/bin"

# `rekindle-worker init` takes the flags that `rekindle-worker agent --help` lists.
HELP = {"rekindle-worker": ["agent", "--help"]}


def program(name):
    """Returns the path of a built program, or None where this build has none."""
    path = pathlib.Path(os.environ.get("REKINDLE_BUILD", ROOT / "build/release")) / "bin" / name
    return path if path.exists() else None


@functools.cache
def known_flags(name):
    """Returns the flags that `name` --help lists, or None where the program is not built."""
    path = program(name)
    if not path:
        return None
    shown = subprocess.run([path, *HELP.get(name, ["--help"])], capture_output=True, text=True, timeout=60, check=True)
    return set(re.findall(r"^\s+(?:-\w,)?(--[a-z-]+)", shown.stdout, re.MULTILINE))


def unknown_flags(argv):
    """Returns the flags in the command line of one of our programs that the program does not know.

    Returns none where the program is not built."""
    known = known_flags(argv[0].rsplit("/", 1)[-1])
    return [word for word in argv[1:] if word.startswith("--") and known is not None
            and word.split("=")[0] not in known]


def settings(path):
    """Returns the settings of a unit or environment file. Repeated settings are joined by blanks."""
    found = {}
    text = path.read_text().replace("\\\n", " ")
    for line in text.splitlines():
        if "=" in line and not line.startswith(("#", ";", "[")):
            name, value = line.split("=", 1)
            found[name] = f"{found[name]} {value}" if name in found else value
    return found


def command_of(unit, environment):
    """Returns ExecStart as systemd passes it on: ${NAME} is one word, and a word $NAME is split."""
    words = []
    for word in shlex.split(unit["ExecStart"]):
        if re.fullmatch(r"\$[A-Z_]+", word):
            words += environment[word[1:]].split()
        else:
            words.append(re.sub(r"\$\{([A-Z_]+)\}", lambda match: environment[match.group(1)], word))
    return words
