"""Adds up ctest's JUnit files: the failed and skipped tests by name, then `N passed, N failed, N skipped`.

A GoogleTest or unittest program counts as the tests it ran, as its own closing lines say. Any other program counts as
one test, and so does one that ended without closing lines (a crash, a time-out). The exit code is 1 when a test failed
or none ran.
"""

import os
import re
import sys
import xml.etree.ElementTree as ElementTree

# The output of a JUnit file may hold bytes that XML forbids.
FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def number(pattern, text):
    """Returns the last number that `pattern` finds in `text`. A program that the test ran may have printed others."""
    found = re.findall(pattern, text, re.MULTILINE)
    return int(found[-1]) if found else 0


def outcome(case):
    """Returns "run", "fail" or "skip" for one ctest case.

    ctest writes "notrun" for a missing program as for a skipped one, but a missing one counts as a failure."""
    status, skipped = case.get("status"), case.find("skipped")
    if status == "notrun" and skipped is not None and not skipped.get("message", "").startswith("SKIP_"):
        return "fail"
    return status if status in ("run", "fail") else "skip"


def count_case(status, output):
    """Returns (passed, failed, skipped) of one ctest case."""
    if status == "skip":
        return (0, 0, 1)
    if re.search(r"^\[==========\] \d+ tests? from \d+ test (suite|case)s? ran", output, re.MULTILINE):
        counts = [number(r"^\[  %s \] (\d+) tests?" % word, output) for word in ("PASSED ", "FAILED ", "SKIPPED")]
    elif re.search(r"^Ran \d+ tests? in ", output, re.MULTILINE):
        skipped = number(r"^(?:OK|FAILED) \(.*\bskipped=(\d+)", output)
        failed = sum(number(r"^FAILED \(.*\b%s=(\d+)" % word, output) for word in ("failures", "errors"))
        counts = [number(r"^Ran (\d+) tests?", output) - skipped - failed, failed, skipped]
    else:
        counts = [1, 0, 0] if status == "run" else [0, 1, 0]
    if status == "fail" and counts[1] == 0:
        counts[1] = 1
    return tuple(counts)


def skipped_names(name, status, output):
    """Returns lines that name what was skipped in one ctest case."""
    if status == "skip":
        return [name]
    tests = re.findall(r"^\[  SKIPPED \] (\w\S*\.\S*)", output, re.MULTILINE)
    return [f"{name}: {test}" for test in dict.fromkeys(tests)]


def main(paths):
    totals = [0, 0, 0]
    skipped, failed = [], []
    for path in paths:
        run = os.path.basename(path).removeprefix("results-").removesuffix(".xml")
        with open(path, encoding="utf-8", errors="replace") as file:
            suite = ElementTree.fromstring(FORBIDDEN.sub("?", file.read()))
        for case in suite.iter("testcase"):
            name, status, output = case.get("name"), outcome(case), case.findtext("system-out") or ""
            totals = [total + one for total, one in zip(totals, count_case(status, output))]
            skipped += [f"{one} ({run})" for one in skipped_names(name, status, output)]
            if status == "fail":
                failed.append(f"{name} ({run})")
    if skipped:
        print("skipped:\n  " + "\n  ".join(skipped))
    if failed:
        print("failed:\n  " + "\n  ".join(failed))
    print("%d passed, %d failed, %d skipped" % tuple(totals))
    return 1 if totals[1] or not sum(totals) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
