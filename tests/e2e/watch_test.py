"""Tests `rekindle watch` as a user sees it: on terminals of several sizes, on simple ones, and without one."""
import json
import pathlib
import re
import signal
import subprocess
import time
import unittest

from base import ClusterTest, small_job, wait_until
from programs import program
import screen
import servers

UTF8 = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
WIDTHS = (40, 80, 120, 200)
LABELS = ("elapsed", "ETA", "loss", "validation", "speed", "members", "generation", "interrupted", "checkpoint",
          "spent", "rate", "budget", "reason", "last event")
FRAMES = 100
# No test waits for all `STEPS`. They are few enough for a curve with a point for every fifty steps.
STEPS = 20_000
# `SECONDS` is the limit for things that take one second on a machine that does nothing else.
SECONDS = 60


def stands_as_drawn(shown):
    """Returns whether the newest drawing is what the screen shows, with nothing of an older one above or below."""
    frames, lines = shown.frames(), shown.lines()
    # If another drawing has begun since frames() was called, the screen does not show `frames[-1]` any more.
    if shown.bytes.count(b"\033[J") != len(frames) or not shown.bytes.endswith(b"\033[J"):
        return False
    drawn = [line.rstrip() for line in frames[-1]]
    return [line for line in lines if line] == [line for line in drawn if line] and lines[-len(drawn):] == drawn


