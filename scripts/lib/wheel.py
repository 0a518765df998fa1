"""Makes a wheel of the package rekindle and the programs of a build, and prints its path.

The programs are in the folder `bin` of the package, and the libraries that they load in `lib` beside it.

usage: wheel.py BUILD FOLDER
"""
import base64
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile

import gpu_bundle

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python"
PROGRAMS = ("rekindle", "rekindle-checkpoint", "rekindle-coordinator", "rekindle-own-trainer", "rekindle-worker")
# A build without Arrow or CUDA has no such plugin. The libraries that a plugin loads come from packages that a user
# installs beside this one, if they are to be used at all.
PLUGINS = ("librekindle_cuda.so", "librekindle_objects.so")
# Parts of these packages are compiled into the programs.
HEADERS = ("libcli11-dev", "libcpp-httplib-dev", "nlohmann-json3-dev")
MOST_BYTES = 25_000_000
# PyTorch takes these libraries from the machine too, so they are there.
OF_THE_COMPILER = re.compile(r"^lib(stdc\+\+|gcc_s)\.so")
# A wheel for manylinux needs at least this version of the C library.
OLDEST_GLIBC = (2, 17)
# Distributions that have the symbols GLIBCXX_3.4.N of the C++ library have at least this version of the C library.
GLIBC_OF_GLIBCXX = {29: (2, 34), 30: (2, 35)}
# All files get this time, so that the same files make the same wheel.
TIME = (1980, 1, 1, 0, 0, 0)


class Unfit(Exception):
    """Says why no wheel can be made."""


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def libraries(program):
    """Returns {name: path} of the libraries that the loader gives the program, less those of every machine."""
    found = gpu_bundle.libraries(program)
    return {name: path for name, path in found.items() if not OF_THE_COMPILER.match(name)}


def package_of(library):
    """Returns the package of the system that has installed a library."""
    path = os.path.realpath(library)
    # Where /lib is a link to /usr/lib, a package may know its files by either name.
    for name in dict.fromkeys((path, path.removeprefix("/usr"), str(library))):
        found = subprocess.run(["dpkg-query", "--search", name], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.partition(":")[0]
    raise Unfit(f"no package of this machine has {path}, so its licence is not known; build with the libraries that "
                "scripts/bootstrap installs")


def notices(libraries_of_system):
    """Returns {name: text} of the licences under which the libraries, and what is in the programs, may be passed on."""
    found = {path.name: path.read_bytes() for path in sorted(PACKAGE.parent.glob("third_party/*/*LICENSE*"))}
    for package in sorted({*HEADERS, *map(package_of, libraries_of_system)}):
        path = pathlib.Path("/usr/share/doc", package, "copyright")
        if not path.exists():
            raise Unfit(f"{path} is missing, which has the licence of {package}; install that package with its "
                        "documentation")
        found[f"{package}.txt"] = path.read_bytes()
    return found


def keep_own_search(path):
    """Takes the folders of this machine out of the search path for libraries of a program or plugin.

    The shorter search path is written over the longer one, so nothing else moves."""
    shown = subprocess.run(["readelf", "--dynamic", "--wide", path], check=True, capture_output=True, text=True).stdout
    for search in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", shown):
        kept = ":".join(part for part in search.split(":") if part.startswith("$ORIGIN"))
        if kept == search:
            continue
        data, old = pathlib.Path(path).read_bytes(), b"\0" + search.encode() + b"\0"
        if data.count(old) != 1:
            raise Unfit(f"{path} has the search path {search}, which cannot be written over")
        pathlib.Path(path).write_bytes(data.replace(old, b"\0" + kept.encode().ljust(len(search), b"\0") + b"\0"))


def stage(build, folder):
    """Puts the programs, the plugins and their libraries into `folder`, without debugging symbols.

    Returns the libraries' paths on this machine."""
    (folder / "bin").mkdir()
    (folder / "lib").mkdir()
    names = [*PROGRAMS, *(name for name in PLUGINS if (build / "bin" / name).exists())]
    copied = set()
    for name in names:
        built = build / "bin" / name
        if not built.exists():
            raise Unfit(f"{built} is missing; run scripts/bootstrap")
        staged = shutil.copy2(built, folder / "bin" / name)
        if is_elf(staged):
            subprocess.run(["strip", "--strip-unneeded", staged], check=True)
            # What a Python package brings is not copied, because that package is installed beside this one.
            for library, path in libraries(built).items():
                if "/site-packages/" not in path:
                    shutil.copy2(os.path.realpath(path), folder / "lib" / library)
                    copied.add(path)
            keep_own_search(staged)
    for name in PROGRAMS:
        if is_elf(folder / "bin" / name):
            check_search(folder, name)
    return copied


def check_search(folder, name):
    """Raises Unfit if the program would load a library of this machine where it should load the one beside it."""
    own = os.fspath(folder.resolve() / "lib")
    for library, path in libraries(folder / "bin" / name).items():
        if not os.path.realpath(path).startswith(own + os.sep):
            raise Unfit(f"{name} loads {library} from {path} and not from the folder lib beside its own; it was linked "
                        "without that search path: run scripts/bootstrap")


def needed_glibc(folder):
    """Returns the version of the C library that a machine of the programs has at least, such as (2, 35)."""
    needed = {OLDEST_GLIBC}
    for path in folder.glob("*/*"):
        if is_elf(path):
            symbols = subprocess.run(["objdump", "-T", path], check=True, capture_output=True, text=True).stdout
            needed |= {(int(a), int(b)) for a, b in re.findall(r"\bGLIBC_(\d+)\.(\d+)", symbols)}
            newest = max(map(int, re.findall(r"\bGLIBCXX_3\.4\.(\d+)", symbols)), default=0)
            if newest > max(GLIBC_OF_GLIBCXX):
                needed.add(tuple(map(int, platform.libc_ver()[1].split("."))))
            needed |= {glibc for glibcxx, glibc in GLIBC_OF_GLIBCXX.items() if newest >= glibcxx}
    return max(needed)


def metadata(project, tag):
    """Returns {name: text} of the files that describe the wheel, without the licences of what it bundles."""
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}",
             f"Summary: {project['description']}", f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {need}" for need in project["dependencies"]]
    for extra, needs in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f"Requires-Dist: {need} ; extra == '{extra}'" for need in needs)]
    commands = [f"{name} = {place}" for name, place in project["scripts"].items()]
    return {"METADATA": "\n".join(lines) + "\n",
            "WHEEL": f"Wheel-Version: 1.0\nGenerator: rekindle\nRoot-Is-Purelib: false\nTag: {tag}\n",
            "entry_points.txt": "\n".join(["[console_scripts]", *commands]) + "\n",
            "licenses/LICENSE": (PACKAGE.parent / "LICENSE").read_text()}


