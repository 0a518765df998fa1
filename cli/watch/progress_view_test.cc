#include "cli/watch/progress_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>

#include "absl/strings/str_join.h"
#include "cli/text/terminal_columns.h"

namespace rekindle::cli {
namespace {

using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

// Returns a job in the middle of its training.
Watched Running() {
  Watched watched;
  v1::Job& job = watched.job;
  job.set_name("gpt-text");
  job.set_uid("u");
  v1::JobStatus* status = job.mutable_status();
  status->set_state(v1::RUNNING);
  status->mutable_resolved_spec()->mutable_training()->set_steps(200);
  status->set_step(82);
  status->set_step_seconds(0.875);
  status->set_loss(2.883);
  status->set_validation_loss(2.9912);
  status->set_validation_bits_per_byte(4.3154);
  status->set_tokens_per_second(22200);
  status->set_generation(2);
  status->set_interruptions(1);
  status->set_steps_redone(3);
  status->set_checkpoint_step(75);
  status->set_submitted_at(1000);
  for (int rank = 0; rank < 3; ++rank) {
    v1::MemberStatus* member = status->add_members();
    member->set_micro_batch_begin(4 * rank);
    member->set_micro_batch_end(4 * rank + 4);
  }
  v1::Cost* cost = status->mutable_cost();
  cost->set_until(1070);
  cost->set_currency("EUR");
  cost->set_spent(1.5);
  cost->set_rate(12.25);
  cost->set_budget(60);
  status->set_last_event(
      "node n2 (名前) was lost: neither its trainer nor its agent answered within 100 ms, so generation 2 goes "
      "on with n1, n3 and n4 from step 80");
  for (int step = 1; step <= 82; ++step) {
    v1::LossPoint* point = status->add_loss_curve();
    point->set_step(step);
    point->set_value(2.8 + 2.7 / step);
  }
  status->set_checkpoint_at(1066);
  watched.heard_at = 1072;
  watched.now = 1072;
  return watched;
}

std::string Drawn(const Watched& watched, int columns, int rows) {
  return "\n" + absl::StrJoin(ProgressLines(watched, {.columns = columns, .rows = rows}), "\n") + "\n";
}

class ProgressViewTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

TEST_F(ProgressViewTest, WhatMembersDoIsShownInPlaceOfAReason) {
  Watched watched = Running();
  watched.job.mutable_status()->mutable_members(1)->set_trainer("n2/0/3");
  watched.job.mutable_status()->mutable_members(1)->set_note("compiling or loading, 40 s");
  EXPECT_THAT(Drawn(watched, 80, 24), HasSubstr("\nreason      n2/0 compiling or loading, 40 s\n"));
  EXPECT_THAT(ProgressLine(watched), EndsWith("  n2/0 compiling or loading, 40 s"));
  watched.job.mutable_status()->mutable_members(2)->set_note("replacing the child");
  EXPECT_THAT(ProgressLine(watched), EndsWith("  n2/0 compiling or loading, 40 s, and 1 other"));
}

TEST_F(ProgressViewTest, FortyColumns) {
  EXPECT_EQ(Drawn(Running(), 40, 24), R"(
gpt-text  RUNNING
█████████░░░░░░░░░░░░░  82/200 (41 %)
elapsed     1m 12s
ETA         1m 43s
loss        2.8830
validation  2.9912, 4.3154 bits/byte
speed       22.2k tokens/s
members     3 (4/4/4)
generation  2
interrupted 1 time, 3 steps redone
checkpoint  step 75, 6s old
spent       1.50 EUR
rate        12.25 EUR an hour
budget      60.00 EUR, 2.5 % spent
reason      -

last event  node n2 (名前) was lost:
            neither its trainer nor its
            agent answered within 100 …
Ctrl-C stops watching; the job goes on
)");
}

TEST_F(ProgressViewTest, EightyColumns) {
  EXPECT_EQ(Drawn(Running(), 80, 24), R"(
gpt-text  RUNNING
█████████████████████████▍░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  82/200 (41 %)
elapsed     1m 12s                     ETA         1m 43s
loss        2.8830                     validation  2.9912, 4.3154 bits/byte
speed       22.2k tokens/s             members     3 (4/4/4)
generation  2                          interrupted 1 time, 3 steps redone
checkpoint  step 75, 6s old            spent       1.50 EUR
rate        12.25 EUR an hour          budget      60.00 EUR, 2.5 % spent
reason      -
last event  node n2 (名前) was lost: neither its trainer nor its agent answered
            within 100 ms, so generation 2 goes on with n1, n3 and n4 from ste…
5.5         █
            █
            █
            █▄
            ██▁
            ███▃▂
2.833       ██████▇▆▅▅▅▄▄▄▃▃▃▃▃▃▃▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
            step 1                                                           82
Ctrl-C stops watching; the job goes on
)");
}

TEST_F(ProgressViewTest, HundredAndTwentyColumns) {
  EXPECT_EQ(Drawn(Running(), 120, 24), R"(
gpt-text  RUNNING
█████████████████████████████████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  82/200 (41 %)
elapsed     1m 12s                     ETA         1m 43s                     loss        2.8830
validation  2.9912, 4.3154 bits/byte   speed       22.2k tokens/s             members     3 (4/4/4)
generation  2                          interrupted 1 time, 3 steps redone     checkpoint  step 75, 6s old
spent       1.50 EUR                   rate        12.25 EUR an hour          budget      60.00 EUR, 2.5 % spent
reason      -
last event  node n2 (名前) was lost: neither its trainer nor its agent answered within 100 ms, so generation 2 goes on…
5.5         █
            █
            █
            █▄
            ███▃
            ████▆▃▃▂
2.833       █████████▇▇▆▆▅▅▅▅▄▄▄▄▄▃▃▃▃▃▃▃▃▃▃▃▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
            step 1                                                                                                   82
Ctrl-C stops watching; the job goes on
)");
}

TEST_F(ProgressViewTest, TwoHundredColumns) {
  // The view's lines may be longer than a line of source code may be. Such a line is written here as two strings.
  EXPECT_EQ(Drawn(Running(), 200, 12),
            "\n"
            "gpt-text  RUNNING\n"
            "█████████████████████████████████████████░░░░░░░░░░░░░░░░░░░"
            "░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  82/200 (41 %)\n"
            "elapsed     1m 12s                               ETA         1m 43s                               "
            "loss        2.8830                               validation  2.9912, 4.3154 bits/byte\n"
            "speed       22.2k tokens/s                       members     3 (4/4/4)                            "
            "generation  2                                    interrupted 1 time, 3 steps redone\n"
            "checkpoint  step 75, 6s old                      spent       1.50 EUR                             "
            "rate        12.25 EUR an hour                    budget      60.00 EUR, 2.5 % spent\n"
            "reason      -\n"
            "last event  node n2 (名前) was lost: neither its trainer nor its agent answered within 100 ms, so "
            "generation 2 goes on with n1, n3 and n4 from step 80\n"
            "Ctrl-C stops watching; the job goes on\n");
}

TEST_F(ProgressViewTest, OneLine) {
  EXPECT_EQ(ProgressLine(Running()),
            "gpt-text RUNNING  step 82/200 (41 %)  elapsed 1m 12s  ETA 1m 43s  loss 2.8830  validation 2.9912, 4.3154 "
            "bits/byte  speed 22.2k tokens/s  members 3 (4/4/4)  generation 2  interrupted 1 time, 3 steps redone  "
            "checkpoint step 75, 6s old  spent 1.50 EUR  rate 12.25 EUR an hour  budget 60.00 EUR, 2.5 % spent");
}

TEST_F(ProgressViewTest, WhatIsNotKnownIsLeftOutOfTheLine) {
  Watched watched;
  watched.job.set_name("new");
  watched.job.mutable_status()->set_state(v1::PENDING);
  watched.job.mutable_status()->set_checkpoint_step(-1);
  watched.job.mutable_status()->mutable_resolved_spec()->mutable_training()->set_steps(10);
  EXPECT_EQ(ProgressLine(watched),
            "new PENDING  step 0/10 (0 %)  members 0  generation 0  interrupted 0 times, 0 steps redone");
}

TEST_F(ProgressViewTest, TimeGoesOnBetweenTwoStates) {
  Watched watched = Running();
  watched.now += 30;
  EXPECT_THAT(ProgressLine(watched), HasSubstr("elapsed 1m 42s  ETA 1m 13s"));
  watched.now += 300;
  EXPECT_THAT(ProgressLine(watched), HasSubstr("ETA 0s"));
  watched.job.mutable_status()->set_state(v1::PAUSED);
  EXPECT_THAT(ProgressLine(watched), testing::AllOf(Not(HasSubstr("ETA")), Not(HasSubstr("speed"))));
  watched.job.mutable_status()->set_state(v1::SUCCEEDED);
  watched.job.mutable_status()->set_finished_at(1100);
  EXPECT_THAT(ProgressLine(watched), HasSubstr("elapsed 1m 40s"));
  EXPECT_THAT(Drawn(watched, 80, 24), EndsWith("\nended at 00:18:20\n"));
}

TEST_F(ProgressViewTest, ModelsOfRowsAreCountedInSamples) {
  Watched watched = Running();
  watched.job.mutable_status()->mutable_resolved_spec()->mutable_data()->mutable_table();
  EXPECT_THAT(ProgressLine(watched), HasSubstr("speed 22.2k samples/s"));
}

TEST_F(ProgressViewTest, ACheckpointOfUnknownAgeIsSomeStepsAgo) {
  Watched watched = Running();
  watched.job.mutable_status()->set_checkpoint_at(0);
  EXPECT_THAT(ProgressLine(watched), HasSubstr("checkpoint step 75, 7 steps ago"));
}

TEST_F(ProgressViewTest, NodesWithoutAPriceCostNobodyKnowsWhat) {
  Watched watched = Running();
  v1::Cost* cost = watched.job.mutable_status()->mutable_cost();
  cost->set_unpriced_node_hours(1);
  EXPECT_THAT(ProgressLine(watched), HasSubstr("spent 1.50 EUR + unpriced nodes  "));
  cost->set_spent(0);
  EXPECT_THAT(ProgressLine(watched), HasSubstr("spent its nodes have no price  "));
}

TEST_F(ProgressViewTest, TheReasonIsNotSaidTwice) {
  Watched watched = Running();
  watched.job.mutable_status()->set_reason("waits for 1 more worker");
  EXPECT_THAT(Drawn(watched, 80, 24), HasSubstr("\nreason      waits for 1 more worker\n"));
  watched.job.mutable_status()->set_last_event("waits for 1 more worker");
  EXPECT_THAT(Drawn(watched, 80, 24), HasSubstr("\nreason      -\nlast event  waits for 1 more worker\n"));
}

TEST_F(ProgressViewTest, SaysThatTheCoordinatorIsAway) {
  Watched watched = Running();
  watched.now = 1086;
  watched.away_since = 1072;
  EXPECT_THAT(Drawn(watched, 40, 24), EndsWith("\ncoordinator away since 00:17:52, 14s\n"));
  EXPECT_EQ(DescribeAway(watched), "coordinator away since 00:17:52, 14s");
}

TEST_F(ProgressViewTest, TextOfOthersCannotDriveTheTerminal) {
  Watched watched = Running();
  watched.job.set_name("a\033[2Jb");
  watched.job.mutable_status()->set_reason(
      "\xc2\x9b"
      "31m\tred\n");
  watched.job.mutable_status()->set_last_event("\u202Ereversed");
  watched.job.mutable_status()->mutable_cost()->set_currency("\033c");
  const std::string drawn = Drawn(watched, 80, 24);
  EXPECT_THAT(drawn, testing::AllOf(HasSubstr("a?[2Jb  RUNNING"), HasSubstr("?31m red?"), HasSubstr("?reversed")));
  EXPECT_EQ(drawn.find('\033'), std::string::npos);
  EXPECT_EQ(ProgressLine(watched).find('\033'), std::string::npos);
}

// Tests that in any terminal no line of the view is so wide that it could wrap, that there are no more lines than rows,
// and that their number is always the same, whatever the job is doing.
TEST_F(ProgressViewTest, TheRoomIsKeptAndItsHeightIsThatOfTheTerminalAlone) {
  Watched nothing;
  nothing.job.mutable_status()->set_state(v1::PENDING);
  Watched much = Running();
  much.job.set_name(std::string(63, 'n'));
  much.away_since = 0;
  v1::JobStatus* status = much.job.mutable_status();
  status->mutable_resolved_spec()->mutable_training()->set_steps(2'000'000'000);
  status->set_step(1'999'999'999);
  status->set_reason(absl::StrJoin(std::vector<std::string>(50, "理由"), " "));
  status->set_last_event(std::string(1000, 'x'));
  status->set_tokens_per_second(1e300);
  status->mutable_cost()->set_spent(1e300);
  for (int columns = 1; columns <= 210; ++columns) {
    for (int rows = 1; rows <= 50; ++rows) {
      const TerminalSize size = {.columns = columns, .rows = rows};
      const std::vector<std::string> lines = ProgressLines(much, size);
      ASSERT_LE(lines.size(), static_cast<size_t>(rows));
      ASSERT_EQ(ProgressLines(nothing, size).size(), lines.size()) << columns << " x " << rows;
      ASSERT_EQ(ProgressLines(Running(), size).size(), lines.size()) << columns << " x " << rows;
      for (const std::string& line : lines) {
        ASSERT_LE(ColumnsOf(line), std::max(1, columns - 1)) << line;
      }
    }
  }
}

}  // namespace
}  // namespace rekindle::cli
