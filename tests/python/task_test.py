"""Tests that a task that cannot be trained is refused, with what is wrong, the user's lines, and what to write."""
import os
import pathlib
import subprocess
import sys
import unittest

from base import PACKAGE, ChildTest

from trainer import TASKS


class TaskTest(ChildTest):
    def test_tasks_that_cannot_be_found(self):
        for task, words in (("models", "module:attribute"), ("models:a.b", "module:attribute"),
                            ("../x:y", "module:attribute"), ("nothing:task", "no module nothing"),
                            ("models.deeper:task", "models.deeper"),
                            ("models:preceptron", "did you mean models:perceptron?"),
                            ("refused:ready_made", "type int and cannot be called"),
                            ("refused:made", "is a Task and no function"),
                            ("refused:wants_argument", "cannot be called without arguments")):
            with self.subTest(task):
                self.refused(task, words)
        self.refused("models:perceptron", "does not exist", folder=self.folder.name + "/none")

    def test_a_module_of_another_folder_is_not_taken(self):
        pathlib.Path(self.folder.name, "json.py").write_text("def task(): return None\n")
        self.refused("json:task", "the module json is another one", "another name", folder=self.folder.name)
        pathlib.Path(self.folder.name, "sys.py").write_text("def task(): return None\n")
        self.refused("sys:task", "the module sys is another one, one that is built into Python",
                     folder=self.folder.name)

    def test_imports_that_fail(self):
        failed = self.refused("broken_import:task", "importing broken_import raised RuntimeError")
        self.assertIn('broken_import.py", line 3', failed["traceback"])
        self.assertEqual(failed["traceback"].count("File "), 1, failed["traceback"])
        self.refused("missing_import:task", "a_package_that_nobody_has", sys.executable)
        pathlib.Path(self.folder.name, "bad_syntax.py").write_text("def task(:\n    pass\n")
        failed = self.refused("bad_syntax:task", "SyntaxError", folder=self.folder.name)
        self.assertIn('bad_syntax.py", line 1', failed["traceback"])

    def test_a_task_that_raises_shows_the_lines_of_the_user_alone(self):
        failed = self.refused("refused:raises", "refused:raises raised IndexError: list index out of range")
        self.assertIn("return sizes[7]", failed["traceback"])
        self.assertEqual(failed["traceback"].count("File "), 1, failed["traceback"])
        failed = self.refused("refused:raises_from_another", "RuntimeError: no sizes")
        self.assertIn("return sizes[7]", failed["traceback"])
        self.assertIn("direct cause", failed["traceback"])
        self.refused("refused:leaves", "SystemExit: 3")
        self.refused("refused:reads", "FileNotFoundError", "relative paths begin at the folder of the task here, ",
                     str(TASKS))

    def test_what_is_no_task(self):
        self.refused("refused:returns_nothing", "is its return missing?")
        self.refused("refused:returns_module", "an object of type Linear")

    def test_arguments_of_the_task(self):
        for task, *words in (("iterable", "IterableDataset", "__getitem__"), ("loader", "DataLoader", "its dataset"),
                             ("generator", "generator", "__len__"), ("empty", "no samples"),
                             ("splits", "data is a dict of 'train', 'test'", "such as data['train']"),
                             ("module_class", "the class ReLU"), ("parallel", "wrapped in DataParallel"),
                             ("unknown_rule", "'median'", "'first'"), ("many_workers", "1000", "1 to 64"),
                             ("option_of_a_group", "'lr' for 'weight'", "write learning_rate"),
                             ("value_of_a_group", "learning_rate of 'weight' in groups is -1.0", "from 0 to 100"),
                             ("no_loss", "loss is of type NoneType", "rekindle.Sum")):
            with self.subTest(task):
                failed = self.refused(f"refused:{task}", *words)
                self.assertIn(f"in {task}", failed["traceback"])

    def test_modules_that_cannot_be_trained(self):
        self.refused("refused:no_parameters", "ReLU has no parameters")
        self.assertEqual(self.refused("refused:on_meta", "meta")["parameter"], "weight")
        self.refused("refused:unknown_buffer", "queue", "no persistent buffer")
        self.refused("refused:unknown_group", "*.bais", "weight, bias")

    def test_settings_that_make_no_sense(self):
        self.refused("models:perceptron", "version 2", protocol=2)
        for name, value in (("precision", "fp8"), ("device", "cuda"), ("threads", 0), ("seed", -1), ("seed", 1.5),
                            ("exact", None), ("data_workers", 0), ("prefetch", 1000), ("nice", 20), ("folder", "")):
            with self.subTest(name):
                self.refused("models:perceptron", name, repr(value), **{name: value})

    def test_exact_needs_a_fixed_order_of_sets(self):
        if os.environ.get("PYTHONHASHSEED") == "0":
            self.skipTest("this process was started with a fixed order")
        self.refused("models:perceptron", "PYTHONHASHSEED=0", exact=True)

    def test_the_package_is_imported_without_torch(self):
        code = "import sys, rekindle, rekindle.wire; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], cwd=PACKAGE, check=False).returncode, 0)


if __name__ == "__main__":
    unittest.main()
