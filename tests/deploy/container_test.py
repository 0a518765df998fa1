#!/usr/bin/python3
"""Tests deploy/container/Dockerfile, as far as that is possible without building an image.

Its paths exist, and the packages of its last stage hold every library of the distribution that the programs name."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import deployment

FILE = deployment.DEPLOY / "container/Dockerfile"
PROGRAMS = ("rekindle", "rekindle-coordinator", "rekindle-worker", "rekindle-checkpoint", "rekindle-trainer",
            "rekindle-own-trainer", "librekindle_objects.so", "librekindle_parquet.so", "librekindle_cuda.so")
IN_THE_BASE = {"libc6", "libgcc-s1", "libstdc++6"}


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60).stdout


def needed(program):
    """Returns (name, path) of the libraries that a program itself is linked to, without those that they need."""
    names = set(re.findall(r"NEEDED.*\[(.+)\]", run("readelf", "-d", program)))
    return [(name, path) for name, path in re.findall(r"(\S+) => (/\S+)", run("ldd", program)) if name in names]


def package_of(path):
    """Returns the package that owns a file. Some packages list it under its path from before /lib became a link."""
    real = os.path.realpath(path)
    for one in (real, real.removeprefix("/usr")):
        found = run("dpkg", "-S", one)
        if found:
            return found.split(":")[0]
    return None


class Dockerfile(unittest.TestCase):
    def test_paths(self):
        text = FILE.read_text()
        for path in re.findall(r"(?:^|[ &])((?:scripts|deploy)/\S+)", text, re.MULTILINE):
            self.assertTrue((deployment.ROOT / path).exists(), path)
        self.assertRegex(text, r"\nUSER 10001:10001\n")

    def test_packages_hold_the_libraries_that_programs_name(self):
        with open("/etc/os-release", encoding="utf-8") as file:
            release = file.read()
        if 'VERSION_ID="12"' not in release or not shutil.which("readelf"):
            self.skipTest("this is not Debian 12, which the image is made of")
        last_stage = FILE.read_text().split("\nFROM ")[-1]
        listed = set(re.findall(r"^ {6}([a-z0-9.+-]+) \\$", last_stage, re.MULTILINE))
        checked = 0
        for name in PROGRAMS:
            if not deployment.program(name):
                continue
            for library, path in needed(deployment.program(name)):
                if "site-packages" in path:
                    continue
                checked += 1
                self.assertIn(package_of(path), listed | IN_THE_BASE, f"{library} of {name}")
        self.assertGreater(checked, 0, "no program is built")

    def test_an_image_for_gpus_holds_all_that_libtorchs_cuda_part_loads(self):
        trainer = deployment.program("rekindle-trainer")
        torch = trainer and dict(re.findall(r"(\S+) => (/\S+)", run("ldd", trainer))).get("libtorch_cpu.so")
        if not torch or not pathlib.Path(torch).with_name("libtorch_cuda.so").exists():
            self.skipTest("no trainer is built, or LibTorch has no CUDA part")
        lib = pathlib.Path(torch).parent
        wheels = lib.parents[1]
        globs = re.search(r"--target-directory=\"/image\$PWD\" \\\n +(.+)\)\n", FILE.read_text()).group(1).split()
        copied = {str(path) for each in globs for path in wheels.glob(each)}
        of_programs = {path for name in PROGRAMS if deployment.program(name)
                       for _, path in re.findall(r"(\S+) => (/\S+)", run("ldd", deployment.program(name)))}
        parts = [*sorted(lib.glob("*cuda*.so")), *sorted(wheels.glob("nvidia/cudnn/lib/*.so*")),
                 *sorted(wheels.glob("nvidia/nccl/lib/*.so*"))]
        self.assertIn(str(lib / "libtorch_cuda.so"), copied)
        for part in parts:
            loaded = run("ldd", part)
            # libcuda.so.1 comes with the driver of the machine, so no image contains it.
            self.assertNotIn("not found", loaded.replace("libcuda.so.1 => not found", ""), part)
            for path in [str(part), *re.findall(r"=> (/\S*site-packages/\S+)", loaded)]:
                self.assertIn(os.path.normpath(path), copied | {os.path.normpath(one) for one in of_programs},
                              part.name)


if __name__ == "__main__":
    unittest.main()
