"""Tests that a check names what differs first and why, and finds nothing wrong with tasks that are steady."""
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from base import TASKS

import torch

import rekindle
from rekindle.checks import causes, observed, plan, plays, probe, report
from rekindle.processes import environment
from trainer import processes_below


def checked(task, **options):
    return plays.check(plays.Options(task, str(TASKS), exact=False, **options))


class CausesTest(unittest.TestCase):
    """Each task has one cause. The first cause of the report is the one to tell."""

    def differs(self, task, kind, where, *, between="order", micro_batch=1, confirmed=True, what="gradient",
                name="layer.weight", words=()):
        found = checked(task)
        self.assertEqual(found.outcome, "differs", found.text())
        self.assertFalse(found)
        difference = found.difference
        self.assertEqual((difference.what, difference.name, difference.between, difference.micro_batch),
                         (what, name, between, micro_batch))
        told = [cause for cause in found.causes if cause.kind == kind]
        self.assertTrue(told, found.text())
        self.assertIn(where, told[0].where)
        self.assertEqual(told[0].confirmed, confirmed, found.text())
        for word in (told[0].message, told[0].fix, *words):
            self.assertIn(" ".join(word.split()), " ".join(found.text().split()))
        self.assertEqual(processes_below(os.getpid()), [])
        return found

    def test_a_counter(self):
        found = self.differs("keeping:counter", "counter", "module.calls", words=["from 0 to 2"])
        self.assertNotIn("module.last", found.text(), "an attribute that does no harm is not told")

    def test_two_causes_that_only_together_make_the_difference(self):
        found = self.differs("keeping:two_counters", "counter", "module.calls", words=["with all 2 causes put back"])
        self.assertEqual([(cause.where, cause.confirmed) for cause in found.causes],
                         [("module.calls", True), ("module.times", True)])

    def test_a_global_counter(self):
        self.differs("keeping:global_counter", "counter", "keeping.SEEN['batches']")

    def test_a_tensor_that_is_no_buffer(self):
        self.differs("keeping:tensor", "tensor", "module.mean", words=["register_buffer"])

    def test_a_buffer_that_gets_a_count(self):
        self.differs("keeping:counted_buffer", "counter", "module.calls", what="buffer", name="queue",
                     words=["the new value of the buffer queue differs"])

    def test_frozen_weights_that_are_drawn_without_a_seed(self):
        found = self.differs("keeping:unseeded_teacher", "entropy", "keeping.py:", between="processes",
                             micro_batch=None, confirmed=False, what="weights", name=None)
        self.assertIn("the initial value of a frozen parameter", found.text())

    def test_a_module_that_is_in_a_list(self):
        self.differs("keeping:hidden_module", "tensor", "module.parts[0].running_var")

    def test_a_cache_of_functools(self):
        self.differs("keeping:cached", "memo", "lru_cache keeping.mask")

    def test_a_store_of_what_weights_gave(self):
        self.differs("keeping:memo", "memo", "module.store", micro_batch=3)

    def test_generators_that_are_not_seeded_again(self):
        self.differs("keeping:generator", "generator", "module.source")
        self.differs("keeping:generator_of_numpy", "generator", "module.source")
        self.differs("keeping:generator_of_loss", "generator", "loss.source")

    def test_a_generator_without_a_seed(self):
        found = self.differs("keeping:unseeded", "entropy", "keeping.py:", between="processes", micro_batch=0,
                             confirmed=False, words=["in the task's function"])
        self.assertIn("generator", [cause.kind for cause in found.causes])

    def test_weights_that_are_drawn_without_a_seed(self):
        found = self.differs("keeping:unseeded_weights", "entropy", "keeping.py:", between="processes",
                             micro_batch=None, confirmed=False, what="weights", name="layer.bias")
        self.assertIn("the initial value of layer.bias differs", found.text())

    def test_what_each_process_gets_another_of(self):
        for task, kind in (("system", "entropy"), ("clock", "time"), ("number_of_process", "address")):
            self.differs(f"keeping:{task}", kind, "keeping.py:", between="processes", micro_batch=0, confirmed=False,
                         words=["in forward"])

    def test_a_dataset_that_counts(self):
        self.differs("keeping:counting_data", "counter", "data.reads")
        self.differs("keeping:keeping_data", "memo", "data.kept", micro_batch=4)

    def test_a_collate_that_draws(self):
        self.differs("keeping:drawing_collate", "generator", "collate.source", words=["collate gives something else"])

    def test_a_dataset_that_draws_without_a_seed(self):
        self.differs("keeping:unseeded_data", "dataset", "data[0]", between="processes", micro_batch=0,
                     words=["though the same samples were read before", "asks for random bytes of the system"])

    def test_an_import_that_draws_without_a_seed(self):
        self.differs("unseeded_import:task", "import", "unseeded_import", between="processes", micro_batch=0,
                     confirmed=False, words=["a generator of Python without a seed"])

    def test_a_cause_that_cannot_be_seen(self):
        with tempfile.TemporaryDirectory() as scratch, mock.patch.dict(os.environ, TEST_SCRATCH=scratch):
            found = checked("keeping:unseen")
        self.assertEqual((found.outcome, found.causes), ("differs", []))
        self.assertIn("no cause was found", found.text())

    def test_a_search_that_takes_too_long_is_stopped(self):
        with mock.patch.object(probe, "MOST", 0.0):
            found = checked("keeping:counter")
        self.assertEqual((found.outcome, found.causes), ("differs", []))
        self.assertIn("the search for causes was stopped", found.notes[0])
        self.assertEqual(processes_below(os.getpid()), [])


