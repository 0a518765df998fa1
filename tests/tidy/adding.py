"""Checks that adding, for example, a model, a lever or a provider takes only its own files and entries in two lists.

For each kind of thing that jobs, nodes or fleets choose by name, the table names one that exists. Apart from its own
files, only the registry of its kind and the list of sources may name it, and a proto file if users write a field for
it. If another file of the product names it, that is an error. The thing's own files must exist, and a test must name
it."""

import dataclasses
import re

from includes import OUT_OF_PRODUCT
from repository import Finding

SOURCES = (".h", ".cc", ".cu", ".cuh", ".proto", ".cmake", "CMakeLists.txt")
TESTS = re.compile(r"_test\.(cc|py)$")
# Names of test files in a line are ignored, because a test may be named after what it tests.
TEST_SOURCE = re.compile(r"\S+_test\.(cc|cu|py)\b")
MOST_FILES = 2


@dataclasses.dataclass(frozen=True)
class Thing:
    """Describes one thing, such as the optimizer `lion`. `own` matches the paths of its own files, and `names` matches
    the words by which a line of code refers to it."""

    kind: str
    name: str
    own: str
    names: str = ""
    # `brings_field` says that users write a field for the thing in a job or fleet file, so that a proto names it, too.
    brings_field: bool = False

    def pattern(self):
        """Returns a pattern of the name as a word of an identifier: early_stop, kEarlyStop, early_stop.cc."""
        camel = "".join(part.capitalize() for part in self.name.split("_"))
        return re.compile(self.names or rf"(?<![A-Za-z]){self.name}(?![A-Za-z])|{camel}(?![a-z])")


THINGS = [
    # The pattern for `mlp` leaves out names such as "h.0.mlp.c_fc.weight", under which the tensors of GPT-2 were
    # published.
    Thing("model", "mlp", r"worker/models/(declared|kinds)/mlp\.",
          r"(?<![A-Za-z])mlp(?!\.c_)(?![A-Za-z])|(?<![A-Z])(Mlp|MLP)(?![a-z])", brings_field=True),
    # "table" is an ordinary word, too, so the pattern lists the forms in which code names the data kind `table`.
    Thing("data kind", "table", r"worker/data/(declared|kinds)/(table|table_rows|parquet|parquet_arrow)\.",
          r"\"table\"|\bdata\.table|\btable\(\)|_table\(|\(Table\)|TableData|OpenTable|(declared|kinds)/table|"
          r"REKINDLE_DATA_KINDS .*\btable\b|message Table\b", brings_field=True),
    # "operator" is a word of C++, too, so the pattern lists the names that code has for this notice source. Its names
    # for users are "file" and "command".
    Thing("notice source", "operator", r"worker/agent/notices/operator_notices\.",
          r"operator_notices|New(File|Command)Source|k(File|Command)Notices"),
    Thing("optimizer", "lion", r"(worker/train/levers/optimizer_|worker/train/optimizers/|kernels/optimizers/|"
          r"kernels/cuda/step/)lion(_\w+)?\."),
    Thing("schedule", "plateau", r"worker/train/levers/schedule_plateau\.", brings_field=True),
    Thing("lever", "early_stop", r"worker/train/levers/early_stop\.", brings_field=True),
    # "exec" is a system call and a part of a kubeconfig, too, so the pattern lists the forms in which code names the
    # provider. A fleet file has a section for this provider.
    Thing("provider", "exec", r"coordinator/fleet/providers/exec/",
          r"(?<!\[)\"exec\"|Exec(?![a-z])|fleet_exec|providers/exec|add_subdirectory\(exec\)", brings_field=True),
]


def naming(repository, thing):
    """Returns {path: line} of the product's files that name the thing and are not its own files."""
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
