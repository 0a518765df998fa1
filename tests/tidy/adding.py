"""Checks that adding a thing of a kind that jobs, nodes or fleets choose by name takes its own files and two lists.

For each kind the table names one thing that is there. Beside its own files two files of the product may name it, the
registry of its kind and the list of sources, and a proto if it brings a field of a file that users write. What names it
elsewhere is knowledge in the wrong place. Its files must be there, and a test must name it."""

import dataclasses
import re

from includes import OUT_OF_PRODUCT
from repository import Finding

SOURCES = (".h", ".cc", ".cu", ".cuh", ".proto", ".cmake", "CMakeLists.txt")
TESTS = re.compile(r"_test\.(cc|py)$")
# Lists of sources name tests, too. These are left out, because a test does not count.
TEST_SOURCE = re.compile(r"\S+_test\.(cc|cu|py)\b")
MOST_FILES = 2


@dataclasses.dataclass(frozen=True)
class Thing:
    """Describes one thing. `own` matches the paths of its files, and `names` what names it in a file."""

    kind: str
    name: str
    own: str
    names: str = ""
    # A field of a file that users write is in its proto.
    brings_field: bool = False

    def pattern(self):
        """Returns a pattern of the name as a word of an identifier: early_stop, kEarlyStop, early_stop.cc."""
        camel = "".join(part.capitalize() for part in self.name.split("_"))
        return re.compile(self.names or rf"(?<![A-Za-z]){self.name}(?![A-Za-z])|{camel}(?![a-z])")


THINGS = [
    # The tensors of GPT-2 were published as "h.0.mlp.c_fc.weight" ...
    Thing("model", "mlp", r"worker/models/(declared|kinds)/mlp\.",
          r"(?<![A-Za-z])mlp(?!\.c_)(?![A-Za-z])|(?<![A-Z])(Mlp|MLP)(?![a-z])", brings_field=True),
    # "table" is an ordinary word, too. These are the ways in which code names the kind of data.
    Thing("data kind", "table", r"worker/data/(declared|kinds)/(table|parquet|parquet_arrow)\.",
          r"\"table\"|\bdata\.table|\btable\(\)|_table\(|\(Table\)|TableData|OpenTable|(declared|kinds)/table|"
          r"REKINDLE_DATA_KINDS .*\btable\b|message Table\b", brings_field=True),
    # "operator" is a word of C++, too. For users the source has two names, "file" and "command".
    Thing("notice source", "operator", r"worker/agent/notices/operator_notices\.",
          r"operator_notices|New(File|Command)Source|k(File|Command)Notices"),
    Thing("optimizer", "lion", r"(worker/train/levers/optimizer_|worker/train/optimizers/|kernels/optimizers/)lion\."),
    Thing("schedule", "plateau", r"worker/train/levers/schedule_plateau\.", brings_field=True),
    Thing("lever", "early_stop", r"worker/train/levers/early_stop\.", brings_field=True),
    # "exec" is a call of the system and a part of a kubeconfig, too. The provider brings a section of the fleet file.
    Thing("provider", "exec", r"coordinator/fleet/providers/exec/",
          r"(?<!\[)\"exec\"|Exec(?![a-z])|fleet_exec|providers/exec|add_subdirectory\(exec\)", brings_field=True),
]


def naming(repository, thing):
    """Returns {path: line} of the files of the product, outside of the thing's own, that name it."""
    pattern, own = thing.pattern(), re.compile(thing.own)
    found = {}
    for path in repository.select(*SOURCES):
        if own.match(path) or OUT_OF_PRODUCT.search(path):
            continue
        for number, line in repository.lines(path):
            if pattern.search(TEST_SOURCE.sub("", line)):
                found[path] = number
                break
    return found


def check(repository, things=None):
    for thing in THINGS if things is None else things:
        own = re.compile(thing.own)
        if not any(own.match(path) for path in repository.paths):
            yield Finding("tests/tidy/adding.py", 1, f"the {thing.kind} {thing.name} has no files",
                          "name another one of its kind")
            continue
        found = naming(repository, thing)
        most = MOST_FILES + thing.brings_field
        if len(found) > most:
            for path, line in found.items():
                yield Finding(path, line, f"names the {thing.kind} {thing.name}, as {len(found)} files do",
                              f"{most} may, its registry and the list of sources: let it declare what this file knows")
        if not any(TESTS.search(path) and thing.pattern().search(repository.text(path)) for path in repository.paths):
            yield Finding("tests/tidy/adding.py", 1, f"no test names the {thing.kind} {thing.name}", "write one")
