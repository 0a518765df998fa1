"""Tasks whose processes start slowly, or end, on purpose. TEST_STARTS names the folder of what they keep."""

import os
import pathlib
import time

import models

SLOW_SECONDS = 6


def starts(name):
    """Counts a start under a name, and returns how many there were."""
    with (pathlib.Path(os.environ["TEST_STARTS"]) / name).open("ab") as file:
        file.write(b"x")
        return file.tell()


def slow_again():
    """Starts at once beside a new trainer, and slowly when it is started there again."""
    if starts(f"trainer-{os.getppid()}") > 1:
        time.sleep(SLOW_SECONDS)
    return models.deep()


def ends_once():
    """Ends its process at the first start, without a word."""
    if starts("all") == 1:
        os._exit(3)
    return models.deep()


def never_ready():
    """Is not ready before a test is over."""
    starts("all")
    time.sleep(3600)
    return models.deep()