class SteadyTest(unittest.TestCase):
    def equal(self, task, **options):
        found = checked(task, **options)
        self.assertEqual(found.outcome, "equal", found.text())
        self.assertTrue(found)
        self.assertEqual((found.processes, found.difference, found.causes), (2 + plan.COUNT, None, []))
        return found

    def test_a_perceptron(self):
        found = self.equal("models:perceptron")
        self.assertEqual((found.parameters, found.buffers, found.notes), (4, 0, []))

    def test_an_encoder_with_dropout_and_autocast(self):
        found = self.equal("steady:encoder", precision="bf16", micro_batch=3)
        self.assertEqual(found.notes, [])

    def test_what_may_matter_later_is_a_note(self):
        found = self.equal("keeping:late_counter")
        self.assertIn("module.calls of Module is a number and changes in forward, from 0 to 2", found.notes[0])
        found = self.equal("drawing_import:task")
        self.assertIn("importing drawing_import draws from random", found.notes[0])

    def test_what_is_refused_is_told(self):
        for task, kind, words in (("refused:no_parameters", "task", "no parameters"),
                                  ("failing:bare_loss", "loss", "rekindle.Sum"),
                                  ("failing:raises_on_two", "exception", "two samples are too few"),
                                  ("failing:writes_parameter", "write", "forward writes to a parameter")):
            found = checked(task, micro_batch=2)
            self.assertEqual((found.outcome, found.refused["kind"]), ("refused", kind), found.text())
            self.assertIn(words, " ".join(found.text().split()))


class CommandTest(unittest.TestCase):
    def run_program(self, *words, **options):
        done = subprocess.run([sys.executable, *words], env={**environment(), "PYTHONHASHSEED": "random"}, check=False,
                              stdout=subprocess.PIPE, text=True, **options)
        return done.returncode, done.stdout

    def test_the_exit_code_and_the_report(self):
        for task, code, outcome in (("steady:normed", 0, "equal"), ("keeping:generator", 1, "differs"),
                                    ("refused:returns_nothing", 2, "refused")):
            ended, written = self.run_program("-m", "rekindle.check", str(TASKS), task, "--json")
            found = json.loads(written)
            self.assertEqual((ended, found["outcome"], found["version"]), (code, outcome, 1))
            self.assertEqual(found["exact"], True)
            self.assertEqual(report.from_json(written).to_json() + "\n", written)
        self.assertEqual(self.run_program("-m", "rekindle.check", str(TASKS), "a:b", "--micro-batch", "0",
                                          stderr=subprocess.DEVNULL)[0], 2)

    def test_a_script_checks_its_own_task(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "train.py")
            path.write_text(f"import sys\nimport rekindle\nsys.path.append({str(TASKS)!r})\n"
                            "def task():\n    from keeping import counter\n    return counter()\n"
                            "if __name__ == '__main__':\n    print(rekindle.check(task, exact=False))\n")
            ended, written = self.run_program(str(path))
            self.assertEqual(ended, 0)
            self.assertTrue(written.startswith("rekindle check train:task: differs\n"), written)
            self.assertIn("module.calls", written)
            path.write_text(path.read_text().replace("if __name__ == '__main__':", "if True:"))
            ended, written = self.run_program(str(path))
            self.assertIn('if __name__ == "__main__":', written)
            self.assertIn("refused", written.splitlines()[0])

    def test_a_task_that_another_process_cannot_import_is_refused(self):
        class Callable:
            def __call__(self):
                return None

        for task in (lambda: None, functools.partial(checked, "models:perceptron"), Callable(), "models:perceptron"):
            with self.assertRaises(rekindle.Refused) as caught:
                rekindle.check(task)
            self.assertIn("write it at the top of a file", caught.exception.message)
        with self.assertRaises(rekindle.Refused) as caught:
            rekindle.check(checked, micro_batch=0)
        self.assertIn("micro_batch is 0", caught.exception.message)


