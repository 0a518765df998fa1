"""Tests the lines by which rekindle.run shows a job, on a terminal and elsewhere."""
import io
import os
import unittest
from unittest import mock

import base  # noqa: F401

from rekindle.running.progress import Progress, duration


class ProgressTest(unittest.TestCase):
    def setUp(self):
        self.now = 100.0

    def job(self, **status):
        return {"status": {"state": "RUNNING", "reason": "", "step": 0, "loss": 0.0, "step_seconds": 0.0,
                           "tokens_per_second": 0.0, "last_event": "",
                           "resolved_spec": {"training": {"steps": 200, "global_batch": 32}}, **status}}

    def test_lines_where_none_can_be_drawn_again(self):
        stream = io.StringIO()
        progress = Progress(stream, lambda: self.now)

        def printed(seconds, **status):
            self.now += seconds
            stream.truncate(stream.seek(0))
            progress.show(self.job(**status))
            return stream.getvalue().splitlines()

        self.assertEqual(printed(0, state="PENDING", reason="waits for workers"),
                         ["step 0/200  pending: waits for workers"])
        self.assertEqual(printed(1, state="PENDING", reason="waits for workers"), [])
        self.assertEqual(printed(1, last_event="started with 2 workers"),
                         ["rekindle: started with 2 workers", "step 0/200"])
        fields = {"loss": 2.25, "step_seconds": 0.5, "tokens_per_second": 64.0, "last_event": "started with 2 workers"}
        self.assertEqual(printed(1, step=3, **fields), [])
        self.assertEqual(printed(4, step=82, **fields), ["step 82/200  loss 2.2500  64.0 samples/s  ETA 59s"])
        fields["tokens_per_second"] = 65536.0
        self.assertEqual(printed(7, step=82, **fields, reason="replacing the child"),
                         ["step 82/200  loss 2.2500  65.5k tokens/s  ETA 59s  no step for 7s: replacing the child"])
        notes = [{"trainer": f"n{n}/0/7", "note": note} for n, note in ((1, ""), (2, "compiling"), (3, "x"), (4, "y"))]
        self.assertEqual(printed(5, step=82, **fields, members=notes, reason="started"),
                         ["step 82/200  loss 2.2500  65.5k tokens/s  ETA 59s  no step for 12s: n2/0 compiling; "
                          "n3/0 x ..."])
        fields["last_event"] = "shrank 2 to 1:\x1b[2J n2 \nis gone"
        self.assertEqual(printed(0, step=82, **fields),
                         ["rekindle: shrank 2 to 1:?[2J n2 ?is gone"])

    def test_a_line_that_is_drawn_again(self):
        stream = mock.Mock(wraps=io.StringIO(), isatty=lambda: True, fileno=lambda: -1)
        with mock.patch.dict(os.environ, {"TERM": "xterm"}):
            progress = Progress(stream, lambda: self.now)
        progress.show(self.job(step=10, loss=1.0, step_seconds=2.0, tokens_per_second=16.0))
        self.now += 30
        progress.tick()
        progress.say("a line that stays")
        progress.end()
        clear, line = "\r\x1b[2K", "step 10/200  loss 1.0000  16.0 samples/s  ETA "
        silent = f"{clear}{line}5m 50s  no step for 30s{clear}"
        self.assertEqual(stream.getvalue(), f"{clear}{line}6m 20s{silent}rekindle: a line that stays\n{silent}")

    def test_a_loss_that_is_not_finite(self):
        stream = io.StringIO()
        Progress(stream, lambda: self.now).show(self.job(step=3, loss="NaN"))
        self.assertEqual(stream.getvalue(), "step 3/200  loss nan\n")

    def test_a_process_without_standard_error(self):
        progress = Progress(None)
        progress.say("nobody reads this")
        progress.show(self.job())
        progress.end()

    def test_durations(self):
        self.assertEqual([duration(seconds) for seconds in (-1, 59.4, 60, 103, 3600, 7500)],
                         ["0s", "59s", "1m 00s", "1m 43s", "1h 00m", "2h 05m"])


if __name__ == "__main__":
    unittest.main()
