"""Tests the one file that scripts/gpu-check makes: it is small, unpacks, and says what it lacks without a GPU."""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPO / "scripts" / "lib")]
import gpu_bundle  # noqa: E402
import thin_nccl  # noqa: E402

BUILD = pathlib.Path(os.environ.get("REKINDLE_BUILD", ""))
WHEELS = pathlib.Path(os.environ.get("REKINDLE_WHEELS", "/nowhere"))
# The packed file has to be carried by hand, so it must stay this small.
MOST_BYTES = 60 << 20


class PackedBundle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not all((BUILD / name).exists() for name in gpu_bundle.FILES):
            raise unittest.SkipTest("this build has no rekindle-bench-gpu")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        made = pathlib.Path(cls.folder.name, "made", "check")
        gpu_bundle.make(BUILD, str(WHEELS), made, "c")
        cls.packed = gpu_bundle.pack(made)
        subprocess.run(["tar", "-xf", str(cls.packed), "-C", cls.folder.name], check=True)
        cls.path = pathlib.Path(cls.folder.name, "check")

    def test_it_is_small(self):
        self.assertLessEqual(self.packed.stat().st_size, MOST_BYTES)

    def test_without_a_gpu_it_says_so(self):
        # CUDA_VISIBLE_DEVICES hides the GPU, if there is one.
        done = subprocess.run([str(self.path / "run")], capture_output=True, text=True, timeout=100, cwd="/",
                              env={"PATH": os.environ["PATH"], "CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("no GPU to check", done.stderr)

    def test_its_programs_take_its_libraries(self):
        found = subprocess.run(["ldd", str(self.path / "bin" / "rekindle-bench-gpu")], capture_output=True, text=True,
                               env={"LD_LIBRARY_PATH": str(self.path / "lib")}).stdout
        self.assertIn(str(self.path / "lib" / "libcudart.so"), found)

    def test_its_nccl_can_be_loaded_and_has_the_code_of_each_gpu(self):
        whole = WHEELS / "nvidia" / "nccl" / "lib" / "libnccl.so.2"
        if not whole.exists():
            self.skipTest("this build has no NCCL")
        thin = self.path / "lib" / "libnccl.so.2"
        versions = []
        for path in (whole, thin):
            version = ctypes.c_int()
            self.assertEqual(ctypes.CDLL(str(path)).ncclGetVersion(ctypes.byref(version)), 0)
            versions.append(version.value)
        self.assertEqual(versions[0], versions[1])
        content = bytearray(thin.read_bytes())
        self.assertEqual(thin_nccl.thin(content, gpu_bundle.NCCL_ARCHITECTURES), gpu_bundle.NCCL_ARCHITECTURES)
        self.assertEqual(content, thin.read_bytes())

    def test_what_is_no_nccl_is_refused(self):
        for content in (b"", b"MZ" * 100, pathlib.Path("/bin/true").read_bytes()):
            with self.assertRaises(ValueError):
                thin_nccl.thin(bytearray(content), {90})


if __name__ == "__main__":
    unittest.main()
