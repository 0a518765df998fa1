#!/usr/bin/python3
"""Tests the rules about time and mutexes, and those that need a compiler or a build folder, on code that breaks
them."""

import os
import shutil
import subprocess
import tempfile
import unittest

import clocks
import formatting
import mutexes
import registered
import thread_safety
import unused
from repository import Repository


def found(rule, files):
    """Returns the sorted (path, line) of the rule's findings, without its warnings."""
    return sorted((one.path, one.line) for one in rule.check(Repository(files)) if not one.warning)


class Mutexes(unittest.TestCase):
    def test_of_the_standard_library(self):
        for word in ("mutex", "lock_guard<std::mutex>", "condition_variable"):
            self.assertEqual(found(mutexes, {"cli/a.cc": f"\nstd::{word} x;\n"}), [("cli/a.cc", 2)], word)
        self.assertEqual(found(mutexes, {"common/sync/mutex.h": "std::mutex mutex_;\n"}), [])

    def test_that_guards_nothing(self):
        self.assertEqual(found(mutexes, {"cli/a.h": "  common::Mutex a_;\n  int b_;\n"}), [("cli/a.h", 1)])
        guarded = "  mutable common::Mutex a_;\n  int b_ ABSL_GUARDED_BY(a_);\n"
        self.assertEqual(found(mutexes, {"cli/a.h": guarded}), [])
        said = "  // `a_` is held while the file is written. It guards no field.\n  Mutex a_;\n"
        self.assertEqual(found(mutexes, {"cli/a.h": said}), [])


class Clocks(unittest.TestCase):
    def test_a_function_in_place_of_a_time_source(self):
        self.assertEqual(found(clocks, {"cli/a.h": "\nstd::function<double()> now_;\n"}), [("cli/a.h", 2)])
        self.assertEqual(found(clocks, {"common/time/clock.h": "using TimeSource = std::function<double()>;\n"}), [])

    def test_the_steady_clock_is_read_in_one_way(self):
        reads = "const auto until = std::chrono::steady_clock::now();\n"
        self.assertEqual(found(clocks, {"cli/a.cc": reads}), [("cli/a.cc", 1)])
        self.assertEqual(found(clocks, {"cli/a_test.cc": reads, "common/time/clock.cc": reads}), [])

    def test_two_clocks(self):
        reads = "double a = common::SteadySeconds();\n"
        self.assertEqual(found(clocks, {"cli/a.h": "common::TimeSource clock_;\n", "cli/a.cc": reads}),
                         [("cli/a.cc", 1)])
        self.assertEqual(found(clocks, {"cli/a.h": "int a_;\n", "cli/a.cc": reads}), [])
        self.assertEqual(found(clocks, {"cli/a.h": "common::TimeSource clock_ = common::SteadySeconds;\n"}), [])


class ThreadSafety(unittest.TestCase):
    def test_files(self):
        files = {
            "common/sync/mutex.h": "class MutexLock;\n",
            "cli/text/a.h": "int x ABSL_GUARDED_BY(mutex_);\n",
            "cli/text/beside.cc": '#include "cli/text/a.h"\n',
            "cli/text/locks.cc": "const common::MutexLock lock(mutex);\n",
            "cli/text/torch.cc": '#include "cli/text/a.h"\n#include <torch/torch.h>\n',
            "cli/watch/user.cc": '#include "cli/text/a.h"\n',
            "cli/watch/first.cc": '#include "cli/watch/testing/b.h"\n',
            "cli/watch/second.cc": '#include "cli/watch/testing/b.h"\n',
            "cli/watch/testing/b.h": "int y ABSL_GUARDED_BY(mutex_);\n",
            "cli/text/c.cc": "#include <mutex>\n",
        }
        self.assertEqual(thread_safety.sources(Repository(files)),
                         ["cli/text/beside.cc", "cli/text/locks.cc", "cli/watch/first.cc"])

    def test_command(self):
        command = thread_safety.clang_command("ccache /usr/bin/c++ -DX=1 -I/r -O2 -g1 -Wall -Winvalid-pch -include "
                                              "/r/cmake_pch.hxx -std=c++20 -MD -MF a.d -o a.o -c /r/a.cc", "/r/a.cc")
        self.assertEqual(command[:4], ["clang++", "-DX=1", "-I/r", "-std=c++20"])
        self.assertEqual(command[-1], "/r/a.cc")
        self.assertNotIn("a.o", command)

    @unittest.skipUnless(shutil.which("clang++"), "there is no clang++")
    def test_a_missing_lock(self):
        root = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
        text = ('#include "common/sync/mutex.h"\n'
                "struct Sum {\n"
                "  void Add() {\n"
                "    const rekindle::common::MutexLock lock(mutex);\n"
                "    ++sum;\n"
                "  }\n"
                "  void Forget() { %s sum = 0; }\n"
                "  rekindle::common::Mutex mutex;\n"
                "  int sum ABSL_GUARDED_BY(mutex) = 0;\n"
                "};\n")
        for lock, lines in (("", [7]), ("const rekindle::common::MutexLock lock(mutex);", [])):
            with tempfile.NamedTemporaryFile("w", suffix=".cc") as file:
                file.write(text % lock)
                file.flush()
                command = thread_safety.clang_command(f"c++ -I{root} -std=c++20 -c {file.name}", file.name)
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                self.assertEqual([one.line for one in thread_safety.errors(done.stderr, root)], lines, done.stderr)


