#include "coordinator/spec/job_spec.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <tuple>

#include "coordinator/testing/job_spec_testing.h"

namespace rekindle::coordinator {
namespace {

using testing::HasSubstr;

TEST(JobSpec, GoalsAreNotTakenInSilence) {
  v1::JobSpec spec = Small();
  spec.mutable_estimate()->set_step_seconds(2);
  EXPECT_EQ(Message(spec), "OK");
  spec.mutable_goals()->set_budget(10);
  EXPECT_EQ(Message(spec), "OK");
  spec.mutable_goals()->set_deadline_hours(-1);
  EXPECT_THAT(Message(spec), HasSubstr("spec.goals.deadline_hours: -1 is out of range"));
  spec.mutable_goals()->clear_deadline_hours();
  spec.mutable_goals()->set_budget(-1);
  EXPECT_THAT(Message(spec), HasSubstr("spec.goals.budget: -1 is out of range"));
}

TEST(JobSpec, TeamsHaveNames) {
  v1::JobSpec spec = Small();
  spec.set_team("vision-2");
  EXPECT_EQ(Message(spec), "OK");
  spec.set_team("Vision");
  EXPECT_THAT(Message(spec), HasSubstr("spec.team: 'Vision' must be 1 to 63 of a-z"));
}

TEST(JobSpec, DefaultsAreFilledIn) {
  const auto resolved = ResolveSpec(Small(), kDefaults);
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  v1::JobSpec expected;
  ASSERT_TRUE(
      google::protobuf::util::JsonStringToMessage(
          R"({"seed":1,"workers":{"min":1,"max":4,"threads_per_rank":1},)"
          R"("model":{"kind":"gpt","layers":4,"heads":4,"width":128,"context":128,"dropout":0},)"
          R"("data":{"text":["/text/*.txt"],"validation_fraction":0.05,"max_bytes":0},)"
          R"("training":{"steps":100,"global_batch":16,"micro_batch":4,"precision":"fp32","reduce":"exact",)"
          R"("clip_norm":1,"evaluate_every":0,"evaluate_micro_batches":8,"on_divergence":"warn",)"
          R"("activations":"keep","optimizer_state":"whole"},)"
          R"("optimizer":{"kind":"adamw","learning_rate":0.001,"beta1":0.9,"beta2":0.95,"epsilon":1e-08,)"
          R"("weight_decay":0.1},)"
          R"("schedule":{"kind":"cosine","warmup_steps":10,"final_ratio":0.1},)"
          R"("checkpoint":{"store":"file:///data/checkpoints","every_steps":50,"keep_last":2,"precision":"exact"}})",
          &expected)
          .ok());
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(*resolved, expected)) << resolved->DebugString();
}

TEST(JobSpec, EveryOptimizerHasItsOwnDefaults) {
  v1::JobSpec spec = Small();
  for (const auto& [kind, expected] : std::vector<std::pair<std::string, std::string>>{
           {"sgd", R"({"kind":"sgd","learning_rate":0.1,"weight_decay":0.0001,"momentum":0.9})"},
           {"lion", R"({"kind":"lion","learning_rate":0.0001,"beta1":0.9,"beta2":0.99,"weight_decay":1})"},
       }) {
    spec.mutable_optimizer()->set_kind(kind);
    const auto resolved = ResolveSpec(spec, kDefaults);
    ASSERT_TRUE(resolved.ok()) << resolved.status();
    v1::JobSpec::Optimizer optimizer;
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(expected, &optimizer).ok());
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(resolved->optimizer(), optimizer))
        << resolved->DebugString();
  }
}

TEST(JobSpec, EveryScheduleHasItsOwnDefaults) {
  v1::JobSpec spec = Small();
  spec.mutable_training()->set_evaluate_every(10);
  for (const auto& [kind, expected] : std::vector<std::pair<std::string, std::string>>{
           {"constant", R"({"kind":"constant","warmup_steps":10})"},
           {"linear", R"({"kind":"linear","warmup_steps":10,"final_ratio":0.1})"},
           {"cosine_restarts",
            R"({"kind":"cosine_restarts","warmup_steps":10,"final_ratio":0.1,"cycle_steps":25,"cycle_growth":1})"},
           {"warmup_stable_decay",
            R"({"kind":"warmup_stable_decay","warmup_steps":10,"final_ratio":0.1,"decay_steps":20})"},
           {"plateau",
            R"({"kind":"plateau","warmup_steps":10,"final_ratio":0,"factor":0.5,"patience":1,"min_delta":0.0001})"},
       }) {
    spec.mutable_schedule()->set_kind(kind);
    const auto resolved = ResolveSpec(spec, kDefaults);
    ASSERT_TRUE(resolved.ok()) << resolved.status();
    v1::JobSpec::Schedule schedule;
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(expected, &schedule).ok());
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(resolved->schedule(), schedule))
        << resolved->DebugString();
    const auto again = ResolveSpec(*resolved, kDefaults);
    ASSERT_TRUE(again.ok()) << again.status();
  }
}

v1::JobSpec OfKind(const std::string& kind) {
  v1::JobSpec spec = Small();
  spec.mutable_model()->set_kind(kind);
  if (kind == "gpt") return spec;
  v1::JobSpec::Data& data = *spec.mutable_data();
  data.clear_text();
  if (kind.starts_with("gpt2")) data.add_tokens("/train.bin");
  if (kind.starts_with("resnet")) data.mutable_images()->add_files("/cifar/*.bin");
  if (kind != "mlp") return spec;
  data.mutable_table()->add_files("/rows.parquet");
  data.mutable_table()->add_features("height");
  data.mutable_table()->add_features("width");
  data.mutable_table()->set_target("kind");
  return spec;
}

TEST(JobSpec, EveryKindOfModelHasDefaultsAndResolvesToItself) {
  for (const char* kind : {"gpt", "gpt2", "gpt2-xl", "mlp", "resnet18", "resnet50"}) {
    const auto once = ResolveSpec(OfKind(kind), kDefaults);
    ASSERT_TRUE(once.ok()) << kind << ": " << once.status();
    const auto again = ResolveSpec(*once, kDefaults);
    ASSERT_TRUE(again.ok()) << kind << ": " << again.status();
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(*once, *again)) << kind;
  }
  const auto xl = ResolveSpec(OfKind("gpt2-xl"), kDefaults);
  EXPECT_EQ(xl->model().kind(), "gpt2");
  EXPECT_EQ(xl->model().layers(), 48);
  EXPECT_EQ(xl->model().vocabulary(), 50257);
  EXPECT_TRUE(ResolveSpec(OfKind("resnet18"), kDefaults)->data().images().augment());
}

TEST(JobSpec, DataAndFieldsThatTheKindCannotUseAreRefused) {
  const std::vector<std::tuple<std::string, std::function<void(v1::JobSpec&)>, std::string>> cases = {
      {"mlp", [](auto& s) { s.mutable_data()->add_text("/a"); }, "spec.data.text: is nothing that model.kind mlp can"},
      {"gpt", [](auto& s) { s.mutable_data()->mutable_images(); }, "spec.data.images: is nothing that model.kind gpt"},
      {"mlp", [](auto& s) { s.mutable_data()->clear_table(); }, "spec.data.table.files: is missing"},
      {"mlp", [](auto& s) { s.mutable_data()->mutable_table()->clear_features(); }, "table.features: is missing"},
      {"mlp", [](auto& s) { s.mutable_data()->mutable_table()->clear_target(); }, "table.target: is missing"},
      {"mlp", [](auto& s) { s.mutable_data()->mutable_table()->set_target("width"); }, "names column 'width' twice"},
      {"mlp", [](auto& s) { s.mutable_data()->set_max_bytes(5); }, "spec.data.max_bytes: is for text and tokens"},
      {"mlp", [](auto& s) { s.mutable_model()->set_heads(2); }, "spec.model.heads: means nothing to model.kind mlp"},
      {"mlp", [](auto& s) { s.mutable_model()->set_classes(-1); }, "spec.model.classes: -1 is out of range"},
      {"resnet18", [](auto& s) { s.mutable_data()->clear_images(); }, "spec.data.images.files: is missing"},
      {"resnet18", [](auto& s) { s.mutable_model()->set_dropout(0.1); }, "spec.model.dropout: means nothing"},
      {"resnet50", [](auto& s) { s.mutable_model()->set_classes(300); }, "spec.model.classes: 300 is out of range"},
      {"resnet50",
       [](auto& s) {
         s.mutable_training()->set_micro_batch(1 << 16);
         s.mutable_training()->set_global_batch(1 << 16);
       },
       "spec.training.micro_batch: times the values of a sample"},
      {"gpt2", [](auto& s) { s.mutable_model()->set_vocabulary(1 << 17); }, "spec.model.vocabulary: 131072 is out of"},
      {"gpt", [](auto& s) { s.mutable_model()->set_vocabulary(100); }, "spec.model.vocabulary: means nothing"},
      {"mlp", [](auto& s) { s.mutable_training()->set_activations("recompute"); },
       "spec.training.activations: 'recompute' means nothing to model.kind mlp"},
      {"gpt2", [](auto& s) { s.mutable_training()->set_activations("recompute"); }, "OK"},
  };
  for (const auto& [kind, change, message] : cases) {
    v1::JobSpec spec = OfKind(kind);
    change(spec);
    EXPECT_THAT(Message(spec), HasSubstr(message)) << kind;
  }
}

TEST(JobSpec, AResolvedSpecResolvesToItself) {
  const auto once = ResolveSpec(Small(), kDefaults);
  ASSERT_TRUE(once.ok());
  const auto twice = ResolveSpec(*once, {.store = "file:///elsewhere"});
  ASSERT_TRUE(twice.ok());
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(*once, *twice));
}

TEST(JobSpec, ZeroIsAWishWhereItHasAMeaning) {
  v1::JobSpec spec = Small();
  spec.set_seed(0);
  spec.mutable_data()->set_validation_fraction(0);
  spec.mutable_training()->set_clip_norm(0);
  spec.mutable_optimizer()->set_weight_decay(0);
  spec.mutable_schedule()->set_warmup_steps(0);
  spec.mutable_checkpoint()->set_every_steps(0);
  const auto resolved = ResolveSpec(spec, kDefaults);
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->seed(), 0);
  EXPECT_EQ(resolved->data().validation_fraction(), 0);
  EXPECT_EQ(resolved->training().clip_norm(), 0);
  EXPECT_EQ(resolved->optimizer().weight_decay(), 0);
  EXPECT_EQ(resolved->schedule().warmup_steps(), 0);
  EXPECT_EQ(resolved->checkpoint().every_steps(), 0);
}

TEST(JobSpec, AJobSaysWhenToTakeCheckpointsInOneWay) {
  v1::JobSpec seconds = Small();
  seconds.mutable_checkpoint()->set_every_seconds(90);
  v1::JobSpec automatic = Small();
  automatic.mutable_checkpoint()->set_interval("auto");
  automatic.mutable_checkpoint()->set_interruptions_per_hour(0);
  for (const v1::JobSpec& spec : {seconds, automatic}) {
    const auto resolved = ResolveSpec(spec, kDefaults);
    ASSERT_TRUE(resolved.ok()) << resolved.status();
    EXPECT_FALSE(resolved->checkpoint().has_every_steps());
    EXPECT_TRUE(TakesCheckpoints(resolved->checkpoint()));
    const auto again = ResolveSpec(*resolved, kDefaults);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(*resolved, *again));
  }
  v1::JobSpec never = Small();
  never.mutable_checkpoint()->set_every_steps(0);
  EXPECT_FALSE(TakesCheckpoints(ResolveSpec(never, kDefaults)->checkpoint()));
}

TEST(JobSpec, BatchSizesFitEachOther) {
  v1::JobSpec spec = Small();
  spec.mutable_training()->set_global_batch(6);
  EXPECT_EQ(ResolveSpec(spec, kDefaults)->training().micro_batch(), 3);
  spec = Small();
  spec.mutable_training()->set_micro_batch(5);
  EXPECT_EQ(ResolveSpec(spec, kDefaults)->training().global_batch(), 20);
}

TEST(JobSpec, WorkersGoUpToTheMostRanksThatCanBe) {
  v1::JobSpec spec = Small();
  // A step of 400 sequences has 100 micro-batches.
  spec.mutable_training()->set_global_batch(400);
  EXPECT_EQ(ResolveSpec(spec, kDefaults)->workers().max(), 64);
  spec.mutable_workers()->set_min(64);
  spec.mutable_workers()->set_max(64);
  EXPECT_EQ(Message(spec), "OK");
  // A micro-batch of 0 means that the job's first worker has yet to find its size.
  spec.mutable_training()->set_micro_batch(0);
  EXPECT_EQ(Message(spec), "OK");
  spec.mutable_workers()->set_max(65);
  EXPECT_THAT(Message(spec), HasSubstr("spec.workers.max: 65 is out of range: use 0 to 64"));
}

TEST(JobSpec, AMicroBatchToBeFoundStaysOpenAndNoLimitOfWorkersIsGuessed) {
  v1::JobSpec spec = Small();
  spec.mutable_training()->set_micro_batch(0);
  const auto resolved = ResolveSpec(spec, kDefaults);
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_TRUE(resolved->training().has_micro_batch());
  EXPECT_EQ(resolved->training().micro_batch(), 0);
  EXPECT_EQ(resolved->training().global_batch(), 16);
  EXPECT_EQ(resolved->workers().max(), 0);
  EXPECT_EQ(MicroBatches(*resolved), 0);
  const auto again = ResolveSpec(*resolved, kDefaults);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(*resolved, *again));
  spec.mutable_workers()->set_min(17);
  EXPECT_THAT(Message(spec), HasSubstr("17 workers for 16 micro-batches (global_batch 16, of one sample each)"));
  spec = Small();
  spec.mutable_training()->set_micro_batch(0);
  spec.mutable_training()->set_global_batch(1 << 17);
  EXPECT_THAT(Message(spec), HasSubstr("spec.training.micro_batch: auto begins with one sample"));
}

TEST(JobSpec, AnArchiveHasADefaultAge) {
  v1::JobSpec spec = Small();
  spec.mutable_checkpoint()->set_archive_store("s3://cold");
  EXPECT_EQ(ResolveSpec(spec, kDefaults)->checkpoint().archive_after(), "90d");
}

TEST(JobSpec, Names) {
  for (const char* good : {"a", "my-job-1", "0"}) EXPECT_TRUE(CheckJobName(good).ok()) << good;
  for (const std::string& bad : {std::string(), std::string("A"), std::string("a_b"), std::string("-a"),
                                 std::string("a-"), std::string("a/b"), std::string(64, 'a'), std::string(32, 'f')}) {
    EXPECT_EQ(CheckJobName(bad).code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(JobSpec, DefaultsOfTheClusterAreCheckedToo) {
  EXPECT_TRUE(CheckDefaults(kDefaults).ok());
  EXPECT_THAT(std::string(CheckDefaults({.precision = "fp8", .store = "file:///x"}).message()),
              HasSubstr("REKINDLE_DEFAULT_PRECISION: 'fp8'"));
  EXPECT_THAT(std::string(CheckDefaults({.precision_policy = "force", .store = "file:///x"}).message()),
              HasSubstr("REKINDLE_PRECISION_POLICY: 'force'"));
  EXPECT_THAT(std::string(CheckDefaults({.store = "/x"}).message()), HasSubstr("default checkpoint store"));
}

TEST(JobSpec, AClusterMayEnforceItsPrecision) {
  const Defaults enforced{.precision = "bf16", .precision_policy = "enforce", .store = "file:///x"};
  v1::JobSpec spec = Small();
  const auto resolved = ResolveSpec(spec, enforced);
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->training().precision(), "bf16");
  EXPECT_TRUE(ResolveSpec(*resolved, enforced).ok());
  spec.mutable_training()->set_precision("fp32");
  EXPECT_THAT(std::string(ResolveSpec(spec, enforced).status().message()),
              HasSubstr("spec.training.precision: 'fp32' is not allowed: this cluster computes all jobs in 'bf16'"));
}

}  // namespace
}  // namespace rekindle::coordinator
