"""Tests the job file that rekindle.run and rekindle.submit make of their arguments, and which arguments they refuse."""
import dataclasses
import re
import unittest

from base import HERE, TASKS

import torch

import models
import rekindle
from rekindle.running import options
from rekindle.running.job_file import Wanted, as_arguments, describe, differences
from rekindle.running.place import Place
from run_base import StandInTest


class JobFileTest(StandInTest):
    def test_a_message_has_the_names_of_arguments(self):
        said = as_arguments("the gradient is NaN; lower optimizer.learning_rate, set training.clip_norm, or submit the "
                            "job with training.micro_batch 2 and spec.model.python; see train.py:7 and training.other")
        self.assertEqual(said, "the gradient is NaN; lower the optimizer's learning_rate, set clip_norm, or submit the "
                               "job with micro_batch 2 and spec.task; see train.py:7 and training.other")

    def test_the_least_that_is_given(self):
        self.assertEqual(self.submitted(steps=10, batch=8), {
            "name": "models-perceptron",
            "spec": {"seed": 1, "workers": {"min": 1, "max": 1},
                     "model": {"python": "models:perceptron", "bundle": str(TASKS)},
                     "training": {"steps": 10, "global_batch": 8, "precision": "fp32", "reduce": "exact"},
                     "optimizer": {"kind": "adamw", "learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.95, "epsilon": 1e-8,
                                   "weight_decay": 0.1}}})

    def test_all_that_can_be_given(self):
        checkpoint = rekindle.Checkpoint(every_seconds=30, keep_last=3, keep_every=100, keep_best=1, store="s3://b/c",
                                         precision="bf16", memory_every_steps=5)
        job = self.submitted(
            steps=2000, batch=64, micro_batch=4, workers=(2, 8), optimizer=rekindle.SGD(0.5, momentum=0.0),
            schedule=rekindle.WarmupStableDecay(warmup_steps=0, decay_steps=100), precision="bf16", reduce="fp32",
            seed=7, clip_norm=0, evaluate_every=50, evaluate_micro_batches=20,
            checkpoint=checkpoint, data_workers=3, start_minutes=90, env_from=("HF_TOKEN", "A_1"), name="my-model")
        self.assertEqual(job, {
            "name": "my-model",
            "spec": {"seed": 7, "workers": {"min": 2, "max": 8},
                     "model": {"python": "models:perceptron", "bundle": str(TASKS), "env_from": ["A_1", "HF_TOKEN"],
                               "data_workers": 3, "start_minutes": 90},
                     "training": {"steps": 2000, "global_batch": 64, "micro_batch": 4, "precision": "bf16",
                                  "reduce": "fp32", "clip_norm": 0, "evaluate_every": 50, "evaluate_micro_batches": 20},
                     "optimizer": {"kind": "sgd", "learning_rate": 0.5, "momentum": 0, "weight_decay": 1e-4},
                     "schedule": {"kind": "warmup_stable_decay", "warmup_steps": 0, "final_ratio": 0.1,
                                  "decay_steps": 100},
                     "checkpoint": {"every_seconds": 30, "keep_last": 3, "keep_every": 100, "keep_best": 1,
                                    "memory_every_steps": 5, "precision": "bf16", "store": "s3://b/c"}}})

    def test_short_forms(self):
        job = self.submitted(steps=torch.tensor(7).item(), batch=12, micro_batch=4, workers=3, checkpoint=0,
                             optimizer=rekindle.Lion(), schedule=rekindle.Constant(), name="a")
        self.assertEqual(job, {
            "name": "a",
            "spec": {"seed": 1, "workers": {"min": 3, "max": 3},
                     "model": {"python": "models:perceptron", "bundle": str(TASKS)},
                     "training": {"steps": 7, "global_batch": 12, "micro_batch": 4, "precision": "fp32",
                                  "reduce": "exact"},
                     "optimizer": {"kind": "lion", "learning_rate": 1e-4, "beta1": 0.9, "beta2": 0.99,
                                   "weight_decay": 1},
                     "schedule": {"kind": "constant"}, "checkpoint": {"every_steps": 0}}})

    def test_arguments_that_are_refused(self):
        good = {"steps": 100, "batch": 8}
        for words, wrong in (
                ("steps is 0; give a whole number from 1 to 100000000", {"steps": 0}),
                ("steps is 2.0; give a whole number", {"steps": 2.0}),
                ("batch is True; give a whole number", {"batch": True}),
                ("micro_batch is 3, which does not divide batch 8; give for example 2", {"micro_batch": 3}),
                ("up to 3, and batch 8 has only 2 micro-batches of 4", {"workers": 3}),
                ("give a larger micro_batch", {"batch": 65537, "micro_batch": 1}),
                ("whose first number is the greater one; give (1, 2)",
                 {"workers": (2, 1)}),
                ("workers[1] is 65", {"workers": (1, 65)}), ("such as (2, 8)", {"workers": (1, 2, 3)}),
                ("the class SGD", {"optimizer": torch.optim.SGD}), ("rekindle.AdamW(3e-4)", {"optimizer": "adamw"}),
                ("schedule is of type str", {"schedule": "cosine"}),
                ("warmup_steps 90 and decay_steps 20, and there are 100",
                 {"schedule": rekindle.WarmupStableDecay(warmup_steps=90, decay_steps=20)}),
                ("give evaluate_every too", {"schedule": rekindle.Plateau()}),
                ("give evaluate_every too", {"checkpoint": rekindle.Checkpoint(keep_best=1)}),
                ("does not see the memory", {"micro_batch": "auto"}),
                ("'fp32', 'bf16', 'fp16', 'auto'", {"precision": "float32"}), ("'exact'", {"reduce": None}),
                ("seed is -1", {"seed": -1}), ("clip_norm is nan", {"clip_norm": float("nan")}),
                ("evaluate_every is -1", {"evaluate_every": -1}), ("checkpoint is of type str", {"checkpoint": "50"}),
                ("checkpoint is -1", {"checkpoint": -1}), ("data_workers is 0", {"data_workers": 0}),
                ("start_minutes is 1441", {"start_minutes": 1441}),
                ("such as 'my-model'", {"name": "My Model"}), ("such as 'my-model'", {"name": "0" * 32}),
                ("evaluate_micro_batches is 0", {"evaluate_micro_batches": 0}),
                ("env_from is of type str", {"env_from": "HF_TOKEN"}),
                ("what is no name of a variable", {"env_from": ["HF_TOKEN=secret"]}),
                ("such as '127.0.0.1:7070'", {"endpoint": "here"})):
            with self.subTest(words), self.assertRaises(rekindle.Refused) as refused:
                rekindle.submit(models.perceptron, **{**good, **wrong})
            self.assertIn(words, refused.exception.message)
        self.assertEqual(self.calls(), [])

    def test_options_that_are_refused(self):
        for words, make in (
                ("AdamW.learning_rate is 0; give a number above 0 and up to 100", lambda: rekindle.AdamW(0)),
                ("AdamW.beta1 is 1.0; give a number from 0 to below 1", lambda: rekindle.AdamW(beta1=1.0)),
                ("SGD.learning_rate is None", lambda: rekindle.SGD(None)),
                ("Muon.epsilon is 0", lambda: rekindle.Muon(epsilon=0)),
                ("Cosine.final_ratio is 2", lambda: rekindle.Cosine(final_ratio=2)),
                ("CosineRestarts.cycle_growth is 1.5", lambda: rekindle.CosineRestarts(cycle_growth=1.5)),
                ("every_steps and every_seconds", lambda: rekindle.Checkpoint(every_steps=1, every_seconds=1)),
                ("Checkpoint.store is '/data'", lambda: rekindle.Checkpoint(store="/data")),
                ("Checkpoint.interval is 'often'", lambda: rekindle.Checkpoint(interval="often"))):
            with self.subTest(words), self.assertRaises(rekindle.Refused) as refused:
                make()
            self.assertIn(words, refused.exception.message)

    def test_names_of_jobs(self):
        wanted = Wanted(1, 1)
        for task, name in (("train:task", "train"), ("pkg.my_train:task", "pkg-my-train"), ("a:b_c", "a-b-c"),
                           ("_:task", "job"), ("x" * 80 + ":task", "x" * 63)):
            self.assertEqual(describe(Place(task, "/f", "/f/x.py"), wanted)["name"], name)

    def test_a_job_that_the_coordinator_refuses(self):
        self.plan(submit="train.json:3: spec.priority: 5000 is out of range")
        with self.assertRaises(rekindle.Refused) as refused:
            rekindle.submit(models.perceptron, steps=1, batch=1)
        self.assertEqual(refused.exception.message, "train.json:3: spec.priority: 5000 is out of range")

    def test_submit_only_submits(self):
        told = rekindle.submit(models.perceptron, steps=1, batch=1, name="one", endpoint="127.0.0.1:1")
        self.assertEqual(told, rekindle.Submitted("one", "uid1"))
        [verb] = self.verbs()
        self.assertRegex(verb, r"^submit .*/jobs/one\.json$")

    def test_what_differs_between_two_jobs(self):
        place = Place("train:task", "/f", "/f/train.py")
        one = describe(place, Wanted(10, 8))
        self.assertEqual(differences(one, one), [])
        other = describe(place, Wanted(20, 8, clip_norm=0, optimizer=rekindle.AdamW(0.5)))
        self.assertEqual(differences(one, other), [
            "steps was 10 and is 20", "clip_norm was left out and is 0",
            "optimizer.learning_rate was 0.001 and is 0.5"])


