// Tests the table of checks by itself. server/services/same_answer_test.cc tests it against the coordinator, and
// validate_test.py tests it against the command.
#include "coordinator/spec/job_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

v1::Job Small() {
  v1::Job job;
  job.set_name("small");
  job.mutable_spec()->mutable_data()->add_text("/text/*.txt");
  job.mutable_spec()->mutable_training()->set_steps(100);
  return job;
}

std::vector<std::string> Refused(const v1::Job& job, const Facts& facts) {
  const v1::JobSpec resolved = FillSpec(job.spec(), facts.settings ? *facts.settings : UnknownSettings());
  Checker check;
  CheckJob({job, resolved}, facts, &check);
  std::vector<std::string> texts;
  for (const Problem& problem : check.Problems()) texts.push_back(problem.text);
  return texts;
}

TEST(JobChecksTest, EachHasANameOfItsOwnAndRunsWhereItsNeedsAreMet) {
  std::set<std::string> names;
  const Defaults settings{.store = "file:///store"};
  const auto good = [](const auto&) { return absl::OkStatus(); };
  const Facts all{.settings = &settings,
                  .files = true,
                  .own_files = good,
                  .room = [] { return absl::OkStatus(); },
                  .cluster = good};
  for (const JobCheck& check : JobChecks()) {
    EXPECT_TRUE(names.insert(check.name).second) << check.name;
    EXPECT_TRUE(IsRun(check, all)) << check.name;
    EXPECT_EQ(IsRun(check, {}), check.needs == kNothing) << check.name;
    EXPECT_EQ(IsRun(check, {.settings = &settings}), (check.needs & ~kSettings) == 0) << check.name;
  }
}

TEST(JobChecksTest, WhatIsNotKnownIsNotHeldAgainstAJob) {
  v1::Job job = Small();
  EXPECT_THAT(Refused(job, {}), IsEmpty());
  job.mutable_spec()->mutable_checkpoint()->set_archive_store("file:///store");
  job.mutable_spec()->mutable_training()->set_precision("fp16");
  EXPECT_THAT(Refused(job, {}), IsEmpty());
  const Defaults settings{.precision = "fp32", .precision_policy = "enforce", .store = "file:///store"};
  EXPECT_THAT(Refused(job, {.settings = &settings}),
              ElementsAre("spec.training.precision: 'fp16' is not allowed: this cluster computes all jobs in 'fp32' "
                          "(REKINDLE_PRECISION_POLICY); remove the field",
                          "spec.checkpoint.archive_store: is spec.checkpoint.store: name another one, with a colder "
                          "storage class"));
}

TEST(JobChecksTest, MistakesInEverySectionAreToldTogether) {
  v1::Job job = Small();
  job.set_name("No Name");
  v1::JobSpec& spec = *job.mutable_spec();
  spec.set_priority(5000);
  spec.mutable_training()->set_steps(0);
  spec.mutable_model()->set_kind("gtp");
  spec.mutable_workers()->set_min(-1);
  spec.mutable_schedule()->set_warmup_steps(5);
  spec.mutable_goals()->set_deadline_hours(3);
  EXPECT_THAT(Refused(job, {}),
              ElementsAre("name: 'No Name' must be 1 to 63 of a-z, 0-9 and '-', with none of '-' at its ends",
                          "spec.priority: 5000 is out of range: use -1000 to 1000",
                          "spec.workers.min: -1 is out of range: use 1 to 64",
                          "spec.model.kind: 'gtp' is not supported; did you mean 'gpt2'? supported: gpt, gpt2, mlp, "
                          "resnet18, resnet50, python",
                          "spec.training.steps: is missing: say how many steps to train"))
      << "and nothing that follows from these";
}

TEST(JobChecksTest, AnythingMayBeChecked) {
  v1::Job job;
  EXPECT_FALSE(Refused(job, {}).empty());
  const google::protobuf::Descriptor* spec = v1::JobSpec::descriptor();
  // All number fields of all sections of the spec get the same extreme value at once.
  for (const double value : {-1e300, -1.0, 1e300}) {
    v1::Job wild;
    for (int i = 0; i < spec->field_count(); ++i) {
      if (spec->field(i)->message_type() == nullptr) continue;
      auto* section = wild.mutable_spec()->GetReflection()->MutableMessage(wild.mutable_spec(), spec->field(i));
      for (int j = 0; j < section->GetDescriptor()->field_count(); ++j) {
        const auto* field = section->GetDescriptor()->field(j);
        if (field->is_repeated()) continue;
        if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE) {
          section->GetReflection()->SetDouble(section, field, value);
        } else if (field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_INT32) {
          section->GetReflection()->SetInt32(section, field,
                                             value < -1  ? std::numeric_limits<int>::min()
                                             : value < 0 ? -1
                                                         : std::numeric_limits<int>::max());
        }
      }
    }
    EXPECT_GT(Refused(wild, {}).size(), 5u) << value;
  }
}

TEST(JobChecksTest, NeedsAreDescribed) {
  EXPECT_EQ(Describe(kNothing), "nothing");
  EXPECT_EQ(Describe(kNodes | kPrices), "nodes and prices");
}

}  // namespace
}  // namespace rekindle::coordinator
