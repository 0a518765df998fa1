#!/usr/bin/python3
"""Tests which of the slow tests .ci/run runs, and how it compares the minutes that it took with the budget."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "lib"))
import minutes  # noqa: E402

TESTS = """
add_test(quick true)
add_test(a true)
add_test(b true)
add_test(c true)
add_test(d true)
add_test(e true)
add_test(kept true)
add_test(always true)
set_tests_properties(a b c d e PROPERTIES LABELS "slow;rotated")
set_tests_properties(kept PROPERTIES LABELS "slow;rotated;promise")
set_tests_properties(always PROPERTIES LABELS "slow")
"""


def left_out(seed, build):
    """Returns the tests that a seed leaves out, by the function that scripts/test uses."""
    done = subprocess.run(["bash", "-c", f'. "$0"; left_out {seed}', f"{ROOT}/scripts/lib/rotation.sh"], check=True,
                          capture_output=True, text=True, env={**os.environ, "REKINDLE_BUILD": str(build)})
    return done.stdout.split()


class Rotation(unittest.TestCase):
    def test_four_seeds_of_six_have_a_quarter_of_the_rotated_tests(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "CTestTestfile.cmake").write_text(TESTS)
            self.assertEqual([left_out(seed, folder) for seed in range(6)],
                             [["b", "c", "d"], ["a", "c", "d", "e"], ["a", "b", "d", "e"], ["a", "b", "c", "e"],
                              list("abcde"), list("abcde")])
            self.assertEqual(left_out(16777212, folder), left_out(0, folder))

    def test_each_sanitizer_has_one_seed_of_six(self):
        def without(seed):
            return subprocess.run(["bash", "-c", '. "$0"; left_out_sanitizers "$1"', f"{ROOT}/scripts/lib/rotation.sh",
                                   seed],
                                  check=True, capture_output=True, text=True).stdout.split()
        both = ["address", "thread"]
        self.assertEqual([without(str(seed)) for seed in range(6)], [both] * 4 + [["thread"], ["address"]])
        self.assertEqual((without("16777216"), without("")), (["thread"], []))

    def test_of_this_build(self):
        build = os.environ.get("REKINDLE_BUILD", "")
        if not (pathlib.Path(build) / "CTestTestfile.cmake").exists():
            self.skipTest("no build folder was given")
        listed = subprocess.run(["ctest", "--test-dir", build, "-N", "-L", "^rotated$", "-LE", "^promise$"], check=True,
                                capture_output=True, text=True).stdout
        rotated = left_out(4, build)
        self.assertIn(f"Total Tests: {len(rotated)}\n", listed)
        run = [name for seed in range(6) for name in set(rotated) - set(left_out(seed, build))]
        self.assertEqual(sorted(run), sorted(rotated))


class Minutes(unittest.TestCase):
    def table(self, times):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(times)
            file.flush()
            return list(minutes.table([(3, "set-up and build"), (1, "fuzz")], minutes.lines(file.name)))

    def test_beside_the_budget(self):
        self.assertEqual(self.table("60\tset-up and build\n30\tset-up and build\n"),
                         ["  set-up and build        1.5 of  3 min", "  fuzz                    0.0 of  1 min",
                          "  all                     1.5 of  4 min"])

    def test_over_it_and_unknown(self):
        rows = self.table("90\tfuzz\n30\tnew\n")
        self.assertIn("  fuzz                    1.5 of  1 min  warning: 0.5 over", rows)
        self.assertIn("  new                     0.5 of  0 min  warning: 0.5 over", rows)

    def test_the_budget_has_each_kind(self):
        budget = minutes.lines(ROOT / ".ci" / "budget")
        kinds = {line.split("spent ")[1].strip('"') for line in (ROOT / "scripts" / "test").read_text().splitlines()
                 if line.strip().startswith("spent ") and "=" not in line}
        self.assertEqual({kind for _, kind in budget}, kinds)
        self.assertEqual(dict((kind, number) for number, kind in budget)["promises"], 8)
        self.assertLessEqual(sum(number for number, _ in budget), 60)


if __name__ == "__main__":
    unittest.main()
