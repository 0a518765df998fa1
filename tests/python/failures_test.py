"""Tests that user code that fails is told with its lines, and that the process then goes on where it can."""
import math
import pathlib
import subprocess
import sys
import unittest

from base import ChildTest

import numpy
import torch

from rekindle import processes
from rekindle.errors import Refused
from rekindle.model_process import _count
from trainer import Trainer


class OnInput(Trainer):
    """Is a Trainer whose model process gets the socket as its standard input, as from the C++ trainer."""

    def _start_program(self, its):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "rekindle.child", "--fd", "0", "--faults", self.faults],
                stdin=its, env=processes.environment(), stdout=log, stderr=log)
        self.process.returncode = 0
        return self.process.pid


class CountTest(unittest.TestCase):
    def test_a_count_may_be_any_whole_number(self):
        for count in (4, 4.0, numpy.int64(4), numpy.float32(4), torch.tensor(4), torch.tensor([4.0])):
            self.assertEqual((_count(count), type(_count(count))), (4, int))
        for count in (2.5, -1, math.nan, math.inf, "4", None, numpy.float32(0.5), torch.ones(2), 4j):
            with self.assertRaisesRegex(Refused, "give the whole number of items"):
                _count(count)


class FailuresTest(ChildTest):
    def fails(self, task, kind, *words, samples=(0, 1), parameter=None):
        trainer = self.ready(f"failing:{task}")
        failed = trainer.failure(samples)
        self.assertEqual((failed["kind"], failed["parameter"], failed["request"]), (kind, parameter, 1), failed)
        for word in words:
            self.assertIn(word, failed["message"])
        self.assertNotIn("\n", failed["message"])
        return trainer, failed

    def test_an_exception_in_forward_shows_the_users_lines(self):
        trainer, failed = self.fails("raises_on_two", "exception", "the micro-batch 0 raised ValueError: two")
        self.assertIn('raise ValueError("two samples are too few")', failed["traceback"])
        self.assertIn("in forward", failed["traceback"])
        self.assertNotIn("site-packages", failed["traceback"])
        self.assertNotIn("model_process", failed["traceback"])
        self.assertEqual(trainer.compute([0, 1, 2]).done.count, 3)

    def test_user_code_does_not_read_the_trainers_messages(self):
        trainer = OnInput("failing:reads_input", self.folder.name, start="program")
        self.addCleanup(trainer.close)
        trainer.begin()
        for _ in range(2):
            self.assertEqual(trainer.compute([0, 1]).loss, 0, "the input is empty")

    def test_a_write_to_a_parameter_ends_the_process_and_names_the_line(self):
        trainer = self.ready("failing:writes_parameter", start="program")
        trainer.compute([0, 1, 2])
        before = trainer.weights.clone()
        trainer.ask([0, 1])
        with self.assertRaises(EOFError):
            trainer.receive()
        self.assertEqual(trainer.exit_code(), -11)
        faults = pathlib.Path(trainer.faults).read_text()
        self.assertIn("Segmentation fault", faults)
        source = pathlib.Path(__file__).with_name("tasks") / "failing.py"
        line = source.read_text().splitlines().index("            module.layer.weight.data.mul_(0.5)") + 1
        self.assertIn(f'failing.py", line {line} in act', faults)
        self.assertTrue((trainer.weights == before).all())

    def test_parameters_that_forward_replaces_are_refused_and_put_back(self):
        for task in ("replaces_memory", "replaces_parameter"):
            trainer = self.ready(f"failing:{task}")
            before = trainer.compute([0, 1, 2])
            failed = trainer.failure([0, 1])
            self.assertEqual((failed["kind"], failed["parameter"]), ("write", "layer.weight"))
            self.assertEqual(trainer.compute([0, 1, 2]).loss, before.loss)

    def test_buffers_that_cannot_be_averaged(self):
        for task, words in (("grows_queue", "the shape [3]"), ("spoils_queue", "not finite"),
                            ("retypes_queue", "torch.int64")):
            self.fails(task, "shape", words, 'buffers={"queue": "frozen"}', "persistent=False", samples=(0, 1, 2),
                       parameter="queue")

    def test_what_lies_outside_of_the_layout_must_not_change(self):
        for task, name in (("writes_cache", "cache"), ("hides_write", "cache"), ("fills_lazy", "lazy"),
                           ("makes_buffer", "late"), ("writes_teacher", "teacher.weight")):
            self.fails(task, "write", name, "not in the state that all ranks share", samples=(0, 1, 2),
                       parameter=name)
        self.ready("failing:rewrites_cache").compute([0, 1, 2])

    def test_losses_that_are_no_sum(self):
        self.fails("bare_loss", "loss", "rekindle.Sum(loss * n, n)", 'reduction="sum"')
        self.fails("pair_loss", "loss", "tuple", "rekindle.Sum(loss * n, n)")
        self.fails("vector_loss", "loss", "[3]", "no scalar")
        self.fails("detached_loss", "loss", "no gradient", ".detach()")
        self.fails("number_loss", "loss", "float", "without .item()")
        self.fails("half_count", "loss", "1.5")
        self.fails("calls_backward", "loss", "without calling backward()", parameter="layer.weight")

    def test_a_loss_that_is_no_number_is_for_the_trainer_to_judge(self):
        # What a process has computed before must not decide, because a process may be replaced at any time.
        trainer = self.ready("failing:nan_loss")
        for _ in range(2):
            self.assertTrue(math.isnan(trainer.compute([0, 1, 2]).loss))

    def test_a_sparse_gradient_is_named(self):
        self.fails("sparse", "exception", "sparse", parameter="table")

    def test_memory_that_runs_out_is_told_apart(self):
        trainer, _ = self.fails("huge", "memory", "smaller micro_batch")
        self.assertEqual(trainer.compute([0, 1, 2]).done.count, 3)

    def test_samples_that_fail_are_named(self):
        trainer = self.ready("failing:broken_data", data_workers=2)
        failed = trainer.failure([1, 13, 2])
        self.assertEqual((failed["kind"], failed["sample"]), ("data", 13))
        self.assertIn("data[13] raised ValueError: thirteen is broken", failed["message"])
        self.assertIn('raise ValueError("thirteen is broken")', failed["traceback"])
        self.assertEqual(failed["traceback"].count("File "), 1, failed["traceback"])
        failed = trainer.failure([1, 2, 14])
        self.assertEqual((failed["kind"], failed["sample"]), ("data", 14))
        self.assertIn("data[14] is {'x': Tensor[9], 'y': Tensor[]}, and data[1] is {'x': Tensor[8]", failed["message"])
        failed = trainer.failure([16])
        self.assertIn("the batch of the samples 16 could not be sent", failed["message"])
        self.assertEqual(trainer.compute([1, 2]).done.count, 2)

    def test_a_data_process_that_ends_is_told_and_ends_the_model_process(self):
        trainer = self.ready("failing:broken_data", data_workers=2)
        failed = trainer.failure([1, 15])
        self.assertEqual(failed["kind"], "data")
        self.assertIn("ended with code 9 while it made the batch of the samples 1, 15", failed["message"])
        self.assertEqual(trainer.exit_code(), 5)


if __name__ == "__main__":
    unittest.main()
