"""Finds the programs that were built."""
import os
import pathlib

REPO = pathlib.Path(__file__).resolve().parents[2]


def build_dir():
    """Returns the folder of the programs: REKINDLE_BUILD, or build/release of the checkout."""
    return pathlib.Path(os.environ.get("REKINDLE_BUILD", REPO / "build" / "release"))


def program(name):
    path = build_dir() / "bin" / name
    if not path.exists():
        raise SystemExit(f"{path} is not built: run scripts/bootstrap, or set REKINDLE_BUILD to the build folder")
    return str(path)
