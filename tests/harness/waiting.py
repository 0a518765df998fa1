"""Waits for an event with a deadline."""
import time


def wait_until(found, seconds, what, poll=0.005):
    """Waits for the first true value of found() and returns it. The error after a timeout names `what`."""
    end = time.monotonic() + seconds
    while True:
        got = found()
        if got:
            return got
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(poll)
