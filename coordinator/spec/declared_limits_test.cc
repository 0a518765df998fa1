// Tests that a value just beyond a declared limit is refused by both of its readers: the coordinator at submit, and the
// trainer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "common/spec/message_fields.h"
#include "coordinator/testing/job_spec_testing.h"
#include "worker/data/declared/data_kind.h"
#include "worker/data/declared/limits.h"
#include "worker/models/declared/model_kind.h"
#include "worker/models/declared/model_spec_proto.h"

namespace rekindle::coordinator {
namespace {

using testing::HasSubstr;

// Returns the spec of a job with a model of the kind, and with data that the model can read.
v1::JobSpec OfKind(const models::ModelKind& kind) {
  v1::JobSpec spec;
  spec.mutable_training()->set_steps(100);
  spec.mutable_model()->set_kind(kind.name);
  v1::JobSpec::Data& data = *spec.mutable_data();
  switch (kind.reads) {
    case train::SampleForm::kBytes:
      data.add_text("/a");
      break;
    case train::SampleForm::kTokenIds:
      data.add_tokens("/a");
      break;
    case train::SampleForm::kRows:
      data.mutable_table()->add_files("/a");
      data.mutable_table()->add_features("height");
      data.mutable_table()->set_target("kind");
      break;
    case train::SampleForm::kImages:
      data.mutable_images()->add_files("/a");
      break;
    case train::SampleForm::kOwn:
      spec.mutable_model()->set_python("train:task");
      spec.mutable_model()->set_folder("/a");
      break;
  }
  return FillSpec(spec, kDefaults);
}

TEST(DeclaredLimits, DefaultsPassBothReaders) {
  for (const models::ModelKind* kind : models::ModelKinds()) {
    const v1::JobSpec spec = OfKind(*kind);
    EXPECT_EQ(Message(spec), "OK") << kind->name;
    // The layout of the user's own model is known only while it runs.
    if (kind->layout == nullptr) continue;
    EXPECT_TRUE(models::LayoutOf(models::ModelSpecOf(spec)).ok()) << kind->name;
  }
}

TEST(DeclaredLimits, OnePastIsRefusedByBothReadersOfAModel) {
  for (const models::ModelKind* kind : models::ModelKinds()) {
    for (const train::Parameter& parameter : kind->parameters) {
      const bool open = parameter.ends == train::Parameter::Ends::kHighOut;
      for (double value : {parameter.low - 1, parameter.high + (open ? 0 : 1)}) {
        v1::JobSpec spec = OfKind(*kind);
        common::SetNumber(parameter.field, value, spec.mutable_model());
        // The value 0 cannot be refused, because it means that the field is left out.
        if (value == 0) continue;
        EXPECT_THAT(Message(spec), HasSubstr(std::string("spec.model.") + parameter.field + ": ")) << kind->name;
        EXPECT_THAT(std::string(models::LayoutOf(models::ModelSpecOf(spec)).status().message()),
                    HasSubstr(std::string("model.") + parameter.field + " is "))
            << kind->name;
      }
    }
  }
}

// Tests that the coordinator refuses a table with more than kMostFeatures features. open_data_test.cc of
// worker/data/opening tests that the trainer does.
TEST(DeclaredLimits, ATableWithOneFeatureTooManyIsRefused) {
  v1::JobSpec spec = OfKind(*models::FindModel("mlp"));
  auto& features = *spec.mutable_data()->mutable_table()->mutable_features();
  for (int i = features.size(); i < data::kMostFeatures; ++i) *features.Add() = std::to_string(i);
  EXPECT_EQ(Message(spec), "OK");
  *features.Add() = "one more";
  EXPECT_THAT(Message(spec), HasSubstr("spec.data.table.features: has 4097 columns, at most 4096 are supported"));
}

}  // namespace
}  // namespace rekindle::coordinator
