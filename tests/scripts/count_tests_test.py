#!/usr/bin/python3
"""Tests that the last line of a test run counts all tests correctly, whatever kind of program a ctest case is."""

import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "lib"))
import count_tests  # noqa: E402

GTEST = "[==========] Running 3 tests from 1 test suite.\n[==========] 3 tests from 1 test suite ran. (2 ms total)\n"


def case(name, status, output="", skipped=None):
    skip = "" if skipped is None else f'<skipped message="{skipped}"/>'
    return f'<testcase name="{name}" status="{status}">{skip}<system-out>{output}</system-out></testcase>'


class CountTests(unittest.TestCase):
    def summary(self, *cases):
        """Returns (exit code, printed lines) for one file with the given ctest cases."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results-fast.xml")
            with open(path, "w", encoding="utf-8") as file:
                file.write('<?xml version="1.0"?><testsuite name="s">' + "".join(cases) + "</testsuite>")
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                code = count_tests.main([path])
        return code, printed.getvalue().splitlines()

    def test_gtest(self):
        code, lines = self.summary(case("a", "run", GTEST + "[  PASSED  ] 3 tests.\n"))
        self.assertEqual((code, lines), (0, ["3 passed, 0 failed, 0 skipped"]))
        output = GTEST + "[  PASSED  ] 2 tests.\n[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] A.Gpu\n"
        self.assertEqual(self.summary(case("a", "run", output)),
                         (0, ["skipped:", "  a: A.Gpu (fast)", "2 passed, 0 failed, 1 skipped"]))
        output = GTEST + "[  PASSED  ] 1 test.\n[  FAILED  ] 2 tests, listed below:\n"
        self.assertEqual(self.summary(case("a", "fail", output)),
                         (1, ["failed:", "  a (fast)", "1 passed, 2 failed, 0 skipped"]))

    def test_crash_or_failure_at_exit(self):
        self.assertEqual(self.summary(case("a", "fail", "[ RUN      ] A.B\n"))[1][-1], "0 passed, 1 failed, 0 skipped")
        # All tests of the program passed, and then a sanitizer reported an error.
        self.assertEqual(self.summary(case("a", "fail", GTEST + "[  PASSED  ] 3 tests.\n"))[1][-1],
                         "3 passed, 1 failed, 0 skipped")

    def test_unittest(self):
        output = "Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=1, skipped=1)\n"
        self.assertEqual(self.summary(case("a", "fail", output))[1][-1], "2 passed, 2 failed, 1 skipped")

    def test_skipped_and_missing_programs(self):
        code, lines = self.summary(case("a", "run", "fine"), case("b", "notrun", skipped="SKIP_RETURN_CODE=77"))
        self.assertEqual((code, lines[-1]), (0, "1 passed, 0 failed, 1 skipped"))
        code, lines = self.summary(case("c", "notrun", skipped="Unable to find executable"))
        self.assertEqual((code, lines[-1]), (1, "0 passed, 1 failed, 0 skipped"))

    def test_no_test_is_a_failure(self):
        self.assertEqual(self.summary(), (1, ["0 passed, 0 failed, 0 skipped"]))

    def test_output_that_is_no_xml(self):
        self.assertEqual(self.summary(case("a", "run", "\x1b[0m fine"))[0], 0)


if __name__ == "__main__":
    unittest.main()
