#include "coordinator/core/members/survey.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

namespace rekindle::core {
namespace {

constexpr double kNow = 1000;

double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::string NameOf(int i) { return "n" + std::to_string(i) + "/0/1"; }

// Returns a job whose generation was interrupted. A third of its members has stopped and accuses ten others each, a
// third is dead, and a third is silent.
Job Interrupted(int members) {
  Job job;
  job.record.mutable_membership()->set_generation(2);
  job.regroup.forming.since = kNow;
  for (int i = 0; i < members; ++i) {
    v1::Member* member = job.record.mutable_membership()->add_members();
    member->set_trainer(NameOf(i));
    member->set_node("n" + std::to_string(i));
    Trainer& trainer = job.trainers[NameOf(i)];
    trainer.report.set_trainer(NameOf(i));
    trainer.report.set_generation(2);
    trainer.report.set_step_seconds_p99(0.1);
    trainer.reported = true;
    trainer.heard = kNow - 1;
    if (i % 3 == 0) {
      trainer.report.set_phase(v1::TRAINER_INTERRUPTED);
      for (int k = 0; k < 10; ++k) {
        v1::Accusation* accusation = trainer.report.add_accusations();
        accusation->set_trainer(NameOf((i + 2 + 3 * k) % members));
        accusation->set_kind(v1::Accusation::TIMEOUT);
      }
    } else if (i % 3 == 1) {
      trainer.death = "was killed";
      trainer.certain = true;
    }
  }
  return job;
}

// Returns the time of the fastest of several surveys, because other processes use the machine, too.
double SecondsOfASurvey(int members) {
  const State state;
  const Job job = Interrupted(members);
  double least = kNever;
  for (int round = 0; round < 10; ++round) {
    const double begun = CpuSeconds();
    const std::vector<MemberView> views = SurveyMembers(state, job);
    least = std::min(least, CpuSeconds() - begun);
    EXPECT_EQ(views.size(), static_cast<size_t>(members));
  }
  return least;
}

TEST(SurveyTest, SaysOfEachMemberWhatIsKnownOfIt) {
  const State state;
  const Job job = Interrupted(6);
  const std::vector<MemberView> views = SurveyMembers(state, job);
  ASSERT_EQ(views.size(), 6u);
  EXPECT_EQ(views[0].standing, Standing::kStopped);
  EXPECT_EQ(views[1].standing, Standing::kDead);
  EXPECT_EQ(views[2].standing, Standing::kAwaited);
  EXPECT_EQ(views[2].cause, "trainer n2/0 made no progress within the deadline (n0/0 waited for it) and is silent");
}

TEST(SurveyTest, TakesTenTimesAsLongForTenTimesAsManyMembers) {
  const double some = SecondsOfASurvey(100), many = SecondsOfASurvey(1000);
  RecordProperty("microseconds_of_1000", static_cast<int>(1e6 * many));
  EXPECT_LT(many, 40 * some) << "a hundred times would be the square: " << 1e6 * some << " and " << 1e6 * many << " us";
}

}  // namespace
}  // namespace rekindle::core
