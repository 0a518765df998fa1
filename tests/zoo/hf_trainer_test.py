"""Tests that rekindle.hf trains what HF's Trainer trains, and that the page names every field of TrainingArguments.

usage: hf_trainer_test.py [write | NAME...]

With `write` it writes the table of the page anew. A NAME is that of a class of tests, or of one test in it."""
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
import sample_order  # noqa: E402
import transformers  # noqa: E402
from rekindle import hf, randomness  # noqa: E402
from rekindle.hf import arguments, model, names  # noqa: E402
from rekindle.memory import views  # noqa: E402

PAGE = ROOT / "docs" / "own-models-hf.md"
BEGIN, END = "<!-- table of fields -->\n", "<!-- /table of fields -->\n"
NEAR = 1e-4


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
            decays = groups.get(entry.name, {}).get("weight_decay", entry.decay)
            chosen.append({"params": [weight], "weight_decay": read.optimizer.weight_decay if decays else 0.0})
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
        optimizer = Optimizer(trainer, read, made.groups or {})
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
                drawn = sample_order.drawn(read.seed, len(hf_train.train_set), read.steps * read.batch)
                losses, initial = self.trained_by_model_process("hf_train:hf.model_init.args.train_set", read, drawn)
                self.assert_near(losses, trained_by_hf(args, drawn, initial))

    def test_fifty_steps_of_a_job_are_those_of_hf(self):
        args = hf_train.args
        drawn = sample_order.drawn(args.seed, len(hf_train.train_set), 600)
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


class LossTest(unittest.TestCase):
    """Compares losses with those of the Trainer's own compute_loss(), for one micro-batch in a step."""

    def assert_alike(self, module, batch, function=None, **fields):
        args = dataclasses.replace(hf_train.args, **fields)
        ours = model.make(lambda: module, args, [batch], compute_loss_func=function).loss(module.eval(), batch)
        trainer = transformers.Trainer(module, args, train_dataset=[batch], compute_loss_func=function)
        count = trainer._get_num_items_in_batch([batch], "cpu")
        theirs = trainer.compute_loss(module, dict(batch), num_items_in_batch=count)
        self.assertAlmostEqual(float(ours.loss_sum) / int(ours.count), float(theirs), 5)
        return ours

    def translator(self):
        torch.manual_seed(1)
        return transformers.T5ForConditionalGeneration(transformers.T5Config(
            vocab_size=16, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0))

    def classifier(self, **fields):
        torch.manual_seed(1)
        return transformers.BertForSequenceClassification(transformers.BertConfig(
            vocab_size=16, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
            num_labels=3, **fields))

    def test_labels_of_an_encoder_and_decoder_are_not_shifted(self):
        ids = torch.arange(10).view(2, 5) + 1
        batch = {"input_ids": ids, "decoder_input_ids": ids.flip(1), "labels": ids.clone()}
        batch["labels"][0, :2] = -100
        for fields in ({}, {"label_smoothing_factor": 0.2}):
            self.assertEqual(self.assert_alike(self.translator(), batch, **fields).count, 8)

    def test_samples_with_several_labels_are_not_smoothed(self):
        batch = {"input_ids": torch.arange(8).view(2, 4), "labels": torch.tensor([[1.0, 0, 1], [0, 1, 0]])}
        self.assert_alike(self.classifier(problem_type="multi_label_classification"), batch,
                          label_smoothing_factor=0.2)

    def test_a_loss_function_is_told_what_the_trainer_tells_it(self):
        told = []

        def function(outputs, labels, num_items_in_batch=None):
            told.append(num_items_in_batch if num_items_in_batch is None else int(num_items_in_batch))
            return outputs["logits"].square().sum() / (num_items_in_batch or 2)

        ids = torch.arange(8).view(2, 4)
        self.assert_alike(self.classifier(), {"input_ids": ids, "labels": torch.tensor([0, -100])}, function)
        self.assert_alike(self.classifier(), {"input_ids": ids}, function)
        self.assertEqual(told, [1, 1, None, None])

    def test_labels_that_cannot_be_counted(self):
        ours = model._Loss(self.classifier(), hf_train.args, None)
        self.assertIsNone(ours._count({"labels": [{"boxes": torch.ones(1, 4)}]}))

    def test_a_compiled_module_is_taken_as_what_it_is(self):
        module = self.classifier()
        # HF's Trainer decays this vector because of its name, and Rekindle by itself does not.
        module.scale = torch.nn.Parameter(torch.ones(3))
        for made in (model.make(lambda: made, hf_train.args, [0]) for made in (module, torch.compile(module))):
            self.assertEqual(made.groups, {"scale": {"weight_decay": True}})
            self.assertIn("attention_mask", made.collate._columns)
            self.assertEqual(made.loss._takes_count, model._takes_count(module))

    def test_options_of_activation_checkpointing_that_are_not_pytorchs(self):
        args = dataclasses.replace(hf_train.args, activation_checkpointing=True,
                                   activation_checkpointing_kwargs={"every_n_layers": 2})
        module = hf_train.model_init()
        with mock.patch.object(module, "activation_checkpointing_enable") as enable:
            model.make(lambda: module, args, [0])
        enable.assert_called_once_with(activation_checkpointing_kwargs={"use_reentrant": False}, every_n_layers=2)


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

    def test_data_without_a_length(self):
        class Stream(torch.utils.data.IterableDataset):
            def __iter__(self):
                return iter(())

        stream = Stream()
        with mock.patch.object(hf_train, "stream", stream, create=True):
            self.refused("train_dataset is of type Stream, which has no length", train_dataset=stream)

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
        for limit, kept in ((None, 2), (0, 2), (5, 5)):
            read_one = read(args(save_strategy="steps", save_steps=7, save_total_limit=limit), 60)
            self.assertEqual(read_one.checkpoint, rekindle.Checkpoint(every_steps=7, keep_last=kept))

    def test_defaults_of_subclasses_and_fields_that_ask_for_nothing(self):
        @dataclasses.dataclass
        class Own(transformers.TrainingArguments):
            neftune_noise_alpha: float | None = 5.0
            packs: bool = True

        with self.assertRaisesRegex(rekindle.Refused, "neftune_noise_alpha=5.0: "):
            arguments.check(Own("out"))
        arguments.check(Own("out", neftune_noise_alpha=None))
        with self.assertRaisesRegex(rekindle.Refused, "packs=False: this release of Rekindle does not know it"):
            arguments.check(Own("out", neftune_noise_alpha=None, packs=False))
        # Earlier releases of transformers report to what is installed by default, and take the mean of each process.
        args = transformers.TrainingArguments("out", report_to="none")
        now = transformers.TrainingArguments.__post_init__

        def before(made):
            now(made)
            made.report_to = ["tensorboard"]
            made.average_tokens_across_devices = False

        with mock.patch.object(transformers.TrainingArguments, "__post_init__", before):
            arguments.check(args)
            arguments.check(transformers.TrainingArguments("out"))

    def test_a_name_that_is_gone(self):
        with self.assertRaisesRegex(rekindle.Refused, "has no gone, which is the args of the job"):
            names.read(hf_train, "hf.model_init.gone.train_set")


WRITES = sys.argv[1:] == ["write"]
if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(["TableTest.test_the_page_has_the_table"] if WRITES else sys.argv[1:])])