class PlanTest(unittest.TestCase):
    def test_batches_have_samples_of_their_own_and_repeat_some_in_a_later_pass(self):
        for samples, size in ((1000, 4), (24, 4), (5, 4), (1, 3)):
            batches = plan.batches(samples, size)
            self.assertEqual([batch.step for batch in batches], [0, 0, 0, 1, 1, 1])
            self.assertEqual([batch.samples for batch in batches[4:]], [batches[1].samples, batches[0].samples])
            last = max((batch.first + size - 1) // samples for batch in batches[:4])
            self.assertTrue(all(batch.first // samples > last for batch in batches[4:]))
            self.assertTrue(all(0 <= sample < samples for batch in batches for sample in batch.samples))
        self.assertEqual(len({sample for batch in plan.batches(1000, 4)[:4] for sample in batch.samples}), 16)

    def test_weights_move_a_little_and_always_alike(self):
        values = torch.cat([torch.zeros(50), torch.full((50,), 3.0)])
        one, again = values.clone(), values.clone()
        plan.move(one, 2, 7)
        plan.move(again, 2, 7)
        self.assertTrue(torch.equal(one, again))
        self.assertGreater(float((one - values).abs().min()), 0)
        self.assertLess(float((one - values).abs().max()), plan.MOVE * 3)


class ObservedTest(unittest.TestCase):
    def test_what_changed_is_put_back(self):
        holder = torch.nn.Linear(2, 2)
        holder.number, holder.values, holder.rows = 3, torch.ones(2), [1, {"a": 2}]
        holder.source = torch.Generator().manual_seed(3)
        known = {id(holder), *map(id, holder.parameters())}

        def look():
            return observed.snapshot({"module": holder}, known, {})

        before = look()
        drawn = torch.rand(1, generator=holder.source)
        holder.number, holder.late = 4, "new"
        holder.values.add_(1)
        holder.rows[1]["a"] = 5
        changed = observed.changes(before, look())
        self.assertEqual({change.path: change.kind for change in changed},
                         {"module.source": "generator", "module.number": "counter", "module.values": "tensor",
                          "module.rows[1]['a']": "counter", "module.late": "attribute"})
        for change in changed:
            change.undo()
        self.assertEqual(observed.changes(before, look()), [])
        self.assertTrue(torch.equal(torch.rand(1, generator=holder.source), drawn))
        self.assertEqual((holder.number, holder.rows, hasattr(holder, "late")), (3, [1, {"a": 2}], False))

    def test_the_work_is_bounded(self):
        ring = []
        ring.append(ring)
        deep = 0
        for _ in range(100):
            deep = [deep]
        large = torch.zeros(observed.MOST_BYTES // 4 + 1)
        look = functools.partial(observed.snapshot, {"ring": ring, "deep": deep, "large": large}, set(), {})
        before = look()
        self.assertFalse(before.whole)
        self.assertLess(len(before.seen), 200)
        self.assertIsNone(before.seen["large"].undo, "a large tensor is not copied")
        large.fill_(1)
        self.assertEqual([change.path for change in observed.changes(before, look())], ["large"])
        with mock.patch.object(observed, "MOST_THINGS", 10):
            self.assertEqual(len(observed.snapshot({"many": list(range(100))}, set(), {}).seen), 10)

    def test_causes_are_ordered_by_what_explains_the_difference(self):
        def cause(kind, phase, confirmed=False):
            return report.Cause(kind, kind, phase, kind, "", confirmed)

        found = [cause("time", causes.IN_TASK), cause("counter", causes.IN_FORWARD),
                 cause("tensor", causes.IN_FORWARD, True), cause("entropy", causes.IN_FORWARD)]
        self.assertEqual([one.kind for one in causes.ranked(found, "order")], ["tensor", "counter", "entropy"])
        self.assertEqual([one.kind for one in causes.ranked(found, "processes")],
                         ["tensor", "entropy", "time", "counter"])


if __name__ == "__main__":
    unittest.main()
