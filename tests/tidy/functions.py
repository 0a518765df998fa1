"""Checks the length of functions and lines. Functions of C++ are found by their braces, as the formatter lays them
out."""

import ast
import re

from repository import Finding

SOURCES = (".h", ".cc", ".cu", ".cuh")
# The width of lines is checked in files whose names end as `WITH_COLUMNS` says, and in scripts.
WITH_COLUMNS = (*SOURCES, ".py", ".sh", ".proto", ".cmake", "CMakeLists.txt")
MAX_FUNCTION, MAX_COLUMNS = 60, 120
# The statement before an opening brace matches `NO_FUNCTION` if the brace does not begin a function.
NO_FUNCTION = re.compile(
    r"^(inline )?(namespace|class|struct|enum|union|extern|switch|if|for|while|do|else|try|catch)\b"
    r"|=$|\breturn$|^\{?$|,$|\($")
# `TOKEN` matches what may have braces that do not count: text, comments, characters and preprocessor lines.
TOKEN = re.compile(r'R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|(?<![0-9a-zA-Z])\'(?:\\.|[^\'\\])\''
                   r'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.DOTALL | re.MULTILINE)


def blank(match):
    """Returns a text without braces, with as many lines as the match of `TOKEN`, to put in its place."""
    return ('""' if match.group(0)[0] in "R\"'" else "") + "\n" * match.group(0).count("\n")


def blocks(text):
    """Yields (header, first line, last line) of each pair of braces. The header is the statement before the
    opening brace."""
    plain = TOKEN.sub(blank, text)
    stack, line, begin, begin_line = [], 1, 0, None
    for at, character in enumerate(plain):
        if character == "\n":
            line += 1
        elif character == "{":
            header = plain[begin:at].strip()
            stack.append((header, begin_line if header else line))
            begin, begin_line = at + 1, None
        elif character == "}" and stack:
            header, first = stack.pop()
            yield header, first, line
            begin, begin_line = at + 1, None
        elif character == ";":
            begin, begin_line = at + 1, None
        if begin_line is None and not character.isspace() and at >= begin:
            begin_line = line


def is_function(header):
    header = " ".join(header.split())
    return "(" in header and not NO_FUNCTION.search(header)


def functions(path, text):
    """Yields (first line, last line) of each function."""
    if path.endswith(SOURCES):
        yield from ((first, last) for header, first, last in blocks(text) if is_function(header))
    elif path.endswith(".py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node.lineno, node.end_lineno


def is_script(repository, path):
    """Returns whether the file is a script whose name has no ending, such as scripts/test."""
    return "." not in path.rpartition("/")[2] and repository.text(path).startswith("#!")


def check(repository):
    for path in repository.select(*SOURCES, ".py"):
        for first, last in functions(path, repository.text(path)):
            if last - first >= MAX_FUNCTION:
                yield Finding(path, first, f"a function of {last - first + 1} lines",
                              "give its parts names of their own")
    for path in repository.paths:
        if path.endswith(WITH_COLUMNS) or is_script(repository, path):
            for number, line in repository.lines(path):
                if len(line) > MAX_COLUMNS:
                    yield Finding(path, number, f"{len(line)} columns", f"{MAX_COLUMNS} are the most")
