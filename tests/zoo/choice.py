"""Chooses the models that a test of the zoo examines, and finds the packages that they need. Import it first."""

# Exact jobs refuse an interpreter that draws the order of sets anew at each start.
import os
import sys

if sys.flags.hash_randomization:
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})

import importlib  # noqa: E402
import importlib.util  # noqa: E402
import pathlib  # noqa: E402

import packages  # noqa: E402
from registry import MODELS  # noqa: E402

packages.use()
for file in sorted(pathlib.Path(__file__).resolve().parent.glob("models_*.py")):
    importlib.import_module(file.stem)


# Where models are tested in parts, a seed chooses one of so many. The seed also chooses one of six groups of tests
# (scripts/lib/rotation.sh), so the number has no factor in common with six: each part has its turn within its group.
PARTS = 7


def chosen(words):
    """Returns the models that the argument or the environment asks for."""
    word = words[0] if words else os.environ.get("REKINDLE_ZOO") or "always"
    rotated = [model for model in MODELS.values() if model.group == "rotated"]
    if word == "rotated" and os.environ.get("REKINDLE_SEED"):
        seed = int(os.environ["REKINDLE_SEED"])
        word = ("even", "odd")[seed % 2]
        print(f"REKINDLE_SEED={seed} chooses the {word} half of the rotated models")
    part = rotated
    if word == "part" and os.environ.get("REKINDLE_SEED"):
        seed = int(os.environ["REKINDLE_SEED"])
        part = rotated[seed % PARTS::PARTS]
        print(f"REKINDLE_SEED={seed} chooses part {seed % PARTS} of {PARTS} of the rotated models")
    groups = {"all": list(MODELS.values()), "always": [model for model in MODELS.values() if model.group == "always"],
              "rotated": rotated, "even": rotated[::2], "odd": rotated[1::2], "part": part}
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
    """Returns the models whose packages are there or can be installed, and prints a line for each other one.

    Ends the process as skipped where no model is left."""
    missing = "it is not in the folder that REKINDLE_ZOO_PACKAGES names"
    if not all(there(model.needs) for model in models):
        try:
            packages.use(install_them=True)
        except packages.Missing as why:
            missing = str(why)
    for model in models:
        if not there(model.needs):
            print(f"skipped: {model.name} needs {model.needs}: {' '.join(missing.split())}")
    found = [model for model in models if there(model.needs)]
    if not found:
        print("skipped: no model was left")
        sys.exit(77)
    return found


def add_tests(case, models):
    """Adds a test for each model to a test case. It calls the method `examined` of the case with the model."""
    def tester(model):
        return lambda self: self.examined(model)

    for model in models:
        setattr(case, f"test_{model.name}", tester(model))
