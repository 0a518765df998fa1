"""Runs a bench, which may import from all folders of `bench` and from `tests/harness`.

usage: _run.py NAME [OPTION...]
"""
import pathlib
import runpy
import sys

HERE = pathlib.Path(__file__).resolve().parent


def benches():
    """Returns {name: file} of all benches."""
    return {file.stem: file for file in sorted(HERE.glob("*/[!_]*.py"), key=lambda file: file.stem)}


def folders():
    """Returns the folders from which a bench imports."""
    rooms = {file.parent for file in HERE.glob("*/*.py")}
    return [str(folder) for folder in (HERE, *sorted(rooms), HERE.parent / "tests" / "harness")]


def command(bench, *options):
    """Returns the command that runs a bench in a process of its own."""
    return [sys.executable, str(HERE / "_run.py"), bench, *options]


def main():
    bench = sys.argv[1]
    if bench not in benches():
        sys.exit(f"error: there is no bench called {bench}; scripts/bench lists all")
    sys.argv[:2] = [str(benches()[bench])]
    sys.path[:1] = folders()
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
