"""Tests that buffers begin each micro-batch with the trainer's values, and that what forward makes of them arrives."""
import unittest

from base import ChildTest

import models
import torch
from plain import Plain

from rekindle import buffers, layout


class BuffersTest(ChildTest):
    def test_batch_norm_delivers_what_a_plain_loop_has_after_forward(self):
        trainer = self.ready("models:mixed")
        for index, samples in enumerate(([0, 1, 2], [7, 8, 9, 10])):
            answer = trainer.compute(samples, index=index)
            plain = Plain(models.mixed)
            loss, gradients = plain.compute(samples, index=index)
            self.assertEqual(answer.loss, loss)
            norm = plain.task.module.norm
            wanted = {**gradients, "norm.running_mean": norm.running_mean, "norm.running_var": norm.running_var,
                      "norm.num_batches_tracked": torch.tensor(1.0), "factor": torch.tensor([0.5, 0.5]),
                      "seen": torch.tensor([1.0, 0.0])}
            self.assert_equal_gradients(answer.gradients, wanted)
        self.assertEqual(answer.order[-5:], trainer.names[-5:])

    def test_each_micro_batch_begins_with_the_values_in_the_weights(self):
        trainer = self.ready("models:memory")
        one, again = trainer.compute([0, 1]), trainer.compute([0, 1])
        self.assert_equal_gradients(one.gradients, again.gradients)
        self.assertEqual(one.gradients["pointer"], 2)
        for name in ("queue", "pointer", "calls"):
            trainer.part(trainer.weights, name).copy_(one.gradients[name])
        later = trainer.compute([0, 1])
        self.assertEqual((later.gradients["pointer"], later.gradients["calls"]), (4, 2))
        self.assertTrue(torch.equal(later.gradients["queue"], one.gradients["queue"] * 1.5))

    def test_the_hash_tells_whole_numbers_that_differ(self):
        trainer = self.ready("models:memory")
        one, other, larger = (trainer.compute(samples).done.whole_buffers for samples in ([0, 1], [5, 6], [1, 2, 3]))
        self.assertEqual(one, other)
        self.assertNotEqual(one, larger)
        self.assertNotEqual(one, 0)

    def test_the_hash_does_not_depend_on_the_order_of_types(self):
        """Types have another order in each process. The pointer goes from 6 to 0 here, so its part of the hash is 0."""
        hashes = []
        for reverse in (False, True):
            module = models.Memory()
            parts = layout.describe(module, {})
            entries = parts.layout.entries[2:]
            held = buffers.Buffers(module, entries, parts.buffers)
            if reverse:
                held._others.reverse()
            region = torch.zeros(sum(entry.size for entry in entries))
            held.bind(region)
            for entry in entries:
                if entry.name in ("pointer", "calls"):
                    region[entry.offset - entries[0].offset] = {"pointer": 6, "calls": 3}[entry.name]
            with torch.no_grad():
                held.restore()
                module(torch.zeros(2, 8))
                hashes.append(held.deliver(torch.empty_like(region), 1.0))
        self.assertEqual(hashes[0], hashes[1])

    def test_whole_numbers_that_are_taken_from_the_first_micro_batch_may_differ(self):
        trainer = self.ready("models:first_pointer")
        one, larger = trainer.compute([0, 1]), trainer.compute([1, 2, 3])
        self.assertEqual((one.done.whole_buffers, larger.done.whole_buffers), (0, 0))
        self.assertEqual((one.gradients["pointer"], larger.gradients["pointer"]), (2, 3))
        self.assertEqual(one.gradients["calls"], 0, "a frozen buffer keeps its value")

    def test_a_model_without_whole_numbers_has_no_hash(self):
        self.assertEqual(self.ready("models:perceptron").compute([0]).done.whole_buffers, 0)

    def test_the_loss_scale_multiplies_buffers_as_it_does_gradients(self):
        trainer = self.ready("models:memory")
        one, scaled = trainer.compute([0, 1]), trainer.compute([0, 1], scale=8.0)
        self.assert_equal_gradients({name: 8 * value for name, value in one.gradients.items()}, scaled.gradients)
        self.assertEqual(one.done.whole_buffers, scaled.done.whole_buffers)

    def test_evaluation_does_not_move_buffers(self):
        trainer = self.ready("models:memory")
        one = trainer.evaluate([0, 1])
        self.assertEqual(trainer.evaluate([0, 1]).loss_sum, one.loss_sum)
        self.assertEqual(trainer.compute([0, 1]).gradients["pointer"], 2)


if __name__ == "__main__":
    unittest.main()
