"""Checks for words that have no place in the project. The lists of names are in rot13, so this file has none."""

import codecs
import re
import socket

from repository import Finding

EXEMPT = ("LICENSE",)


def plain(text):
    return codecs.decode(text, "rot13")


ASSISTANTS = plain(r"pynhqr|naguebcvp|bcranv|pungtcg|pbcvybg|pbqrk|nv nffvfgnag|pb-nhguberq-ol|trarengrq jvgu")
REGISTRIES = plain(
    r"clcv\.bet|clgubaubfgrq\.bet|qbpxre\.vb|tupe\.vb|dhnl\.vb|ertvfgel\.aczwf|cebkl\.tbynat|pengrf\.vb|"
    r"qro\.qrovna\.bet|nepuvir\.hohagh\.pbz|nanpbaqn\.bet"
)
UNFINISHED = plain(r"GBQB|SVKZR|KKK")
# `FOLDERS` matches absolute paths of folders that only one machine has. It does not match a path such as "$dir/work/"
# or "a/work/".
FOLDERS = plain(r"/(jbex|ebbg)/")
SIBLING = plain(r"\.\./funerq")
# `OPENING` matches a sentence of a comment, docstring or document that begins with "Of". The subject of such a sentence
# comes late, so that it has to be read twice. What is in the middle of a line begins a sentence after a full stop, a
# comment mark or the bar of a table.
OPENING = r'(?:^\s*(?:/{2,}|#+|<!--|"{3}|[*>-]|\d+\.)?|/{2,}|#|"{3}|\||[.!?][)"\'`*]*\s)\s*\**Of(?=\s|$)'

# Each rule is (pattern, the folders where it is allowed, what is wrong, the fix).
RULES = [
    (re.compile(rf"\b({ASSISTANTS})\b", re.IGNORECASE), (), "names a tool or assistant",
     "say what the code does instead"),
    (re.compile(REGISTRIES, re.IGNORECASE), (), "names a registry's host",
     "leave it to the package manager's settings"),
    (re.compile(rf"\b({UNFINISHED})\b"), (), "is unfinished", "do it, or open an issue"),
    (re.compile(rf"(?<![\w.)}}\]*$~<>-]){FOLDERS}"), (), "names a folder of one machine",
     "use a relative or configured path"),
    (re.compile(SIBLING), ("tests/", "bench/"), "reaches beside the checkout",
     "only tests and benches may, and skip without it"),
    (re.compile(OPENING), (), "begins a sentence without its subject", "begin it with what it is about"),
]


def machine_rule():
    """Returns a rule for the name of this machine, where the name is too distinctive to be an ordinary word."""
    name = socket.gethostname().split(".")[0]
    if len(name) < 8 or not re.search(r"\d", name):
        return []
    return [(re.compile(re.escape(name)), (), "names this machine", "leave it out")]


def check(repository):
    rules = RULES + machine_rule()
    for path in repository.paths:
        if path in EXEMPT:
            continue
        for number, line in repository.lines(path):
            for pattern, allowed, what, fix in rules:
                match = None if path.startswith(allowed or ("\0",)) else pattern.search(line)
                if match:
                    yield Finding(path, number, f"'{match.group(0)}' {what}", fix)