class DefaultsTest(unittest.TestCase):
    """Compares the defaults of options with those in the table of docs/jobs.md."""

    def setUp(self):
        # Maps (section, field) to the cell with the defaults, such as "0.95; `lion`: 0.99".
        self.cells = {}
        section = ""
        for line in (HERE.parents[1] / "docs" / "jobs.md").read_text().splitlines():
            if header := re.fullmatch(r"\| \*\*(\w+)\*\* \|.*", line):
                section = header.group(1)
            elif row := re.fullmatch(r"\| `(\w+)` \| *([^|]*?) *\|.*", line):
                self.cells[section, row.group(1)] = row.group(2)

    def documented(self, section, field, kind):
        """Returns the documented default, or None where it is no number or word of its own."""
        general, *special = self.cells[section, field].split("; ")
        cell = next((cell.partition(": ")[2] for cell in special if cell.startswith(f"`{kind}`")), general)
        word = re.fullmatch(r"`(\w+)`", cell)
        try:
            return word.group(1) if word else float(cell)
        except ValueError:
            return None

    def test_defaults(self):
        for section, kinds in (("optimizer", options.OPTIMIZERS), ("schedule", options.SCHEDULES),
                               ("checkpoint", (rekindle.Checkpoint,))):
            for kind in kinds:
                name = getattr(kind, "kind", "")
                for field in dataclasses.fields(kind):
                    with self.subTest(f"{kind.__name__}.{field.name}"):
                        self.assertEqual(field.default, self.documented(section, field.name, name))

    def test_every_kind_is_there(self):
        for section, kinds in (("optimizer", options.OPTIMIZERS), ("schedule", options.SCHEDULES)):
            row = next(line for line in (HERE.parents[1] / "docs" / "jobs.md").read_text().splitlines()
                       if line.startswith(f"| `kind` | `{kinds[0].kind}` |"))
            allowed = re.findall(r"`(\w+)`", row.split("|")[3])
            self.assertEqual({kind.kind for kind in kinds}, set(allowed), section)


if __name__ == "__main__":
    unittest.main()
