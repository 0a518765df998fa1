"""Tests that batches do not depend on who makes them and when, and that they come through shared memory."""
import array
import collections
import dataclasses
import datetime
import decimal
import os
import pathlib
import types
import unittest

from base import ChildTest

import models
import numpy
import torch
from plain import Plain

import rekindle
from rekindle import batches, data_worker, messages, randomness, sample_hash
from trainer import processes_below

STEPS = {(step, index): [(7 * step + 3 * index + offset) % 64 for offset in range(3)]
         for step in range(2) for index in range(3)}

Pair = collections.namedtuple("Pair", "left right")


class DataTest(ChildTest):
    def trained(self, expect, **options):
        """Returns the answers to all micro-batches of STEPS."""
        trainer = self.ready("models:noisy", **options)
        answers = {}
        for step in range(2):
            if expect:
                trainer.expect([(index, STEPS[step, index]) for index in range(3)], step, first=step)
            for index in range(3):
                answers[step, index] = trainer.compute(STEPS[step, index], step=step, index=index, first=step)
        return answers

    def test_gradients_do_not_depend_on_processes_and_prefetch(self):
        wanted = self.trained(expect=False)
        for expect, workers, prefetch in ((True, 1, 0), (True, 1, 4), (True, 3, 4), (False, 3, True)):
            answers = self.trained(expect, data_workers=workers, prefetch=prefetch)
            for key, answer in answers.items():
                self.assertEqual(answer.loss, wanted[key].loss)
                self.assert_equal_gradients(answer.gradients, wanted[key].gradients)
        plain = Plain(models.noisy)
        for (step, index), answer in wanted.items():
            loss, gradients = plain.compute(STEPS[step, index], step, index, first=step)
            self.assertEqual(loss, answer.loss)
            self.assert_equal_gradients(gradients, answer.gradients)

    def test_noise_repeats_by_its_key_and_by_nothing_else(self):
        trainer = self.ready("models:noisy")
        one = trainer.compute([3, 4], step=2, index=1, first=0)
        trainer.compute([9], step=2, index=0)
        self.assertEqual(trainer.compute([3, 4], step=2, index=1, first=0).loss, one.loss)
        others = [trainer.compute([3, 4], step=step, index=index, first=first).loss
                  for step, index, first in ((3, 1, 0), (2, 2, 0), (2, 1, 64))]
        self.assertEqual(len({one.loss, *others}), 4)

    def test_a_batch_may_reach_into_the_next_pass_over_the_data(self):
        task = models.noisy()

        def values(first, *samples):
            return data_worker.Reader(task, 1, ".").batch(False, first, samples)["x"]

        self.assertTrue(torch.equal(values(63, 3, 4), torch.cat([values(63, 3), values(64, 4)])))
        self.assertFalse(torch.equal(values(64, 4), values(63, 4)), "each pass draws anew")

    def test_the_checked_sample_is_hashed_wherever_it_is_read(self):
        trainer = self.ready("models:noisy", start="program", exact=True, data_workers=2)

        def hashed(samples, first, checked):
            return trainer.compute(samples, first=first, checked=checked).done.checked_sample

        own = hashed([3, 4, 5], 10, (11, 4))
        self.assertNotEqual(own, 0)
        self.assertEqual(hashed([8, 9], 30, (11, 4)), own, "another batch, which reads it beside its own samples")
        self.assertNotEqual(hashed([8, 9], 30, (11 + 64, 4)), own, "another pass over the data draws other noise")
        self.assertNotEqual(hashed([8, 9], 30, (12, 5)), own)
        self.assertEqual(trainer.compute([3, 4, 5], first=10).done.checked_sample, 0)
        alone = trainer.compute([8, 9], first=30)
        with_check = trainer.compute([8, 9], first=30, checked=(11, 4))
        self.assertEqual(with_check.loss, alone.loss)
        self.assert_equal_gradients(with_check.gradients, alone.gradients)

    def test_hashes_of_samples_are_those_of_their_values(self):
        def answer(task, samples):
            trainer = self.ready(task, start="program", exact=True)
            trainer.channel.send(messages.Hash(9, tuple(samples)))
            return trainer.receive()

        known = answer("reading:task", range(60))
        self.assertEqual((known.request, known.not_repeated), (9, -1))
        self.assertEqual(answer("reading:task", range(60)), known)
        self.assertNotEqual(answer("reading:task_of_other_samples", range(60)), known)
        self.assertEqual(answer("reading:task_of_other_samples", range(40)), answer("reading:task", range(40)))
        self.assertIn(answer("reading:unseeded", range(60)).not_repeated, range(60))

    def test_expectations_are_replaced_and_nothing_is_left_of_them(self):
        trainer = self.ready("models:noisy", data_workers=2, prefetch=3)
        wanted = [trainer.compute([at], index=at).loss for at in range(8)]
        opened = len(os.listdir(f"/proc/{trainer.pid}/fd"))
        for _ in range(20):
            trainer.expect([(at, [at]) for at in range(8)])
            trainer.expect([(at, [at]) for at in (5, 6)])
            for at in (6, 5, 1):
                self.assertEqual(trainer.compute([at], index=at).loss, wanted[at])
        # The memory of the last batch, and of one that was made ahead, may still be there.
        self.assertLessEqual(len(os.listdir(f"/proc/{trainer.pid}/fd")), opened + 2)

    def test_nothing_is_left_of_batches_that_were_ready_when_others_were_expected(self):
        trainer = self.ready("models:noisy", prefetch=3)
        opened = len(os.listdir(f"/proc/{trainer.pid}/fd"))
        for turn in range(10):
            trainer.expect([(at, [at + turn]) for at in range(3)])
            # The one data process makes the expected batches before this one, so their answers come first.
            trainer.compute([50], index=9)
        trainer.expect([])
        trainer.compute([51], index=9)
        self.assertLessEqual(len(os.listdir(f"/proc/{trainer.pid}/fd")), opened + 2)

    def test_samples_are_made_in_processes_of_their_own(self):
        trainer = self.ready("processes:task", data_workers=3)
        below = set(processes_below(trainer.pid))
        self.assertEqual(len(below), 3)
        trainer.expect([(index, [index]) for index in range(3)])
        seen = {int(trainer.compute([index], index=index).loss) for index in range(3)}
        self.assertTrue(seen <= below, (seen, below))


