"""Makes a folder that runs the GPU check on another machine: programs, the libraries they load, a script `run`.

With --packed the folder is also packed into one file beside it, FOLDER.tar.xz.

usage: gpu_bundle.py BUILD WHEELS FOLDER COMMIT [--without-nccl] [--packed]
"""
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import thin_nccl

REPO = pathlib.Path(__file__).resolve().parents[2]
FILES = ("bin/rekindle-bench-gpu", "bin/librekindle_cuda.so")
# The program `TRAIN` loads the LibTorch of the machine that it runs on. LibTorch is too large for a bundle: half a
# gigabyte without CUDA and three with it.
TRAIN = "bin/rekindle-bench-gpu-train"
# Three trainers of the product share the GPU in the check. The trainer needs a LibTorch, too.
PRODUCT = ("bin/rekindle", "bin/rekindle-checkpoint", "bin/rekindle-coordinator", "bin/rekindle-trainer",
           "bin/rekindle-worker")
HARNESS = ("cluster", "jobs", "live_processes", "node", "ports", "programs", "timelines", "waiting")
# The libraries of `SYSTEM` belong to the C library and the driver, so they are taken from the machine and not bundled.
SYSTEM = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|cuda))\.so")
# NCCL is left with the code for Hopper, and for the two Blackwells of servers and workstations.
NCCL_ARCHITECTURES = frozenset((90, 100, 120))
# A file that is larger than `MOST_BYTES` is hard to bring to a machine without a network.
MOST_BYTES = 60 << 20
TORCH = re.compile(r"^lib(torch|c10|gomp|shm)")
RUN = """#!/bin/sh
# Checks and measures the CUDA plugin on this machine's GPU; prints JSON. Needs the NVIDIA driver and python3.
here=$(cd "$(dirname "$0")" && pwd -P)
export REKINDLE_BUILD="$here" LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# A bundle without NCCL takes that of the machine's PyTorch.
[ -e "$here/lib/libnccl.so.2" ] || LD_LIBRARY_PATH="$LD_LIBRARY_PATH:$(python3 -c '
import importlib.util
found = importlib.util.find_spec("nvidia.nccl")
print(list(found.submodule_search_locations)[0] + "/lib" if found else "")' 2>/dev/null)"
exec python3 -B "$here/bench/_run.py" gpu "$@"
"""


def libraries(program):
    """Returns {name: path} of the libraries that the loader gives the program and that the bundle needs."""
    shown = subprocess.run(["ldd", str(program)], check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"^\s*(\S+) => (\S+) ", shown, re.MULTILINE))
    missing = re.findall(r"^\s*(\S+) => not found", shown, re.MULTILINE)
    if missing:
        sys.exit(f"error: {program} needs {', '.join(missing)}, which this machine lacks; "
                 "build again by scripts/bootstrap")
    return {name: path for name, path in found.items() if not SYSTEM.match(name) and not TORCH.match(name)}


def make(build, wheels, folder, commit, with_nccl=True):
    """Makes the bundle. An older bundle in `folder` is replaced, but any other folder with files is refused."""
    if folder.exists() and not (folder / "run").exists() and any(folder.iterdir()):
        sys.exit(f"error: {folder} holds something else; name a new folder")
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("bin", "lib", "bench/gpu", "tests/harness"):
        (folder / part).mkdir(parents=True)
    version = pathlib.Path(wheels, "torch", "version.py")
    files = FILES
    if (build / TRAIN).exists() and version.exists():
        files += (TRAIN, *(name for name in PRODUCT if (build / name).exists()))
        (folder / "TORCH").write_text(re.search(r"__version__ = '([\d.]+)", version.read_text())[1] + "\n")
    for name in files:
        if not (build / name).exists():
            sys.exit(f"error: {build / name} is missing: this build has no CUDA; run scripts/bootstrap")
        shutil.copy2(build / name, folder / name)
        subprocess.run(["strip", "--strip-unneeded", str(folder / name)], check=False, stderr=subprocess.DEVNULL)
        # In the bundle the programs find their libraries beside them, and not where this machine keeps its own.
        for library, path in libraries(build / name).items():
            shutil.copy2(os.path.realpath(path), folder / "lib" / library)
    for path in glob.glob(f"{wheels}/nvidia/nccl/lib/libnccl.so.2") if with_nccl else []:
        nccl = bytearray(pathlib.Path(path).read_bytes())
        try:
            thin_nccl.thin(nccl, NCCL_ARCHITECTURES)
        except ValueError as error:
            sys.exit(f"error: {path} cannot be made small: {error}; use --without-nccl")
        (folder / "lib" / "libnccl.so.2").write_bytes(nccl)
    for name in ("gpu/gpu.py", "gpu/_gpu_budget.py", "gpu/_gpu_product.py", "gpu/_gpu_torch.py", "_bench_json.py",
                 "_options.py", "_run.py"):
        shutil.copy2(REPO / "bench" / name, folder / "bench" / name)
    for name in HARNESS:
        shutil.copy2(REPO / "tests" / "harness" / f"{name}.py", folder / "tests" / "harness" / f"{name}.py")
    (folder / "COMMIT").write_text(commit + "\n")
    (folder / "run").write_text(RUN)
    (folder / "run").chmod(0o755)


def pack(folder):
    """Packs the bundle into one file beside it, and returns its path."""
    packed = folder.with_name(f"{folder.name}.tar.xz")
    # Most of what can be compressed is zeros, so a higher level takes longer and saves nothing.
    with tarfile.open(packed, "w:xz", preset=1) as archive:
        archive.add(folder, folder.name)
    if packed.stat().st_size > MOST_BYTES:
        sys.exit(f"error: {packed} has {packed.stat().st_size >> 20} MiB, and {MOST_BYTES >> 20} are the most; "
                 "use --without-nccl")
    return packed


def main(arguments):
    build, wheels, folder, commit, *rest = arguments
    make(pathlib.Path(build), wheels, pathlib.Path(folder), commit, "--without-nccl" not in rest)
    if "--packed" in rest:
        pack(pathlib.Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
