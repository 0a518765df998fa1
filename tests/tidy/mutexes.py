"""Checks that every mutex is the project's own, which carries clang's attributes, and says what it guards."""

import re

from repository import Finding

WRAPPER = "common/sync/mutex.h"
STANDARD = re.compile(r"\bstd::(mutex|shared_mutex|recursive_mutex|timed_mutex|lock_guard|unique_lock|scoped_lock"
                      r"|shared_lock|condition_variable|condition_variable_any)\b")
# The name of a mutex that is a member ends with an underscore. A mutex that is local to a function is not checked, and
# its comment says what it guards.
MEMBER = re.compile(r"^\s*(?:mutable |static )?(?:common::)?Mutex (\w+_)\b")


def guards(text, name):
    """Returns whether the text says what the mutex `name` guards, or why it guards no field."""
    return re.search(rf"GUARDED_BY\([^)]*\b{name}\)", text) or re.search(
        rf"`{name}` [^\n]*(?:\n\s*//[^\n]*)*guards no field", text)


def check(repository):
    for path in repository.select(".h", ".cc", ".cu"):
        if path == WRAPPER:
            continue
        text = repository.text(path)
        for number, line in repository.lines(path):
            if STANDARD.search(line):
                yield Finding(path, number, "a mutex or a lock of the standard library",
                              f"use {WRAPPER}, whose guarded fields clang checks")
            member = MEMBER.match(line)
            if member and not guards(text, member.group(1)):
                yield Finding(path, number, f"nothing says what {member.group(1)} guards",
                              f"put ABSL_GUARDED_BY({member.group(1)}) on the fields, or write that it guards no field")