class BatchesTest(unittest.TestCase):
    def test_a_batch_comes_back_as_it_was(self):
        transposed = torch.arange(6.0).view(2, 3).t()
        batch = {"x": transposed, "again": transposed, "rows": numpy.arange(5, dtype=numpy.int16), "none": None,
                 "pair": Pair(torch.tensor(3), [torch.ones(2, dtype=torch.bfloat16), "text"]),
                 "empty": torch.empty(0, 4), "bool": torch.tensor([True, False]), "sparse": torch.eye(2).to_sparse(),
                 "grad": torch.ones(2, requires_grad=True)}
        back = batches.read(batches.write(batch))
        self.assertEqual(list(back), list(batch))
        self.assertIs(back["x"], back["again"])
        self.assertIsInstance(back["pair"], Pair)
        for one, other in ((back["x"], batch["x"]), (back["pair"].right[0], batch["pair"].right[0]),
                           (back["empty"], batch["empty"]), (back["bool"], batch["bool"]),
                           (back["sparse"].to_dense(), torch.eye(2)), (back["pair"].left, torch.tensor(3))):
            self.assertEqual((one.dtype, one.shape), (other.dtype, other.shape))
            self.assertTrue(torch.equal(one, other))
        self.assertTrue(back["grad"].requires_grad)
        self.assertEqual((back["rows"].tolist(), back["pair"].right[1], back["none"]), ([0, 1, 2, 3, 4], "text", None))

    def test_tensors_lie_in_the_mapped_memory_and_may_be_changed(self):
        before = len(os.listdir("/proc/self/fd"))
        back = batches.read(batches.write([torch.ones(1 << 20)]))
        with open("/proc/self/maps", encoding="ascii") as file:
            spans = [[int(end, 16) for end in line.split()[0].split("-")] for line in file if "rekindle-batch" in line]
        self.assertTrue(any(begin <= back[0].data_ptr() < end for begin, end in spans))
        back[0].add_(1)
        self.assertEqual(float(back[0].sum()), 2 << 20)
        del back
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)


