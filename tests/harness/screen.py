"""Runs a program on a terminal of its own and shows what its user sees, by a pseudo-terminal and the emulator pyte."""
import fcntl
import glob
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

import servers


def emulator():
    """Returns the module pyte. Raises servers.Missing where it cannot be installed."""
    [site] = glob.glob(f"{servers.python_wheels('terminal')}/lib/python3*/site-packages")
    if site not in sys.path:
        sys.path.append(site)
    import pyte   # pylint: disable=import-outside-toplevel
    return pyte


class Screen:
    """Runs `command` on a terminal. `env` is added to this process's environment, or replaces its variables."""

    def __init__(self, command, columns=80, rows=24, env=None):
        pyte = emulator()
        self.screen = pyte.HistoryScreen(columns, rows, history=10_000)
        self.stream = pyte.ByteStream(self.screen)
        self.bytes = b""
        self.master, end = pty.openpty()
        self.set_size(columns, rows)
        # The program gets a session of its own with this terminal, because only then does Ctrl-C become a signal.
        self.process = subprocess.Popen(
            command, env={**os.environ, **(env or {})}, stdin=end, stdout=end, stderr=end, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(end)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)

    def set_size(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        """Changes the size of the window while the program runs. SIGWINCH tells the program."""
        self.read()
        self.screen.resize(rows, columns)
        self.set_size(columns, rows)

    def type(self, keys):
        os.write(self.master, keys)

    def echoes(self):
        return bool(termios.tcgetattr(self.master)[3] & termios.ECHO)

    def read(self):
        """Reads all that the program has written to the terminal so far."""
        while select.select([self.master], [], [], 0)[0]:
            try:
                some = os.read(self.master, 65536)
            except OSError:
                # The program has ended and closed its side of the terminal.
                break
            if not some:
                break
            self.bytes += some
            self.stream.feed(some)

    def lines(self):
        """Returns the lines of the screen, without the empty ones at its end."""
        self.read()
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip("\n").split("\n")

    def text(self):
        return "\n".join(self.lines())

    def scrolled(self):
        """Returns how many lines have left the screen at its top."""
        self.read()
        return len(self.screen.history.top)

    def frames(self):
        """Returns the lines of each drawing so far, as they were written, before the terminal changed them."""
        self.read()
        drawings = self.bytes.decode(errors="replace").split("\033[J")[:-1]
        return [[line.rstrip("\r\n") for line in drawing.split("\033[2K")[1:]] for drawing in drawings]

    def width_of(self, line):
        import wcwidth   # pylint: disable=import-outside-toplevel
        return wcwidth.wcswidth(re.sub(r"\033\[[0-9;]*[A-Za-z]", "", line))

    def end(self, sig=None, seconds=20):
        """Waits for the end of the program and returns its exit code, after sending it a signal if one is given."""
        if sig is not None:
            self.process.send_signal(sig)
        end = time.monotonic() + seconds
        # The output is read while waiting, because the program may not end before somebody reads it.
        while self.process.poll() is None and time.monotonic() < end:
            select.select([self.master], [], [], 0.05)
            self.read()
        self.read()
        return self.process.wait(timeout=1)
