"""Tests what the model process says of a module, and that what cannot be trained is refused by name."""
import sys
import unittest

from base import ChildTest

import torch

from rekindle import layout
from rekindle.errors import Refused


class Layout(unittest.TestCase):
    def describe(self, module, **rules):
        return layout.describe(module, rules)

    def refuse(self, module, name, words, **rules):
        with self.assertRaisesRegex(Refused, words) as caught:
            layout.describe(module, rules)
        self.assertEqual(caught.exception.parameter, name)

    def module(self, **tensors):
        module = torch.nn.Module()
        for name, tensor in tensors.items():
            if isinstance(tensor, torch.nn.Parameter):
                module.register_parameter(name, tensor)
            else:
                module.register_buffer(name, tensor)
        if not any(isinstance(tensor, torch.nn.Parameter) for tensor in tensors.values()):
            module.weight = torch.nn.Parameter(torch.ones(2))
        return module

    def test_names_offsets_and_decay(self):
        module = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
        parts = self.describe(module)
        self.assertEqual([(entry.name, entry.offset, entry.size, entry.decay, entry.rule)
                          for entry in parts.layout.entries],
                         [("0.weight", 0, 6, True, None), ("0.bias", 6, 2, False, None),
                          ("1.weight", 8, 2, False, None), ("1.bias", 10, 2, False, None),
                          ("1.running_mean", 12, 2, False, "mean"), ("1.running_var", 14, 2, False, "mean"),
                          ("1.num_batches_tracked", 16, 1, False, "mean")])
        self.assertEqual(parts.layout.total, 17)
        self.assertEqual(parts.layout.to_json()["layout"][6],
                         {"name": "1.num_batches_tracked", "shape": [], "dtype": "int64", "kind": "buffer",
                          "offset": 16, "size": 1, "decay": False, "rule": "mean"})

    def test_compiled_modules_have_the_names_of_the_module(self):
        parts = self.describe(torch.compile(torch.nn.Linear(2, 2)))
        self.assertEqual([entry.name for entry in parts.layout.entries], ["weight", "bias"])

    def test_the_digest_depends_on_values_names_and_what_is_not_trained(self):
        def digest(**tensors):
            return layout.digest(self.describe(self.module(**tensors)))

        ones = torch.nn.Parameter(torch.ones(2))
        frozen = torch.nn.Parameter(torch.ones(2), requires_grad=False)
        zeros = torch.nn.Parameter(torch.zeros(2))
        frozen_zeros = torch.nn.Parameter(torch.zeros(2), requires_grad=False)
        seen = {digest(a=ones), digest(b=ones), digest(a=zeros), digest(a=ones, f=frozen),
                digest(a=ones, f=frozen_zeros), digest(a=ones, f=torch.ones(2))}
        self.assertEqual(len(seen), 6)
        self.assertEqual(digest(a=ones, f=frozen), digest(a=torch.nn.Parameter(torch.ones(2)), f=frozen))

    def test_parameters_that_cannot_be_trained(self):
        parameter = torch.nn.Parameter
        for tensor, words in ((torch.empty(2, device="meta"), "meta"), (torch.empty(0, 3), "no values"),
                              (torch.ones(2, dtype=torch.complex64), "complex"),
                              (torch.ones(2, dtype=torch.float64), "float64")):
            self.refuse(self.module(w=parameter(tensor)), "w", words)
        quantised = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)
        self.refuse(torch.nn.Sequential(torch.nn.Embedding(3, 2, sparse=True)), "0.weight", "sparse=False")
        self.refuse(torch.nn.LazyLinear(2), "weight", "lazy")
        self.refuse(torch.nn.Linear(2, 2).requires_grad_(False), None, "only parameters with requires_grad=False")
        self.refuse(torch.nn.ReLU(), None, "ReLU has no parameters")
        self.refuse(self.module(q=quantised), "q", "qint8")

    def test_two_of_one_name(self):
        module = torch.nn.Module()
        module.a = torch.nn.Module()
        module.a.b = torch.nn.Linear(1, 1)
        module._modules["a.b"] = torch.nn.Linear(1, 1)
        self.refuse(module, "a.b.weight", "two parameters have the name")
        module = self.module(w=torch.nn.Parameter(torch.ones(1)))
        module._buffers["w"] = torch.ones(1)
        self.refuse(module, "w", "a parameter and a buffer")

    def test_memory_that_is_shared_without_being_tied(self):
        weight = torch.nn.Parameter(torch.ones(4))
        self.refuse(self.module(a=weight, b=torch.nn.Parameter(weight.data)), "b", "in the memory of a")
        self.refuse(self.module(a=weight, b=torch.nn.Parameter(weight.data[2:])), "b", "in the memory of a")

    def test_buffers(self):
        self.refuse(self.module(b=torch.ones(2, dtype=torch.float64)), "b", "persistent=False")
        self.refuse(self.module(b=torch.tensor([2**24 + 1])), "b", "16777216")
        self.refuse(self.module(b=torch.tensor([float("inf")])), "b", "not finite")
        self.refuse(self.module(b=torch.empty(0)), "b", "no values")
        self.refuse(self.module(b=torch.ones(2)), "queue", "no persistent buffer", queue="first")
        parts = self.describe(self.module(a=torch.ones(2), b=torch.tensor([255], dtype=torch.uint8), c=torch.ones(1)),
                              **{"*": "first", "b": "frozen"})
        self.assertEqual([entry.rule for entry in parts.layout.entries[1:]], ["first", "frozen", "first"])


