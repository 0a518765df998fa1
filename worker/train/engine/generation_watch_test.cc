#include "worker/train/engine/generation_watch.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>

namespace rekindle::train {
namespace {

Directive Says(Directive::Action action, int generation) {
  Directive directive{.action = action};
  directive.membership.generation = generation;
  directive.reason = "why";
  return directive;
}

TEST(CheckGoesOn, OnlyANewerGenerationOrAWaitEndsIt) {
  using enum Directive::Action;
  for (const Directive::Action action : {kNone, kRun, kYield, kExit}) {
    EXPECT_TRUE(CheckGoesOn(Says(action, 0), 7).ok());
    EXPECT_TRUE(CheckGoesOn(Says(action, 6), 7).ok());
    EXPECT_TRUE(CheckGoesOn(Says(action, 7), 7).ok());
    EXPECT_TRUE(absl::IsAborted(CheckGoesOn(Says(action, 8), 7)));
  }
  EXPECT_EQ(CheckGoesOn(Says(kWait, 7), 7).message(), "the coordinator says to wait: why");
  EXPECT_EQ(CheckGoesOn(Says(kRun, 9), 7).message(), "the coordinator has announced generation 9");
}

TEST(GenerationWatch, EndsItOnceFromAnotherThread) {
  DirectiveBox told;
  told.Put(Says(Directive::Action::kRun, 3));
  GenerationWatch watch(told);
  std::promise<std::string> why;
  watch.Enter(3, [&](const absl::Status& status) { why.set_value(std::string(status.message())); });
  told.Put(Says(Directive::Action::kYield, 3));
  told.Put(Says(Directive::Action::kWait, 3));
  EXPECT_EQ(why.get_future().get(), "the coordinator says to wait: why");
  // The watch must not call `end` a second time. The call would throw, because the promise already has its value.
  told.Put(Says(Directive::Action::kRun, 4));
  watch.Leave();
}

TEST(GenerationWatch, EndsAtOnceWhatWasOverBefore) {
  DirectiveBox told;
  told.Put(Says(Directive::Action::kRun, 4));
  GenerationWatch watch(told);
  bool ended = false;
  watch.Enter(3, [&](const absl::Status&) { ended = true; });
  EXPECT_TRUE(ended);
}

TEST(GenerationWatch, NothingIsCalledAfterLeave) {
  DirectiveBox told;
  GenerationWatch watch(told);
  for (int generation = 1; generation < 200; ++generation) {
    // `called` is on the heap, so that a sanitizer notices a call of `end` after Leave(): it writes to freed memory.
    auto called = std::make_unique<int>(0);
    watch.Enter(generation, [&](const absl::Status&) { ++*called; });
    told.Put(Says(Directive::Action::kRun, generation + 1));
    watch.Leave();
    EXPECT_LE(*called, 1);
  }
}

}  // namespace
}  // namespace rekindle::train
