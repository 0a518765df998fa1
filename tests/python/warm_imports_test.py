"""Tests that a warm process forks nothing after imports that a fork would not survive, and says which import it was."""
import pathlib
import sys
import unittest

from warmed import WarmTest

from rekindle.forking import forkable

# The modules here are written anew too quickly for the times in stored bytecode.
sys.dont_write_bytecode = True
TASK = """
import rekindle
from models import perceptron
def task():
    return perceptron()
"""


class ImportsTest(WarmTest):
    def hello(self, lines, module="helper", task="train:task"):
        """Returns what a warm process says whose task imports a module that has `lines`."""
        folder = pathlib.Path(self.folder.name)
        folder.joinpath("models.py").write_text("def perceptron(): pass\n", encoding="ascii")
        folder.joinpath("train.py").write_text(TASK + f"import {module}\nimport json\n", encoding="ascii")
        folder.joinpath(f"{module}.py").write_text(f"import calendar\n{lines}\nimport colorsys\n", encoding="ascii")
        self.warm(task, folder)
        return self.line()

    def cold(self, lines, *words, culprit="helper", **options):
        line = self.hello(lines, **options)
        self.assertIs(line.hello["ready"], False, line.hello)
        self.assertEqual(line.hello["import"], culprit, line.hello)
        for word in words:
            self.assertIn(word, line.hello["reason"])
        # The descriptors are good ones, but nothing is forked.
        self.assertEqual(line.fork(line.end.fileno(), 2), {"refused": line.hello["reason"]})
        self.assertIs(self.line().hello["ready"], False)
        return line

    def test_threads(self):
        self.cold("import threading\nthreading.Thread(target=threading.Event().wait, name='ticker', daemon=True)"
                  ".start()", "the thread ticker runs")

    def test_threads_of_libraries(self):
        self.cold("import _thread\nheld = _thread.allocate_lock()\nheld.acquire()\n"
                  "_thread.start_new_thread(held.acquire, ())", "a library runs 1 threads")
        self.cold("import torch\ntorch.set_num_threads(2)\nvalues = torch.ones(1 << 20).mul(2)",
                  "a library runs 1 threads")

    def test_a_gpu(self):
        self.cold("import torch\ntorch.cuda._initialized = True", "CUDA is initialized")

    def test_a_process(self):
        self.cold("import subprocess\nstarted = subprocess.Popen(['sleep', '1000'])",
                  "(sleep) was started and still runs")

    def test_descriptors(self):
        self.cold("import os\nends = os.pipe()", "pipe:[", "is open, which processes cannot share")
        self.cold("import fcntl\nfile = open('lock', 'w')\nfcntl.flock(file, fcntl.LOCK_EX)", "a lock on the file ",
                  "/lock is held")

    def test_shared_memory(self):
        self.cold("import mmap\nmemory = mmap.mmap(-1, 4096)", "/dev/zero (deleted)", culprit="")
        self.cold("import multiprocessing\nlock = multiprocessing.get_context('fork').Lock()", "sem.", culprit="")

    def test_failures(self):
        self.cold("1 / 0", "importing train raised ZeroDivisionError: division by zero")
        self.cold("import sys\nsys.exit()", "importing train raised SystemExit")
        self.cold("import missing_one", "No module named 'missing_one'")
        self.cold("", "train.py has no other", task="train:other", culprit="")
        self.cold("", "is not of the form module:attribute", task="train", culprit="")
        # The text is cut, so that it fits into a packet.
        self.assertGreater(len(self.cold("raise ValueError('\\x01' * 9000)").hello["reason"]), 300)

    def test_what_may_stay(self):
        line = self.hello("""
import subprocess, sys, threading
import numpy
file = open(__file__, encoding="ascii")
file.readline()
random = open("/dev/urandom", "rb", buffering=0)
mapped = numpy.memmap(__file__, mode="r")
subprocess.run(["true"], check=True)
ended = subprocess.Popen(["true"])
thread = threading.Thread(target=int)
thread.start()
thread.join()
""")
        self.assertIs(line.hello["ready"], True, line.hello)
        self.assertGreater(line.hello["seconds"], 0)

    def test_hooks_are_taken_back(self):
        before = [vars(owner).get(name) for owner, name in forkable._HOOKS]
        with forkable.Watch():
            self.assertNotEqual([vars(owner).get(name) for owner, name in forkable._HOOKS], before)
        self.assertEqual([vars(owner).get(name) for owner, name in forkable._HOOKS], before)


class FilesTest(WarmTest):
    def test_each_fork_has_a_file_of_its_own_where_the_imports_left_it(self):
        folder = pathlib.Path(self.folder.name)
        folder.joinpath("lines").write_text("one\ntwo\nthree\n", encoding="ascii")
        folder.joinpath("reads.py").write_text(f"""
import sys
sys.path.append({str(pathlib.Path(__file__).parent / "tasks")!r})
import models
file = open("lines", "rb", buffering=0)
file.read(4)
def task():
    print(file.read(4), flush=True)
    return models.perceptron()
""", encoding="ascii")
        self.warm("reads:task", folder)
        for _ in range(2):
            trainer, printed = self.warmed("reads:task", folder=str(folder))
            trainer.configure()
            self.assertEqual(printed.readline(), "b'two\\n'\n")


if __name__ == "__main__":
    unittest.main()