class ReadyTest(ChildTest):
    def test_ready_tells_all(self):
        trainer = self.ready("models:mixed", start="program", exact=True, data_workers=2)
        told = trainer.told
        self.assertEqual(trainer.names, [
            "first.weight", "second.bias", "unused.weight", "unused.bias", "norm.weight", "norm.bias", "last.weight",
            "last.bias", "factor", "seen", "norm.running_mean", "norm.running_var", "norm.num_batches_tracked"])
        self.assertEqual(told["tied"], {"second.weight": "first.weight"})
        self.assertEqual(told["frozen"], [{"name": "frozen.weight", "shape": [8, 8], "dtype": "float32"},
                                          {"name": "frozen.bias", "shape": [8], "dtype": "float32"}])
        self.assertEqual((told["protocol"], told["pid"], told["samples"], told["validation_samples"]),
                         (1, trainer.pid, 64, 8))
        self.assertEqual((told["torch"], told["python"]), (torch.__version__, sys.version.split()[0]))
        self.assertEqual(told["groups"], [{"pattern": "*.bias", "options": {"weight_decay": 0.0}},
                                          {"pattern": "last.*", "options": {"learning_rate": 0.5}}])
        self.assertIs(told["couples_samples"], True)
        self.assertEqual(trainer.notes, ["imports models", "calls models:mixed", "starts 2 data processes"])
        self.assertEqual(trainer.part(trainer.weights, "seen").tolist(), [1.0, 0.0])
        self.assertEqual(trainer.part(trainer.weights, "norm.running_var").tolist(), [1.0] * 8)

    def test_the_digest_is_that_of_the_seed(self):
        told = [self.trainer("models:perceptron", seed=seed).configure() for seed in (1, 1, 2)]
        self.assertEqual(told[0]["digest"], told[1]["digest"])
        self.assertNotEqual(told[0]["digest"], told[2]["digest"])
        self.assertIs(told[0]["couples_samples"], False)

    def test_the_initial_weights_are_those_of_a_script_with_the_seed(self):
        torch.manual_seed(7)
        layer = torch.nn.Linear(8, 16)
        trainer = self.ready("models:perceptron")
        self.assertTrue(torch.equal(trainer.part(trainer.weights, "0.weight"), layer.weight))


if __name__ == "__main__":
    unittest.main()
