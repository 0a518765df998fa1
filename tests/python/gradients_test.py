"""Tests that gradients are those of a plain loop of PyTorch, bit for bit."""
import unittest

from base import ChildTest

import models
import torch
from plain import Plain


class GradientsTest(ChildTest):
    def test_gradients_of_a_started_program_are_those_of_a_plain_loop(self):
        trainer = self.ready("models:perceptron", start="program", exact=True)
        plain = Plain(models.perceptron)
        for index, samples in enumerate(([0, 1, 2], [5], [63, 9, 7, 30])):
            answer = trainer.compute(samples, index=index, slot=index % 2)
            loss, gradients = plain.compute(samples, index=index)
            self.assertEqual(answer.loss, loss)
            self.assertEqual(answer.done.count, len(samples))
            self.assert_equal_gradients(answer.gradients, gradients)

    def test_a_model_of_150_parameters_delivers_the_last_ones_first(self):
        trainer = self.ready("models:deep")
        self.assertEqual(len(trainer.names), 150)
        plain = Plain(models.deep)
        for index in range(3):
            answer = trainer.compute([1, 2, 3], index=index)
            _, gradients = plain.compute([1, 2, 3], index=index)
            self.assert_equal_gradients(answer.gradients, gradients)
            self.assertEqual(answer.order[0], "74.bias")
        self.assertEqual(answer.order, list(reversed(trainer.names)))

    def test_sums_in_another_order_are_equal(self):
        trainer = self.ready("models:noisy")
        batches = {0: [1, 2], 1: [3, 4], 2: [5, 6]}
        sums = []
        for order in ([0, 1, 2], [2, 0, 1]):
            answers = {index: trainer.compute(batches[index], step=4, index=index) for index in order}
            sums.append(sum(answers[index].gradients["layer.weight"] for index in batches))
        self.assertTrue(torch.equal(*sums))

    def test_the_loss_scale_multiplies_gradients_and_not_the_loss(self):
        trainer = self.ready("models:perceptron")
        one, scaled = trainer.compute([0, 1]), trainer.compute([0, 1], scale=1024.0)
        self.assertEqual(one.loss, scaled.loss)
        self.assert_equal_gradients({name: 1024 * value for name, value in one.gradients.items()}, scaled.gradients)

    def test_a_parameter_without_gradient_is_not_named(self):
        trainer = self.ready("models:mixed")
        answer = trainer.compute([0, 1, 2, 3])
        self.assertEqual(set(trainer.names) - set(answer.gradients), {"unused.weight", "unused.bias"})

    def test_a_layer_in_reentrant_checkpoints_has_its_whole_gradient(self):
        trainer = self.ready("models:checkpointed")
        plain = Plain(models.checkpointed)
        for index in range(2):
            answer = trainer.compute([4, 5], index=index)
            self.assert_equal_gradients(answer.gradients, plain.compute([4, 5], index=index)[1])
        self.assertEqual(answer.order[-2:], ["shared.bias", "shared.weight"])

    def test_parameters_in_bfloat16_follow_the_weights(self):
        trainer = self.ready("models:half")
        plain = Plain(models.half)
        for _ in range(2):
            answer = trainer.compute([0, 1])
            gradients = {name: value.float() for name, value in plain.compute([0, 1])[1].items()}
            self.assert_equal_gradients(answer.gradients, gradients)
            trainer.weights.mul_(2)
            with torch.no_grad():
                for parameter in plain.task.module.parameters():
                    parameter.mul_(2)

    def test_weights_that_are_bound_again_are_used(self):
        trainer = self.ready("models:perceptron")
        before = trainer.compute([0, 1])
        kept = trainer.weights.clone()
        trainer.bind(torch.zeros(trainer.total), offset=128)
        zero = trainer.compute([0, 1])
        self.assertAlmostEqual(zero.loss, 2 * 1.0986123, places=5)
        trainer.weights.copy_(kept)
        after = trainer.compute([0, 1])
        self.assertEqual(after.loss, before.loss)
        self.assert_equal_gradients(after.gradients, before.gradients)

    def test_autocast_computes_in_bfloat16_and_delivers_float32(self):
        exact = self.ready("models:perceptron").compute([0, 1, 2])
        rough = self.ready("models:perceptron", precision="bf16").compute([0, 1, 2])
        self.assertNotEqual(exact.loss, rough.loss)
        self.assertAlmostEqual(exact.loss, rough.loss, delta=0.05)
        self.assertEqual(exact.gradients.keys(), rough.gradients.keys())

    def test_a_micro_batch_that_counts_nothing_has_no_gradient(self):
        trainer = self.ready("models:none_counted")
        answer = trainer.compute([0, 2, 3])
        self.assertEqual((answer.loss, answer.done.count, answer.gradients), (0.0, 0, {}))
        self.assertEqual(trainer.compute([0, 1, 4]).done.count, 2)

    def test_an_evaluation_leaves_nothing_behind(self):
        trainer = self.ready("models:mixed")
        before = trainer.compute([0, 1, 2])
        one, again = trainer.evaluate([0, 1, 2]), trainer.evaluate([0, 1, 2])
        self.assertEqual((one.loss_sum, one.count), (again.loss_sum, 3))
        after = trainer.compute([0, 1, 2])
        self.assertEqual(before.loss, after.loss)
        self.assert_equal_gradients(before.gradients, after.gradients)


if __name__ == "__main__":
    unittest.main()
