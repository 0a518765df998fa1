"""Tests that the model process computes what a plain loop does, for models of many kinds.

usage: zoo_test.py [always | rotated | even | odd | all | NAME,...]

REKINDLE_ZOO says the same where there is no argument, and `always` is chosen where there is neither. `even` and `odd`
are the two halves of the group `rotated`. `rotated` is the half that REKINDLE_SEED chooses, or all of the group
without it. REKINDLE_ZOO_TABLE names a file, into which the results are written as a table of Markdown."""
import importlib
import importlib.util
import os
import pathlib
import sys
import unittest

# Exact jobs refuse an interpreter that draws the order of sets anew at each start.
if sys.flags.hash_randomization:
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE)]

from base import ChildTest  # noqa: E402

import packages  # noqa: E402
import torch  # noqa: E402
from examine import Row, examine  # noqa: E402
from registry import MODELS  # noqa: E402

packages.use()
for file in sorted(HERE.glob("models_*.py")):
    importlib.import_module(file.stem)


def chosen(words):
    """Returns the models that the argument or the environment asks for."""
    word = words[0] if words else os.environ.get("REKINDLE_ZOO") or "always"
    rotated = [model for model in MODELS.values() if model.group == "rotated"]
    if word == "rotated" and os.environ.get("REKINDLE_SEED"):
        seed = int(os.environ["REKINDLE_SEED"])
        word = ("even", "odd")[seed % 2]
        print(f"REKINDLE_SEED={seed} chooses the {word} half of the rotated models")
    groups = {"all": list(MODELS.values()), "always": [model for model in MODELS.values() if model.group == "always"],
              "rotated": rotated, "even": rotated[::2], "odd": rotated[1::2]}
    if word in groups:
        return groups[word]
    names = word.split(",")
    for name in names:
        if name not in MODELS:
            sys.exit(f"the zoo has no model {name}; choose from {', '.join([*groups, *MODELS])}")
    return [MODELS[name] for name in names]


def there(package):
    return package is None or importlib.util.find_spec(package) is not None


def those_that_run(models):
    """Returns the models whose packages are there or can be installed, and prints a line for each other one."""
    missing = "it is not in the folder that REKINDLE_ZOO_PACKAGES names"
    if not all(there(model.needs) for model in models):
        try:
            packages.use(install_them=True)
        except packages.Missing as why:
            missing = str(why)
    for model in models:
        if not there(model.needs):
            print(f"skipped: {model.name} needs {model.needs}: {' '.join(missing.split())}")
    return [model for model in models if there(model.needs)]


class Zoo(ChildTest):
    """Has a test for each model that was chosen. The tests are added below."""

    rows = []

    def examined(self, model):
        """Compares the model process with a plain loop, and returns the row of the table."""
        return examine(model, self.ready)

    @classmethod
    def tearDownClass(cls):
        path = os.environ.get("REKINDLE_ZOO_TABLE")
        if path:
            pathlib.Path(path).write_text(Row.HEAD + "".join(row.line() for row in cls.rows), encoding="utf-8")


class Registry(unittest.TestCase):
    def test_the_zoo_is_as_large_as_promised(self):
        self.assertGreaterEqual(len(MODELS), 60)
        self.assertEqual(sum(model.group == "always" for model in MODELS.values()), 12)

    def test_the_halves_of_the_rotated_models_are_all_of_them(self):
        halves = [model.name for word in ("even", "odd") for model in chosen([word])]
        self.assertEqual(sorted(halves), sorted(model.name for model in MODELS.values() if model.group == "rotated"))


def add_tests(models):
    def tester(model):
        def test(self):
            self.rows.append(self.examined(model))
        return test

    for model in models:
        setattr(Zoo, f"test_{model.name}", tester(model))


if __name__ == "__main__":
    torch.use_deterministic_algorithms(True)
    found = those_that_run(chosen(sys.argv[1:]))
    if not found:
        print("skipped: no model was left")
        sys.exit(77)
    add_tests(found)
    unittest.main(argv=sys.argv[:1], verbosity=2)