class Reused(torch.utils.data.Dataset):
    """Reads each sample into the same memory."""

    def __init__(self):
        self.buffer = torch.zeros(1)

    def __len__(self):
        return 16

    def __getitem__(self, index):
        return self.buffer.fill_(index)


class Listed(torch.utils.data.Dataset):
    """Has its samples in memory, where a collator may change them."""

    def __init__(self):
        self.rows = [{"x": [index, index + 1, index + 2]} for index in range(16)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


def cut_in_place(rows):
    for row in rows:
        del row["x"][2:]
    return torch.tensor([row["x"] for row in rows])


class ReaderTest(unittest.TestCase):
    def reader(self, data, **options):
        module = torch.nn.Linear(1, 1)
        return data_worker.Reader(rekindle.Task(module, data=data, loss=models.entropy, **options), 1, ".")

    def test_the_checked_sample_is_read_after_the_batch_is_made(self):
        reader = self.reader(Reused())
        descriptor, hashed = reader.written(False, 7, [7], data_worker.Checked(3, 3))
        self.assertEqual(batches.read(descriptor).tolist(), [[7.0]])
        descriptor, own = reader.written(False, 3, [3], data_worker.Checked(3, 3))
        self.assertEqual(batches.read(descriptor).tolist(), [[3.0]])
        self.assertEqual(own, hashed)

    def test_a_collator_that_changes_samples_is_noticed_at_the_start(self):
        self.assertEqual(self.reader(Listed()).hashes(range(4))[0], data_worker.MADE)
        self.assertEqual(self.reader(Listed(), collate=cut_in_place).hashes(range(4)), (data_worker.NOT_REPEATED, 0))

    def test_errors_name_the_dataset_and_keep_what_was_refused(self):
        class Broken(Listed):
            def __getitem__(self, index):
                raise ValueError("not there")

        def odd(rows):
            raise rekindle.Refused("the collator returned nothing; return a batch")

        reader = self.reader(Listed(), validation=Broken(), collate=odd)
        for validation, words in ((True, r"^validation\[1\] raised ValueError: not there"),
                                  (False, "^the collator returned nothing; return a batch$")):
            with self.assertRaisesRegex(rekindle.Refused, words):
                reader.batch(validation, 0, [1])

    def test_a_collator_that_needs_several_samples_is_none_of_them(self):
        def mixes(rows):
            if len(rows) < 2:
                raise ValueError("an even number of samples is needed")
            return torch.zeros(1)

        self.assertEqual(self.reader(Listed(), collate=mixes).hashes(range(4))[0], data_worker.MADE)


@dataclasses.dataclass
class Row:
    x: int
    y: list


class Foreign:
    """Raises what is no AttributeError, as a proxy may, and keeps what was asked of it."""

    def __getattr__(self, name):
        raise KeyError(name)


class SampleHashTest(unittest.TestCase):
    def test_equal_samples_have_one_hash_and_others_have_another(self):
        def samples():
            record = numpy.zeros(2, dtype=[("a", object), ("b", "i4")])
            return [torch.arange(6.0), torch.arange(6.0).view(2, 3), torch.arange(6), torch.zeros(2).bfloat16(),
                    numpy.arange(6.0), numpy.arange(6.0).astype("f4"), numpy.array(["a", None], dtype=object), "text",
                    b"text", bytearray(b"a"), bytearray(b"b"), 1, 1.0, True, None, {"x": 1}, {"y": 1}, [1, [2]],
                    [[1], 2], (1, [2]), [], [1, 2], [1, 2.0], {1, 2}, {1, 3}, collections.deque([1]), range(3),
                    range(4), collections.UserDict(x=1), Pair(1, 2), Row(1, [2]), Row(1, [3]), array.array("i", [1]),
                    array.array("i", [2]), torch.eye(2).to_sparse(), torch.tensor([1 + 2j]).conj(), Foreign(),
                    {"dtype": numpy.float32}, datetime.date(2020, 1, 1), decimal.Decimal("1.5"), record,
                    torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
                    {"ids": list(range(200_000)), "y": 1}, {"ids": list(range(200_000)), "y": 2}]

        hasher = sample_hash.Hasher()
        hashes = [hasher.of(sample) for sample in samples()]
        self.assertEqual([sample_hash.Hasher().of(sample) for sample in samples()], hashes)
        self.assertEqual(len(set(hashes)), len(hashes))

    def test_what_an_object_keeps_does_not_count(self):
        one, other = types.SimpleNamespace(cache={}), types.SimpleNamespace(cache={1: 2})
        self.assertEqual(sample_hash.Hasher().of(one), sample_hash.Hasher().of(other))

    def test_folders_that_differ_between_nodes_do_not_count(self):
        here = sample_hash.Hasher(["/nodes/n1/bundles/b", "/nodes/n1"]).of(("/nodes/n1/bundles/b/3.png", "/data/x"))
        there = sample_hash.Hasher(["/nodes/n2/bundles/b", "/nodes/n2"]).of(("/nodes/n2/bundles/b/3.png", "/data/x"))
        other = sample_hash.Hasher(["/nodes/n2"]).of(("/nodes/n2/bundles/b/4.png", "/data/x"))
        path = sample_hash.Hasher(["/nodes/n2"]).of(pathlib.Path("/nodes/n2/x"))
        self.assertEqual(here, there)
        self.assertNotEqual(here, other)
        self.assertEqual(path, sample_hash.Hasher(["/nodes/n3/"]).of(pathlib.Path("/nodes/n3/x")))

    def test_numbers_that_are_not_whole_need_not_count(self):
        hasher = sample_hash.Hasher(whole=False)
        for one, other in ((torch.ones(2), torch.zeros(2)), (numpy.ones(2), numpy.zeros(2)), (1.5, 2.5),
                           ([1, 2.5], [1, 3.5])):
            self.assertEqual(hasher.of(one), hasher.of(other))
        for one, other in ((torch.ones(2), torch.ones(3)), (torch.tensor([1]), torch.tensor([2])), ([1, 2.5], [2, 2.5]),
                           (numpy.array([1]), numpy.array([2]))):
            self.assertNotEqual(hasher.of(one), hasher.of(other))

    def test_a_sample_that_holds_itself_or_very_much_is_hashed(self):
        ring = []
        ring += [ring, ring]
        self.assertEqual(len(sample_hash.Hasher().of(ring)), sample_hash.BYTES)
        self.assertEqual(len(sample_hash.Hasher().of([[0, None] * 500] * 1000)), sample_hash.BYTES)


class RandomnessTest(unittest.TestCase):
    def test_words_are_those_of_splitmix64(self):
        # The generator's first outputs for the seed 1234567 are known from its authors' program.
        state = 1234567
        for output in (6457827717110365317, 3203168211198807973, 9817491932198370423):
            self.assertEqual(randomness.splitmix64(state), output)
            state = (state + 0x9E3779B97F4A7C15) & randomness.WORD

    def test_keys_depend_on_every_word_and_on_their_kind(self):
        keys = {randomness.key(*words) for words in ((), (0,), (1,), (0, 0), (0, 1), (1, 0), (-1, 0))}
        self.assertEqual(len(keys), 7)
        self.assertNotEqual(randomness.forward_key(1, 2, 3), randomness.sample_key(1, 2, 3))


if __name__ == "__main__":
    unittest.main()
