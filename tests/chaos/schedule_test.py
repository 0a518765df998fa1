"""Tests that the schedule is a pure function of the seed, and that each kind of fault and each node occurs in some
schedule."""
import json
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "harness")]
from kinds import EVERY_KIND, kinds_for  # noqa: E402
from schedule import (FAKE_SHARE, NODES, OWN_SHARE, SECONDS, Draw, Planned, draw_device, draw_model,  # noqa: E402
                      make_schedule, overlapping)

SEEDS = range(300)


class ScheduleTest(unittest.TestCase):
    def test_the_same_seed_gives_the_same_schedule_and_another_one_does_not(self):
        made = [make_schedule(seed, EVERY_KIND) for seed in SEEDS]
        self.assertEqual(made, [make_schedule(seed, EVERY_KIND) for seed in SEEDS])
        self.assertEqual(len({json.dumps(one) for one in made}), len(SEEDS))

    def test_every_kind_occurs_alone_and_overlapping(self):
        alone, beside = set(), set()
        for seed in SEEDS:
            planned = make_schedule(seed, EVERY_KIND)
            for one, overlaps in zip(planned, overlapping(planned)):
                (beside if overlaps else alone).add(one.kind)
        self.assertEqual(alone, set(EVERY_KIND))
        self.assertEqual(beside, set(EVERY_KIND))

    def test_faults_begin_in_order_and_last_no_longer_than_their_kind(self):
        for seed in SEEDS:
            planned = make_schedule(seed, EVERY_KIND)
            self.assertEqual([one.at for one in planned], sorted(one.at for one in planned))
            self.assertLessEqual(planned[-1].at, SECONDS)
            for one in planned:
                self.assertLessEqual(one.seconds, EVERY_KIND[one.kind].longest)

    def test_every_node_is_struck(self):
        named = {value for seed in SEEDS for one in make_schedule(seed, EVERY_KIND) for value in one.drawn.values()}
        self.assertLessEqual(set(NODES), named)

    def test_two_that_only_follow_each_other_do_not_overlap(self):
        planned = [Planned("a", 0, 1, {}), Planned("b", 2, 3, {}), Planned("c", 4, 0, {})]
        self.assertEqual(overlapping(planned), [False, True, True])

    def test_a_share_of_the_rounds_is_on_the_fake_device(self):
        drawn = [draw_device(seed) for seed in range(1000)]
        self.assertEqual(drawn, [draw_device(seed) for seed in range(1000)])
        self.assertEqual(set(drawn), {"cpu", "fake"})
        self.assertAlmostEqual(drawn.count("fake") / len(drawn), FAKE_SHARE, delta=0.05)

    def test_a_share_of_the_rounds_trains_a_model_of_the_users_own(self):
        drawn = [draw_model(seed) for seed in range(1000)]
        self.assertEqual(set(drawn), {"gpt", "own"})
        self.assertAlmostEqual(drawn.count("own") / len(drawn), OWN_SHARE, delta=0.04)
        both = [(draw_device(seed), draw_model(seed)) for seed in range(1000)]
        self.assertEqual(len(set(both)), 4, "the device and the model are drawn apart")

    def test_processes_of_own_models_are_struck_where_there_are_some(self):
        others = {name for name, kind in EVERY_KIND.items() if kind.of_own_models}
        self.assertGreaterEqual(len(others), 3)
        self.assertEqual(set(kinds_for("own")), set(EVERY_KIND))
        self.assertEqual(set(kinds_for("gpt")), set(EVERY_KIND) - others)

    def test_weights_are_kept(self):
        draw = Draw(7)
        drawn = [draw.weighted(["seldom", "often"], lambda one: 9 if one == "often" else 1) for _ in range(1000)]
        self.assertTrue(50 < drawn.count("seldom") < 200, drawn.count("seldom"))


if __name__ == "__main__":
    unittest.main()