class Unused(unittest.TestCase):
    files = {
        "cli/a.h": "int Used(int x);\nint Dropped(int x);  // Dropped is fine.\nint Put();\n",
        "cli/a.cc": "int Used(int x) { return x; }\nint Dropped(int x) { return x; }\nint Put() { return 1; }\n",
        "cli/b.cc": "int Other() { return Used(1) + Put(); }\n",
        "cli/a_test.cc": "int x = Dropped(1);\n",
    }
    listed = "0000 T rekindle::Used(int)\n0010 T rekindle::Dropped(int)\n0020 T rekindle::Put()\n0030 T main\n"

    def lines(self, files):
        defined = {"cli/a.cc": unused.symbols(self.listed, unused.OWN)}
        kept = unused.symbols("0040 t rekindle::Used(int) [clone .constprop.0]\n", unused.ANY)
        return [(one.path, one.line) for one in unused.unused(Repository(files), defined, kept)]

    def test_what_only_a_test_calls(self):
        self.assertEqual(self.lines(self.files), [("cli/a.cc", 2)])

    def test_what_helps_tests(self):
        self.assertEqual(self.lines({**self.files, "cli/testing/c.cc": "int y = Dropped(2);\n"}), [])

    def test_names(self):
        self.assertEqual(unused.name_of("core::Cluster::Step(rekindle::core::Event const&, double)"), "Step")
        self.assertIsNone(unused.name_of("core::Cluster::operator==(rekindle::core::Cluster const&)"))


class Registered(unittest.TestCase):
    def compare(self, targets, tests):
        """Returns the paths that the rule `registered` reports in a tree of three sources. `targets` maps each source
        that is compiled to its target."""
        files = dict.fromkeys(["a/x.cc", "a/x_test.cc", "tests/y_test.py"], "")
        commands = [{"directory": "/b", "file": f"/src/{path}",
                     "command": f"g++ -o a/CMakeFiles/{target}.dir/{path}.o -c /src/{path}"}
                    for path, target in targets.items()]
        return [one.path for one in registered.compare(Repository(files, root="/src"), commands, tests)]

    def test_all_registered(self):
        tests = [{"name": "t", "command": ["/b/bin/t"]},
                 {"name": "y", "command": ["/usr/bin/python3", "/src/tests/y_test.py"]}]
        self.assertEqual(self.compare({"a/x.cc": "x", "a/x_test.cc": "t"}, tests), [])

    def test_each_kind_of_orphan(self):
        self.assertEqual(self.compare({"a/x_test.cc": "u"}, [{"name": "t"}]),
                         ["a/x.cc", "a/x_test.cc", "tests/y_test.py"])


class Format(unittest.TestCase):
    def test_one_finding_a_file(self):
        line = "worker/a.cc:%d:3: error: code should be clang-formatted [-Wclang-format-violations]\n"
        self.assertEqual([(one.path, one.line) for one in formatting.findings(1, line % 4 + "x\n" + line % 9)],
                         [("worker/a.cc", 4)])

    def test_a_broken_formatter_is_no_pass(self):
        missing = formatting.findings(1, "error: clang-format-14 is missing")
        self.assertEqual([one.path for one in missing], ["scripts/format"])
        self.assertEqual(list(formatting.findings(0, "")), [])


if __name__ == "__main__":
    unittest.main()
