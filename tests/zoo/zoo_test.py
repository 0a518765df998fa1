"""Tests that the model process computes what a plain loop does, for models of many kinds.

usage: zoo_test.py [always | rotated | even | odd | part | all | NAME,...]

REKINDLE_ZOO says the same where there is no argument, and `always` is chosen where there is neither. `even` and `odd`
are the two halves of the group `rotated`. `rotated` is the half that REKINDLE_SEED chooses, and `part` the seventh that
it chooses, or all of the group without it. REKINDLE_ZOO_TABLE names a page, into whose table the results are written
(`table.py`)."""
import os
import pathlib
import sys
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE)]

from base import ChildTest  # noqa: E402

import choice  # noqa: E402
import table  # noqa: E402
import torch  # noqa: E402
from examine import examine  # noqa: E402
from registry import MODELS  # noqa: E402


class Zoo(ChildTest):
    """Has a test for each model that this run plays. The test compares the model process with a plain PyTorch loop."""

    rows = {}

    def examined(self, model):
        self.rows[model.name] = examine(model, self.ready).columns()

    @classmethod
    def tearDownClass(cls):
        table.write(cls.rows)


class Registry(unittest.TestCase):
    def test_the_zoo_is_as_large_as_promised(self):
        self.assertGreaterEqual(len(MODELS), 60)
        self.assertEqual(sum(model.group == "always" for model in MODELS.values()), 12)

    def test_the_halves_of_the_rotated_models_are_all_of_them(self):
        halves = [model.name for word in ("even", "odd") for model in choice.chosen([word])]
        self.assertEqual(sorted(halves), sorted(model.name for model in MODELS.values() if model.group == "rotated"))

    def test_the_parts_of_the_rotated_models_are_all_of_them(self):
        parts = []
        for seed in range(choice.PARTS):
            with mock.patch.dict(os.environ, REKINDLE_SEED=str(100 * choice.PARTS + seed)):
                parts += [model.name for model in choice.chosen(["part"])]
        self.assertEqual(sorted(parts), sorted(model.name for model in MODELS.values() if model.group == "rotated"))

    def test_the_page_has_every_model(self):
        self.assertEqual(list(table.rows_of(table.PAGE.read_text(encoding="utf-8"))), sorted(MODELS))

    def test_a_test_writes_its_own_columns(self):
        page = f"# Zoo\n\n{table.BEGIN}{table.HEAD}{table.END}\nThe end.\n"
        page = table.written(page, {"b": {"loss": "equal"}, "a": {"loss": "equal"}})
        page = table.written(page, {"b": {"digest": "`12`"}})
        self.assertEqual(page, f"# Zoo\n\n{table.BEGIN}{table.HEAD}| a |  | equal |  |  |\n| b |  | equal |  | `12` |\n"
                         f"{table.END}\nThe end.\n")


if __name__ == "__main__":
    torch.use_deterministic_algorithms(True)
    choice.add_tests(Zoo, choice.those_that_run(choice.chosen(sys.argv[1:])))
    unittest.main(argv=sys.argv[:1], verbosity=2)
