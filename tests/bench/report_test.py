#!/usr/bin/python3
"""Tests that a bench's result has a finite value of each declared metric, in full runs, with --smoke and --turn."""
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from _bench_json import HIGHER, LOWER, SKIPPED, Report  # noqa: E402
from _options import Options, run_all  # noqa: E402

METRICS = {"rate": HIGHER, "seconds": LOWER}


def options(*arguments):
    made = Options("example", "An example.")
    made.size("rounds", 9, smoke=1, turn=3)
    return made.parse(arguments)


class Reports(unittest.TestCase):
    def finish(self, values, *arguments, prepare=lambda report: None, **of_rate):
        """Returns (exit code, result, messages) of a run that measures `values`."""
        out, messages = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(messages):
            report = Report("example", METRICS, options(*arguments))
            prepare(report)
            for name, value in values.items():
                report.add(name, value, "units", **(of_rate if name == "rate" else {}))
            code = report.finish()
        return code, json.loads(out.getvalue()), messages.getvalue()

    def test_all_are_there(self):
        for kind in ((), ("--smoke",), ("--turn",)):
            code, result, messages = self.finish({"rate": 2, "seconds": 1}, *kind)
            self.assertEqual((code, messages, result["ok"]), (0, "", True))
            self.assertEqual({name: metric["better"] for name, metric in result["metrics"].items()}, METRICS)
            self.assertEqual("smoke" in result, kind == ("--smoke",))

    def test_one_is_missing(self):
        for kind in ((), ("--smoke",), ("--turn",)):
            code, result, messages = self.finish({"rate": 2}, *kind)
            self.assertEqual((code, result["ok"]), (1, False))
            self.assertIn("the metric seconds is declared, and was not measured", messages)

    def test_one_is_not_declared(self):
        for kind in ((), ("--smoke",)):
            code, _, messages = self.finish({"rate": 2, "seconds": 1, "more": 3}, *kind)
            self.assertEqual(code, 1)
            self.assertIn("the metric more was measured, and is not declared", messages)

    def test_one_is_not_finite(self):
        for value in (float("nan"), float("inf")):
            code, result, messages = self.finish({"rate": 2, "seconds": value}, "--smoke")
            self.assertEqual(code, 1)
            self.assertIn("the metric seconds is", messages)
            self.assertNotIn("seconds", result["metrics"])

    def test_what_the_machine_lacks(self):
        code, result, messages = self.finish({"rate": 2},
                                             prepare=lambda report: report.leave_out(["seconds"], "no clock"))
        self.assertEqual((code, result["left_out"]), (0, {"seconds": "no clock"}))
        self.assertIn("no clock", messages)

    def test_a_part(self):
        self.assertEqual(self.finish({"rate": 2}, prepare=lambda report: report.expect({"rate": HIGHER}))[0], 0)

    def test_targets_are_those_of_a_full_run(self):
        missed = {"rate": 2, "seconds": 1}
        self.assertEqual(self.finish(missed, target=3)[0], 1)
        self.assertEqual(self.finish(missed, target=2)[0], 0)
        self.assertEqual(self.finish(missed, peer=4, target_ratio=0.6)[0], 1)
        for kind in ("--smoke", "--turn"):
            code, result, _ = self.finish(missed, kind, target=3)
            self.assertEqual(code, 0)
            self.assertNotIn("ok", result["metrics"]["rate"])

    def test_lower_is_better(self):
        report = Report("example", METRICS, options())
        report.add("seconds", 2, "s", target=3)
        report.add("rate", 4, "1/s", target=3)
        self.assertTrue(report.result["ok"])
        report.add("seconds", 4, "s", target=3)
        self.assertFalse(report.result["ok"])

    def test_nothing_to_measure_with(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), \
                contextlib.redirect_stderr(io.StringIO()) as messages:
            report = Report("example", METRICS, options("--report", f"{folder}/r.json"))
            self.assertEqual(report.skip("no GPU"), SKIPPED)
            self.assertEqual(json.loads(pathlib.Path(folder, "r.json").read_text())["skipped"], "no GPU")
        self.assertEqual(messages.getvalue(), "skipped: no GPU\n")

    def test_a_file_of_a_run_that_goes_on(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            file = pathlib.Path(folder, "r.json")
            report = Report("example", METRICS, options("--report", str(file)))
            report.add("rate", 4, "1/s")
            report.keep()
            with file.open() as first:
                report.add("seconds", 2, "s")
                self.assertEqual(report.finish(), 0)
                # The file is replaced and not written over, so whoever reads it has all of one state.
                begun = json.load(first)
            done = json.loads(file.read_text())
            self.assertEqual([path.name for path in pathlib.Path(folder).iterdir()], ["r.json"])
        self.assertEqual((begun["complete"], set(begun["metrics"])), (False, {"rate"}))
        self.assertNotIn("complete", done)
        self.assertEqual(set(done["metrics"]), {*METRICS})

    def test_a_pipe_is_not_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = pathlib.Path(folder, "pipe")
            os.mkfifo(pipe)
            end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            self.addCleanup(os.close, end)
            report = Report("example", METRICS, options("--report", str(pipe)))
            report.keep()
            report.write()
            self.assertTrue(pipe.is_fifo())
            self.assertEqual(json.loads(os.read(end, 1 << 16))["bench"], "example")


class Kinds(unittest.TestCase):
    def test_sizes(self):
        for arguments, rounds in (((), 9), (("--smoke",), 1), (("--turn",), 3), (("--smoke", "--rounds", "2"), 2),
                                  (("--turn", "--smoke"), 1)):
            self.assertEqual(options(*arguments).rounds, rounds, arguments)

    def test_peers_are_those_of_a_full_run(self):
        self.assertTrue(options().peers)
        for kind in ("--smoke", "--turn", "--no-peers"):
            self.assertFalse(options(kind).peers, kind)

    def test_at_once_with_smoke_alone(self):
        meet = threading.Barrier(2)
        calls = [lambda: meet.wait(10) >= 0] * 2
        self.assertEqual(run_all(options("--smoke"), calls), [True, True])
        order = []
        run_all(options(), [lambda: order.append(1), lambda: order.append(2)])
        self.assertEqual(order, [1, 2])


if __name__ == "__main__":
    unittest.main()
