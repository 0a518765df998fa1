// Tests that jobs with users' own models get only nodes that run their code, and that the others are named.
#include "coordinator/core/choices/own_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "coordinator/core/scenario/scenario.h"
#include "coordinator/core/state/own_code.h"

namespace rekindle::core {
namespace {

using scheduler::OwnCode;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class OwnModelsTest : public testing::Test {
 protected:
  std::vector<std::string> Run(const std::string& line) { return scenario_.Run(line); }
  std::string Status() { return Run("status").front(); }

  Scenario scenario_;
};

v1::NodeReport Report(const std::string& allow_code, bool has_python, const std::string& problem = "") {
  v1::NodeReport report;
  report.set_allow_code(allow_code);
  if (has_python) report.mutable_interpreter()->set_problem(problem);
  return report;
}

TEST(OwnCodeTest, ANodeRunsWhatItAllowsAndCan) {
  EXPECT_EQ(OwnCodeOn(Report("", true)), OwnCode::kNone) << "an agent of an earlier release";
  EXPECT_EQ(OwnCodeOn(Report("off", true)), OwnCode::kNone);
  EXPECT_EQ(OwnCodeOn(Report("needs-isolation", true)), OwnCode::kNone);
  EXPECT_EQ(OwnCodeOn(Report("on", false)), OwnCode::kWithInterpreter);
  EXPECT_EQ(OwnCodeOn(Report("on", true, "has no PyTorch")), OwnCode::kWithInterpreter);
  EXPECT_EQ(OwnCodeOn(Report("unisolated", true)), OwnCode::kAny);
}

TEST(OwnCodeTest, AJobNeedsThePythonOfTheNodeUnlessItNamesOne) {
  v1::JobSpec spec;
  EXPECT_EQ(OwnCodeOf(spec), OwnCode::kNone);
  spec.mutable_model()->set_python("train:task");
  EXPECT_EQ(OwnCodeOf(spec), OwnCode::kAny);
  spec.mutable_model()->set_interpreter("/venv/bin/python");
  EXPECT_EQ(OwnCodeOf(spec), OwnCode::kWithInterpreter);
}

TEST_F(OwnModelsTest, ANodeThatCannotIsolateItSaysWhatToDo) {
  Run("node n1 up allow_code=needs-isolation python=2.11.0");
  EXPECT_THAT(Run("submit job python=train:task"), Contains(HasSubstr("node n1: it cannot isolate code of users")));
}

TEST_F(OwnModelsTest, OnlyNodesThatRunItGetIt) {
  Run("node n1 up");
  Run("node n2 up allow_code=on python=2.11.0");
  Run("node n3 up allow_code=on");
  const auto said = Run("submit job python=train:task max=3");
  EXPECT_THAT(said, AllOf(Contains("n2 <- run job on slot 0"), Not(Contains(HasSubstr("n1 <-"))),
                          Not(Contains(HasSubstr("n3 <-")))));
}

TEST_F(OwnModelsTest, WithAnInterpreterOfItsOwnItGetsAllThatAllowCode) {
  Run("node n1 up");
  Run("node n2 up allow_code=on");
  EXPECT_THAT(Run("submit job python=train:task interpreter=/p max=3"),
              AllOf(Contains("n2 <- run job on slot 0"), Not(Contains(HasSubstr("n1 <-")))));
}

TEST_F(OwnModelsTest, OtherJobsLeaveThoseNodesFree) {
  Run("node n1 up allow_code=on python=2.11.0");
  Run("node n2 up");
  EXPECT_THAT(Run("submit plain max=1"), Contains("n2 <- run plain on slot 0"));
  EXPECT_THAT(Run("submit job python=train:task max=1"), Contains("n1 <- run job on slot 0"));
}

TEST_F(OwnModelsTest, WhereNoNodeCanItIsRefusedAtSubmit) {
  Run("node n1 up");
  EXPECT_THAT(Run("submit job python=train:task"),
              Contains(HasSubstr("node n1: it runs no code of users, because its rekindle-worker is of an earlier "
                                 "release")));
  Run("node n1 up allow_code=off");
  EXPECT_THAT(Run("submit job python=train:task"),
              Contains("refused: spec.model.python: no node can run it (node n1: it runs no code of users: start its "
                       "rekindle-worker with --allow-code on)"));
  Run("node n1 up allow_code=on");
  EXPECT_THAT(Run("submit job python=train:task"), Contains(HasSubstr("node n1: it has no Python for own models")));
  Run("node n1 up allow_code=on python=2.3.1 python_problem=has-torch-2.3.1");
  Run("node n2 up");
  EXPECT_THAT(Run("submit job python=train:task"),
              Contains("refused: spec.model.python: no node can run it (node n1: /python has-torch-2.3.1; another node "
                       "cannot either)"));
}

TEST_F(OwnModelsTest, WithoutNodesItWaitsAndSaysWhatIsMissing) {
  EXPECT_THAT(Run("submit job python=train:task"), Contains(HasSubstr("submitted")));
  EXPECT_THAT(Run("node n1 up"), Not(Contains(HasSubstr("run job"))));
  EXPECT_THAT(Status(), HasSubstr("PENDING"));
  Run("live 5");
  EXPECT_THAT(Status(), HasSubstr("node n1: it runs no code of users"));
  EXPECT_THAT(Run("node n1 up allow_code=on python=2.11.0"), Contains("n1 <- run job on slot 0"));
}

TEST_F(OwnModelsTest, ANodeThatCannotGetTheCodeIsNamedInTheStatusAndAnEvent) {
  Run("node n1 up allow_code=on python=2.11.0");
  Run("node n2 up allow_code=on python=2.11.0");
  Run("submit job python=train:task max=1");
  const auto said = Run("node n1 not_started words=the-bundle-is-gone");
  EXPECT_THAT(said, Contains("not_started: node n1 cannot start a trainer: the-bundle-is-gone"));
  EXPECT_THAT(Status(), AllOf(HasSubstr("PENDING"), HasSubstr("node n1 cannot start a trainer: the-bundle-is-gone")));
  EXPECT_THAT(Run("node n1 up checkpoint=c"), Not(Contains(HasSubstr("not_started")))) << "it was told";
  EXPECT_THAT(Run("node n2 not_started"), Not(Contains(HasSubstr("not_started")))) << "n2 has no slot of the job";
  Run("node n1 started");
  EXPECT_THAT(Status(), Not(HasSubstr("cannot start")));
  Run("trainer n1/0");
  Run("follow all");
  EXPECT_THAT(Status(), HasSubstr("RUNNING"));
}

TEST_F(OwnModelsTest, WhatANodeSaysNewlyIsSaidAtOnce) {
  Run("submit job python=train:task");
  Run("node n1 up allow_code=on python=2.3.1 python_problem=has-an-old-torch");
  EXPECT_THAT(Status(), HasSubstr("node n1: /python has-an-old-torch"));
  Run("node n1 up allow_code=on python=2.11.0 python_problem=has-no-package");
  EXPECT_THAT(Status(), HasSubstr("node n1: /python has-no-package"));
}

TEST_F(OwnModelsTest, MachinesThatCannotRunItAreNotOrderedOneAfterTheOther) {
  Run("prices a=spot:1:3:4");
  EXPECT_THAT(Run("submit job python=train:task min=1 max=1 store=s"), Contains("order a: 1 node"));
  Run("pool a running=1");
  EXPECT_THAT(Run("node a1 up pool=a allow_code=off"), Not(Contains(HasSubstr("order a"))));
  EXPECT_THAT(Status(), HasSubstr("node a1: it runs no code of users"));
  EXPECT_THAT(Run("live 100"), Not(Contains(HasSubstr("order a"))));
  EXPECT_THAT(Run("live 60"), Contains(HasSubstr("order a"))) << "the image may be mended";
  EXPECT_THAT(Run("node a2 up pool=a allow_code=on python=2.11.0"), Contains("a2 <- run job on slot 0"));
}

TEST_F(OwnModelsTest, OneMachineThatCannotRunItTakesNothingFromTheOthers) {
  Run("prices a=spot:1:3:4");
  Run("submit job python=train:task min=1 max=2 store=s");
  Run("pool a running=2");
  EXPECT_THAT(Run("node a1 up pool=a allow_code=on python=2.11.0"), Contains("a1 <- run job on slot 0"));
  Run("trainer a1/0");
  Run("follow all");
  Run("node a2 up pool=a allow_code=on");
  EXPECT_THAT(Run("live 30"), Not(Contains(HasSubstr("a1/0/1 <- "))));
  EXPECT_THAT(Status(), HasSubstr("RUNNING, generation 1"));
}

TEST(TakesCodeTest, ACoordinatorThatTakesNoCodeAnyMoreRunsNoneOfItsJobs) {
  EXPECT_EQ(OwnCodeOn(Report("on", true), /*takes_code=*/false), OwnCode::kNone);
  State state;
  state.tunables.takes_code = false;
  v1::JobSpec spec;
  EXPECT_EQ(DescribeUnable(state, spec), "");
  spec.mutable_model()->set_python("train:task");
  EXPECT_THAT(DescribeUnable(state, spec), HasSubstr("start rekindle-coordinator with --allow-code on"));
  EXPECT_EQ(UnfitForOwnModel(state, spec), "") << "it was refused before";
}

TEST_F(OwnModelsTest, ANodeThatDoesNotRunItAnyMoreIsFreeOnceItsTrainerHasEnded) {
  Run("node n1 up allow_code=on python=2.11.0");
  Run("submit job python=train:task");
  Run("trainer n1/0");
  Run("follow all");
  EXPECT_THAT(Run("node n1 up allow_code=off"), Not(Contains(HasSubstr("nothing to run"))));
  EXPECT_THAT(Run("node n1 exit n1/0 0 allow_code=off"), Contains("n1 <- nothing to run"));
}

}  // namespace
}  // namespace rekindle::core
