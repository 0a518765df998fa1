"""Finds the packages that only models of the zoo need, and installs them into the cache folder of Rekindle.

usage: packages.py install

They are pinned and checked by hash (requirements.txt). PyTorch and numpy come from the interpreter.
REKINDLE_ZOO_PACKAGES may name a folder that has the packages already."""
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE.parent / "harness")]

import base  # noqa: E402, F401
import servers  # noqa: E402
from servers import Missing  # noqa: E402

LOCK = HERE / "requirements.txt"
KIND = f"test-zoo-{sys.implementation.cache_tag}"


def use(install_them=False):
    """Lets this process import the packages, if they are installed or `install_them` says so. Raises Missing.

    Returns their folder, or None if they are not installed."""
    folder = os.environ.get("REKINDLE_ZOO_PACKAGES")
    if not folder:
        cached = servers.cache_folder(KIND, LOCK)
        if not install_them and not (cached / ".complete").exists():
            return None
        folder = os.fspath(install())
    if folder not in sys.path:
        sys.path.append(folder)
    return folder


def install():
    """Returns the folder of the packages, into which they were installed if they were not there."""
    def into(folder):
        # The interpreter has PyTorch and numpy, so nothing is installed that the list does not name.
        return servers.run(
            sys.executable, "-m", "pip", "install", "--no-deps", "--require-hashes", "--only-binary", ":all:",
            "--no-cache-dir", "--no-compile", "--disable-pip-version-check", "--target", folder, "-r", LOCK)
    return servers.installed(KIND, LOCK, into)


if __name__ == "__main__":
    if sys.argv[1:] != ["install"]:
        sys.exit(f"usage: {sys.argv[0]} install")
    try:
        print(f"the packages of the zoo are in {install()}")
    except Missing as why:
        sys.exit(f"the packages of the zoo were not installed: {why}")