def contents(settings, staged):
    """Yields (name in the wheel, path) of the files of the package and of its programs."""
    data = settings["tool"]["setuptools"]["package-data"]
    for package in settings["tool"]["setuptools"]["packages"]:
        folder = pathlib.Path(package.replace(".", "/"))
        for pattern in ("*.py", *data.get(package, [])):
            for path in sorted((PACKAGE / folder).glob(pattern)):
                yield str(folder / path.name), path
    for path in sorted(staged.glob("*/*")):
        yield f"rekindle/{path.parent.name}/{path.name}", path


class Archive:
    """Writes the files of a wheel and the list of them, RECORD."""

    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.record = []

    def add(self, name, content, mode=0o644):
        entry = zipfile.ZipInfo(name, TIME)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}")

    def close(self, record):
        self.add(record, "\n".join([*self.record, f"{record},,", ""]).encode())
        self.zip.close()


def check_size(wheel):
    """Raises Unfit if the wheel is too large, and names its largest files."""
    if wheel.stat().st_size <= MOST_BYTES:
        return
    with zipfile.ZipFile(wheel) as archive:
        largest = sorted(archive.infolist(), key=lambda entry: -entry.compress_size)[:5]
    told = ", ".join(f"{entry.filename} {entry.compress_size / 1e6:.1f} MB" for entry in largest)
    raise Unfit(f"{wheel} has {wheel.stat().st_size / 1e6:.1f} MB, and {MOST_BYTES / 1e6:.0f} are the most; "
                f"its largest files are {told}")


def make(build, folder):
    """Makes the wheel in `folder` and returns its path. Raises Unfit."""
    settings = tomllib.loads((PACKAGE / "pyproject.toml").read_text())
    project = settings["project"]
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        staged = pathlib.Path(scratch)
        licences = notices(stage(build, staged))
        system = "_".join(["manylinux", *map(str, needed_glibc(staged)), platform.machine()])
        tag = f"py3-none-{system}"
        full = f"{project['name']}-{project['version']}"
        wheel = folder / f"{full}-{tag}.whl"
        archive = Archive(wheel)
        for name, path in contents(settings, staged):
            archive.add(name, path.read_bytes(), 0o755 if "/bin/" in name else 0o644)
        for name, text in metadata(project, tag).items():
            archive.add(f"{full}.dist-info/{name}", text.encode())
        for name, text in licences.items():
            archive.add(f"{full}.dist-info/licenses/libraries/{name}", text)
        archive.close(f"{full}.dist-info/RECORD")
    check_size(wheel)
    return wheel


def main(build, folder):
    try:
        print(make(pathlib.Path(build), pathlib.Path(folder)))
    except Unfit as why:
        sys.exit(f"error: {why}")


if __name__ == "__main__":
    main(*sys.argv[1:])
