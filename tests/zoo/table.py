"""Keeps the table of a page, of which each test of the zoo writes its own columns.

The tests write it where REKINDLE_ZOO_TABLE names a page. docs/own-models-zoo.md is that page."""
import os
import pathlib

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "own-models-zoo.md"
COLUMNS = ("model", "parameters", "loss", "gradients", "digest")
HEAD = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"
BEGIN, END = "<!-- table of the zoo -->\n", "<!-- /table of the zoo -->\n"


def rows_of(text):
    """Returns {model: {column: text}} of the table in the text of a page."""
    lines = text.partition(BEGIN)[2].partition(END)[0].removeprefix(HEAD).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: dict(zip(COLUMNS, row)) for row in cells}


def written(text, found):
    """Returns the text of a page whose table has the columns in `found`, which is {model: {column: text}}, too."""
    rows = rows_of(text)
    for name, columns in found.items():
        rows[name] = {**rows.get(name, {}), "model": name, **columns}
    lines = [f"| {' | '.join(row.get(column, '') for column in COLUMNS)} |\n" for _, row in sorted(rows.items())]
    return text.partition(BEGIN)[0] + BEGIN + HEAD + "".join(lines) + END + text.partition(END)[2]


def write(found):
    """Writes the columns to the page that REKINDLE_ZOO_TABLE names, if it names one."""
    if path := os.environ.get("REKINDLE_ZOO_TABLE"):
        page = pathlib.Path(path)
        page.write_text(written(page.read_text(encoding="utf-8"), found), encoding="utf-8")