class WatchTest(ClusterTest):
    def setUp(self):
        super().setUp()
        try:
            screen.emulator()
        except servers.Missing as why:
            self.skipTest(str(why))
        self.running = self.cluster(nodes=("n1", "n2"))
        self.running.submit(small_job("long", self.text, steps=STEPS, workers=2))

    def command(self, *args):
        return [program("rekindle"), *args, "--endpoint", self.running.endpoint]

    def on_screen(self, *args, columns=80, env=None):
        """Runs the command on a terminal whose cursor is in the last line, as after many other commands."""
        shown = screen.Screen(self.command(*args), columns=columns, env={**UTF8, **(env or {})})
        self.addCleanup(shown.close)
        shown.stream.feed(b"\r\n" * 23)
        return shown

    def in_file(self, *args):
        """Runs the command without a terminal. Returns its process, and the file that it writes to."""
        path = pathlib.Path(self.folder) / f"{'-'.join(args)}.txt"
        with open(path, "wb") as out:
            process = subprocess.Popen(self.command(*args), stdout=out, stderr=out, stdin=subprocess.DEVNULL)

        def stop():
            process.kill()
            process.wait()
        self.addCleanup(stop)
        return process, path

    def await_all(self, screens, found, what):
        wait_until(lambda: all([found(shown) for shown in screens]), SECONDS, what, poll=0.05)

    def shows(self, shown, *patterns):
        """Waits until all patterns are on the screen at once. The command may be in the middle of a drawing."""
        def there():
            text = shown.text()
            return all(re.search(pattern, text) for pattern in patterns)
        try:
            wait_until(there, SECONDS, "words on the screen", poll=0.05)
        except TimeoutError:
            text = shown.text()
            self.fail(f"not there: {[p for p in patterns if not re.search(p, text)]}, on\n{text}")

    def test_a_watched_job(self):
        drawn = {columns: self.on_screen("watch", "long", columns=columns) for columns in WIDTHS}
        dumb = self.on_screen("watch", "long", env={"TERM": "dumb"})
        ascii_only = self.on_screen("watch", "long", env={"LC_ALL": "C"})
        file, lines = self.in_file("watch", "long")
        objects, documents = self.in_file("watch", "long", "-o", "json")
        self.draws_in_place(drawn)
        self.says_what_there_is_to_say(drawn[80])
        self.follows_the_size(drawn[120])
        self.begins_anew_after_a_stop(drawn[200])
        self.prints_plain_lines(dumb, ascii_only, lines)
        self.writes_an_object_a_change(documents)
        self.says_that_the_coordinator_is_away(list(drawn.values()), dumb, lines)
        self.ends_alone([(drawn[40], signal.SIGTERM), (drawn[80], None), (dumb, None)], file, lines)
        self.running.cli("cancel", "long")
        self.ends_with_the_job(drawn[200], ascii_only, objects, documents)
        self.waits_after_a_submit()

    def draws_in_place(self, drawn):
        self.await_all(drawn.values(), lambda shown: len(shown.frames()) >= 1, "a first drawing")
        first = {columns: (len(shown.frames()[0]), shown.scrolled()) for columns, shown in drawn.items()}
        self.await_all(drawn.values(), lambda shown: len(shown.frames()) > FRAMES, "many drawings")
        for columns, shown in drawn.items():
            frames = shown.frames()
            self.assertEqual({len(frame) for frame in frames}, {first[columns][0]}, columns)
            self.assertEqual(shown.scrolled(), first[columns][1], columns)
            # The first drawing began in the last line, so it moved older lines off the screen. No later drawing did.
            self.assertEqual(shown.scrolled(), len(frames[0]) - 1, columns)
            self.assertLess(max(shown.width_of(line) for frame in frames for line in frame), columns)
            self.await_all([shown], stands_as_drawn, "a drawing to stand as it was written")
            self.shows(shown, r"long  RUNNING")

    def says_what_there_is_to_say(self, shown):
        self.shows(shown, *LABELS, r"[█░]  \d+/20000 \(\d+ %\)", r"ETA +\d+[hm] \d\d[ms]\n",
                   r"loss +\d\.\d{4} +validation +\d\.\d{4}, \d\.\d{4} bits/byte",
                   r"speed +[\d.]+k? tokens/s +members +2 \(\d+/\d+\)", r"checkpoint +step \d+, (\d+m )?\d+s old",
                   r"last event +\w",
                   # The curve's picture shows its highest loss and its steps.
                   r"\n\d\.\d+ +█", r"\n +step \d+ +\d+\n",
                   r"\nCtrl-C stops watching; the job goes on$")

    def follows_the_size(self, shown):
        shown.resize(60, 30)
        begin = len(shown.frames())
        wait_until(lambda: len(shown.frames()) > begin + 2, SECONDS, "drawings of another size", poll=0.05)
        narrow = shown.frames()[begin + 1:]
        self.assertLess(max(shown.width_of(line) for frame in narrow for line in frame), 60)
        self.await_all([shown], stands_as_drawn, "a drawing to stand as it was written")
        # When the window has another size, the screen is cleared, so the drawing is at the top and nothing older is
        # left.
        self.shows(shown, r"^long  RUNNING")

    def begins_anew_after_a_stop(self, shown):
        """Stops and continues the command, as Ctrl-Z and `fg` do, where a shell has written below the drawing."""
        before, rows = shown.scrolled(), len(shown.frames()[-1])
        shown.process.send_signal(signal.SIGSTOP)
        shown.process.send_signal(signal.SIGCONT)
        wait_until(lambda: shown.scrolled() > before, SECONDS, "a drawing below the one of before", poll=0.05)
        self.await_all([shown], lambda one: one.scrolled() == before + rows, "all of it")
        self.assertFalse(shown.echoes())

    def prints_plain_lines(self, dumb, ascii_only, path):
        wait_until(lambda: len(dumb.lines()) > 1 and len(ascii_only.lines()) > 1, SECONDS, "lines", poll=0.05)
        for what in (dumb.bytes.decode(), ascii_only.bytes.decode(), path.read_text()):
            self.assertNotIn("\033", what)
            self.assertRegex(what, r"long RUNNING  step \d+/20000 \(0 %\)  elapsed ")
            self.assertLess(len(what.splitlines()), FRAMES / 2)
        self.assertTrue(ascii_only.bytes.isascii())
        self.assertRegex(ascii_only.bytes.decode(), r"^\[----------\] long ")

    def writes_an_object_a_change(self, path):
        jobs = [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
        self.assertGreater(len(jobs), 10)
        self.assertTrue(all(one != next_one for one, next_one in zip(jobs, jobs[1:])))

    def says_that_the_coordinator_is_away(self, drawn, dumb, path):
        self.running.coordinator.send_signal(signal.SIGSTOP)
        since = time.monotonic()
        try:
            self.await_all(drawn, lambda shown: "coordinator away since" in shown.text(), "it to be missed")
            # On a machine that does nothing else, the command reports a missing coordinator within about three seconds.
            self.assertLess(time.monotonic() - since, 6)
            self.await_all([dumb], lambda shown: "coordinator away since" in shown.text(), "a line")
        finally:
            self.running.coordinator.send_signal(signal.SIGCONT)
        self.await_all(drawn, lambda shown: "away" not in shown.text(), "it to be back")
        wait_until(lambda: "the coordinator answers again\n" in path.read_text(), SECONDS, "a line", poll=0.05)

    def ends_alone(self, shown_by, file, path):
        """Ends the command on each terminal of `shown_by` by the signal beside it. None stands for a typed Ctrl-C."""
        words = "job long goes on: `rekindle watch long` shows it again, `rekindle cancel long` ends it"
        for shown, sig in shown_by:
            with self.subTest(columns=shown.screen.columns, signal=sig):
                draws = b"\033" in shown.bytes
                # While the command draws, the terminal does not echo, because typed text would appear in the drawing.
                self.assertEqual(shown.echoes(), not draws)
                if sig is None:
                    shown.type(b"\x03")
                self.assertEqual(shown.end(sig), 130)
                self.assertTrue(shown.echoes())
                # A narrow terminal may break the expected words at any place.
                self.assertIn("".join(words.split()), "".join(shown.text().split()))
                if draws:
                    self.assertNotIn(b"^C", shown.bytes)
                    # The last drawing is still on the screen after the command has ended.
                    self.assertIn("long  RUNNING", shown.text())
        file.send_signal(signal.SIGINT)
        self.assertEqual(file.wait(timeout=SECONDS), 130)
        self.assertIn(words, path.read_text())
        self.assertEqual(self.running.status("long")["state"], "RUNNING")

    def ends_with_the_job(self, shown, lines, objects, path):
        self.assertEqual(shown.end(), 0)
        self.assertRegex(shown.text(), r"long  CANCELLED")
        self.assertRegex(shown.lines()[-1], r"^ended at \d\d:\d\d:\d\d$")
        self.assertTrue(shown.echoes())
        self.assertEqual(lines.end(), 0)
        self.assertIn("long CANCELLED", lines.text())
        self.assertEqual(objects.wait(timeout=SECONDS), 0)
        self.assertEqual(json.loads(path.read_text().splitlines()[-1])["status"]["state"], "CANCELLED")

    def waits_after_a_submit(self):
        job = pathlib.Path(self.folder) / "next.yaml"
        job.write_text(json.dumps(small_job("next", self.text, steps=STEPS, workers=2)))
        shown = self.on_screen("submit", str(job), "--wait")
        self.shows(shown, r"next  RUNNING")
        shown.type(b"\x03")
        self.assertEqual(shown.end(), 130)
        self.assertIn("`rekindlecancelnext`endsit", "".join(shown.text().split()))
        self.assertEqual(self.running.status("next")["state"], "RUNNING")


if __name__ == "__main__":
    unittest.main()
