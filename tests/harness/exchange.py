"""Exchanges two paths in one step, so that a program that writes to one never finds it missing and makes it anew."""
import ctypes
import os

AT_FDCWD = -100
RENAME_EXCHANGE = 2


def exchange(one, other):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(one), None, str(other))
