"""What the tests of deploy/ share: where things are, the units as systemd reads them, the flags that a program knows."""
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

HELP = {"rekindle-worker": ["agent", "--help"]}   # `init` has the flags of `agent`.


def program(name):
    """The path of a built program; None where this build has none."""
    path = pathlib.Path(os.environ.get("REKINDLE_BUILD", ROOT / "build/release")) / "bin" / name
    return path if path.exists() else None


@functools.cache
def known_flags(name):
    """What `name` --help lists; None where it is not built."""
    path = program(name)
    if not path:
        return None
    shown = subprocess.run([path, *HELP.get(name, ["--help"])], capture_output=True, text=True, timeout=60, check=True)
    return set(re.findall(r"^\s+(?:-\w,)?(--[a-z-]+)", shown.stdout, re.MULTILINE))


def unknown_flags(argv):
    """Flags in the command line of one of our programs that it does not know; none where it is not built."""
    known = known_flags(argv[0].rsplit("/", 1)[-1])
    return [word for word in argv[1:] if word.startswith("--") and known is not None and word.split("=")[0] not in known]


def settings(path):
    """A unit's (or environment file's) settings, continued lines joined; what is repeated is joined by blanks."""
    found = {}
    text = path.read_text().replace("\\\n", " ")
    for line in text.splitlines():
        if "=" in line and not line.startswith(("#", ";", "[")):
            name, value = line.split("=", 1)
            found[name] = f"{found[name]} {value}" if name in found else value
    return found


def command_of(unit, environment):
    """ExecStart as systemd passes it on: ${NAME} is one word, a word $NAME is split."""
    words = []
    for word in shlex.split(unit["ExecStart"]):
        if re.fullmatch(r"\$[A-Z_]+", word):
            words += environment[word[1:]].split()
        else:
            words.append(re.sub(r"\$\{([A-Z_]+)\}", lambda match: environment[match.group(1)], word))
    return words
