"""Tests that rekindle.hf trains what HF's Trainer trains, and that the page names every field of TrainingArguments.

usage: hf_trainer_test.py [write]

With `write` it writes the table of the page anew."""
import dataclasses
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

# Exact jobs refuse an interpreter that draws the order of sets anew at each start.
if sys.flags.hash_randomization:
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "python"), str(HERE)]

import base  # noqa: E402
import packages  # noqa: E402
import torch  # noqa: E402

try:
    packages.use(install_them=True)
except packages.Missing as why:
    print(f"skipped: transformers is not there: {' '.join(str(why).split())}")
    sys.exit(77)

import hf_train  # noqa: E402
import rekindle  # noqa: E402
import run_base  # noqa: E402
import transformers  # noqa: E402
from rekindle import hf, randomness  # noqa: E402
from rekindle.hf import arguments, names  # noqa: E402
from rekindle.memory import views  # noqa: E402

PAGE = ROOT / "docs" / "own-models-hf.md"
BEGIN, END = "<!-- table of fields -->\n", "<!-- /table of fields -->\n"
NEAR = 1e-4


def order(seed, samples, count):
    """Returns the numbers of the first `count` samples of a run, as worker/data/samples/permutation.cc draws them."""
    half = max(1, (max(1, (samples - 1).bit_length()) + 1) // 2)
    mask = (1 << half) - 1

    def encrypt(value, keys):
        left, right = value >> half, value & mask
        for key in keys:
            left, right = right, left ^ (randomness.splitmix64(right ^ key) & mask)
        return left << half | right

    drawn = []
    for place in range(count):
        epoch, value = divmod(place, samples)
        key, keys = randomness.splitmix64(randomness.splitmix64(seed) ^ epoch), []
        for _ in range(8):
            key = randomness.splitmix64(key)
            keys.append(key)
        value = encrypt(value, keys)
        while value >= samples:
            value = encrypt(value, keys)
        drawn.append(value)
    return drawn


class InOrder(transformers.Trainer):
    """Trains samples in an order that it is given."""

    order = ()

    def _get_train_sampler(self, *_):
        return list(self.order)


class RepeatedTexts(hf_train.Texts):
    """Has a length with which HF's Trainer makes all steps in one epoch."""

    def __len__(self):
        return 600


def trained_by_hf(args, drawn, weights=None):
    """Returns the loss of each step."""
    randomness.seed_task(args.seed)
    module = hf_train.model_init()
    if weights is not None:
        module.load_state_dict(weights, strict=False)
    trainer = InOrder(module, args, train_dataset=RepeatedTexts())
    trainer.order = drawn
    trainer.remove_callback(transformers.PrinterCallback)
    trainer.train()
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


class Optimizer:
    """Does to the weights of a peer what a trainer does, by PyTorch's AdamW."""

    def __init__(self, peer, read, groups):
        self.read = read
        entries = [entry for entry in peer.entries if entry.kind == "parameter"]
        self.weights = [torch.nn.Parameter(view.clone()) for view in views(peer.weights, entries)]
        self.targets = views(peer.weights, entries)
        chosen = []
        for entry, weight in zip(entries, self.weights):
            decay = read.optimizer.weight_decay if entry.decay else 0.0
            decay = groups.get(entry.name, {}).get("weight_decay", decay)
            chosen.append({"params": [weight], "weight_decay": decay})
        optimizer = read.optimizer
        self.adam = torch.optim.AdamW(chosen, lr=1.0, betas=(optimizer.beta1, optimizer.beta2), eps=optimizer.epsilon)

    def rate(self, step):
        """The rate of worker/train/levers/schedule_linear.cc."""
        progress = (step + 1) / self.read.steps
        return self.read.optimizer.learning_rate * (1 + (self.read.schedule.final_ratio - 1) * progress)

    def apply(self, step, gradients):
        for weight, gradient in zip(self.weights, gradients):
            weight.grad = gradient
        torch.nn.utils.clip_grad_norm_(self.weights, self.read.clip_norm)
        for group in self.adam.param_groups:
            group["lr"] = self.rate(step)
        self.adam.step()
        with torch.no_grad():
            for target, weight in zip(self.targets, self.weights):
                target.copy_(weight)


class HfTrainerTest(base.ChildTest):
    def trained_by_model_process(self, spec, read, drawn):
        """Returns the loss of each step, and the initial weights, of micro-batches of the model process."""
        trainer = self.trainer(spec, folder=str(HERE), seed=read.seed)
        trainer.begin()
        initial = {name: trainer.part(trainer.weights, name).clone() for name in trainer.names}
        randomness.seed_task(read.seed)
        made = hf.task(hf_train.model_init, hf_train.args, train_dataset=hf_train.train_set)
        optimizer = Optimizer(trainer, read, made.groups)
        losses = []
        for step in range(read.steps):
            total, count, sums = 0.0, 0, None
            for index in range(read.batch // read.micro_batch):
                at = step * read.batch + index * read.micro_batch
                answer = trainer.compute(drawn[at:at + read.micro_batch], step=step, index=index, first=at)
                total, count = total + answer.loss, count + answer.done.count
                got = [answer.gradients[name] for name in trainer.names]
                sums = got if sums is None else [one + other for one, other in zip(sums, got)]
            losses.append(total / count)
            optimizer.apply(step, [gradient / count for gradient in sums])
        return losses, initial

    def assert_near(self, losses, wanted):
        self.assertEqual(len(losses), len(wanted))
        self.assertLess(losses[-1], losses[0] - 0.3, "nothing was learnt, so nothing was compared")
        far = max(abs(one - other) for one, other in zip(losses, wanted))
        self.assertLess(far, NEAR)

    def test_fifty_steps_of_the_model_process_are_those_of_hf(self):
        for changes in ({}, {"label_smoothing_factor": 0.1}):
            with self.subTest(**changes):
                args = dataclasses.replace(hf_train.args, **changes)
                self.addCleanup(setattr, hf_train, "args", hf_train.args)
                hf_train.args = args
                read = arguments.read(args, len(hf_train.train_set))
                drawn = order(read.seed, len(hf_train.train_set), read.steps * read.batch)
                losses, initial = self.trained_by_model_process("hf_train:hf.model_init.args.train_set", read, drawn)
                self.assert_near(losses, trained_by_hf(args, drawn, initial))

    def test_fifty_steps_of_a_job_are_those_of_hf(self):
        args = hf_train.args
        drawn = order(args.seed, len(hf_train.train_set), 600)
        with tempfile.TemporaryDirectory(prefix="rekindle-hf-") as folder:
            self.use_environment({"XDG_STATE_HOME": folder,
                                "REKINDLE_BIN": str(pathlib.Path(run_base.real_program()).parent),
                                "PYTHONPATH": os.pathsep.join(sys.path)})
            result = hf.run(hf_train.model_init, args, train_dataset=hf_train.train_set, workers=(1, 2))
        self.assert_near([loss for _, loss in result.losses], trained_by_hf(args, drawn))

    def use_environment(self, environment):
        patched = mock.patch.dict(os.environ, environment)
        patched.start()
        self.addCleanup(patched.stop)


class TableTest(unittest.TestCase):
    def fields(self):
        return [entry.name for entry in dataclasses.fields(transformers.TrainingArguments)]

    def test_every_field_is_known(self):
        self.assertEqual([name for name in self.fields() if name not in arguments.FIELDS], [])

    def test_the_page_has_the_table(self):
        begin, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        table, _, end = rest.partition(END)
        wanted = "\n" + arguments.table(self.fields()) + "\n"
        if WRITES:
            PAGE.write_text(begin + BEGIN + wanted + END + end, encoding="utf-8")
        else:
            self.assertEqual(table, wanted, f"run {sys.argv[0]} write")

    def test_each_field_is_mapped_or_refused_or_without_meaning_as_the_table_says(self):
        values = {"learning_rate": 1e-3, "max_steps": 7, "num_train_epochs": 1.0, "bf16": True, "fp16": True}
        default = arguments.read(transformers.TrainingArguments("out"), 800)
        for entry in dataclasses.fields(transformers.TrainingArguments):
            value = values.get(entry.name, self.other(getattr(transformers.TrainingArguments("out"), entry.name)))
            args = transformers.TrainingArguments("out")
            setattr(args, entry.name, value)
            with self.subTest(entry.name):
                treatment = arguments.FIELDS[entry.name].treatment
                if entry.name == "output_dir":
                    continue
                if treatment == "refused":
                    with self.assertRaisesRegex(rekindle.Refused, entry.name):
                        arguments.check(args)
                elif treatment == "without meaning":
                    self.assertEqual(arguments.read(args, 800), default)

    @staticmethod
    def other(value):
        if isinstance(value, bool) or value is None:
            return not value
        if isinstance(value, (int, float)):
            return value + 1
        return ["other"] if isinstance(value, list) else "other"


class RefusalTest(unittest.TestCase):
    def refused(self, words, args=None, **parts):
        with self.assertRaisesRegex(rekindle.Refused, words):
            hf.run(hf_train.model_init, args or hf_train.args, **{"train_dataset": hf_train.train_set, **parts})

    def test_what_other_processes_cannot_import(self):
        self.refused("train_dataset is an object of type Texts, which has no name", train_dataset=hf_train.Texts())
        self.refused("data_collator is <lambda>, which has no name", data_collator=lambda items: items)
        self.refused("args is an object", args=dataclasses.replace(hf_train.args, max_steps=3))

    def test_arguments(self):
        def args(**fields):
            return dataclasses.replace(hf_train.args, **fields)

        self.refused("neftune_noise_alpha=5: ", args(neftune_noise_alpha=5))
        read = arguments.read
        for words, fields in (("optim is 'adafactor'", {"optim": "adafactor"}),
                              ("lr_scheduler_type is 'polynomial'", {"lr_scheduler_type": "polynomial"}),
                              ("average_tokens_across_devices", {"average_tokens_across_devices": False})):
            with self.assertRaisesRegex(rekindle.Refused, words):
                read(args(**fields), 60)
        chosen = read(args(optim="adafactor", lr_scheduler_type="polynomial"), 60, optimizer=rekindle.Lion(),
                      schedule=rekindle.Constant())
        self.assertEqual((chosen.optimizer, chosen.schedule), (rekindle.Lion(), rekindle.Constant()))

    def test_a_name_that_is_gone(self):
        with self.assertRaisesRegex(rekindle.Refused, "has no gone, which is the args of the job"):
            names.read(hf_train, "hf.model_init.gone.train_set")


WRITES = sys.argv[1:] == ["write"]
if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(["TableTest.test_the_page_has_the_table"] if WRITES else [])])
