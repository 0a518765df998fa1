"""Prints the minutes of each kind of a test run beside its budget: minutes.py BUDGET TIMES.

BUDGET has lines `MINUTES KIND`. TIMES has lines `SECONDS<tab>KIND`, as scripts/test --times writes them.
"""
import sys


def lines(path):
    """Returns [(number, kind)] of a file, without comments."""
    with open(path, encoding="utf-8") as file:
        words = [line.split(None, 1) for line in file if line.strip() and not line.startswith("#")]
    return [(int(number), kind.strip()) for number, kind in words]


def table(budget, times):
    """Yields a line for each kind and one for all kinds. A kind that the budget does not know is allowed no minutes."""
    seconds = {kind: 0 for _, kind in budget}
    for spent, kind in times:
        seconds[kind] = seconds.get(kind, 0) + spent
    allowed = {kind: minutes for minutes, kind in budget}
    rows = [(kind, spent, allowed.get(kind, 0)) for kind, spent in seconds.items()]
    rows.append(("all", sum(seconds.values()), sum(allowed.values())))
    for kind, spent, minutes in rows:
        over = spent / 60 - minutes
        yield f"  {kind:20} {spent / 60:6.1f} of {minutes:2d} min" + (f"  warning: {over:.1f} over" if over > 0 else "")


def main(budget, times):
    print("\n".join(table(lines(budget), lines(times))))


if __name__ == "__main__":
    main(*sys.argv[1:])
