#include "worker/train/generation_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <string>
#include <utility>

namespace rekindle::train {
namespace {

class Told final : public ControlPlane {
 public:
  void Tell(Directive directive) {
    std::lock_guard lock(mutex_);
    directive_ = std::move(directive);
    ++version_;
    changed_.notify_all();
  }
  void Publish(const Report&, bool) override {}
  void AddLoss(const StepLoss&) override {}
  Directive Latest() const override {
    std::lock_guard lock(mutex_);
    return directive_;
  }
  int64_t Version() const override {
    std::lock_guard lock(mutex_);
    return version_;
  }
  void WaitForChange(int64_t seen, double seconds) const override {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return version_ != seen; });
  }
  const Lease& lease() const override { return lease_; }
  checkpoint::JobFile JobFileNow() override { return {}; }
  std::string JobFileOfEnd(double) override { return ""; }

 private:
  Lease lease_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Directive directive_;
  int64_t version_ = 0;
};

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
  Told told;
  told.Tell(Says(Directive::Action::kRun, 3));
  GenerationWatch watch(told);
  std::promise<std::string> why;
  watch.Enter(3, [&](const absl::Status& status) { why.set_value(std::string(status.message())); });
  told.Tell(Says(Directive::Action::kYield, 3));
  told.Tell(Says(Directive::Action::kWait, 3));
  EXPECT_EQ(why.get_future().get(), "the coordinator says to wait: why");
  told.Tell(Says(Directive::Action::kRun, 4));  // A second call would throw: the promise has its value.
  watch.Leave();
}

TEST(GenerationWatch, EndsAtOnceWhatWasOverBefore) {
  Told told;
  told.Tell(Says(Directive::Action::kRun, 4));
  GenerationWatch watch(told);
  bool ended = false;
  watch.Enter(3, [&](const absl::Status&) { ended = true; });
  EXPECT_TRUE(ended);
}

TEST(GenerationWatch, NothingIsCalledAfterLeave) {
  Told told;
  GenerationWatch watch(told);
  for (int generation = 1; generation < 200; ++generation) {
    auto called = std::make_unique<int>(0);  // A call after Leave() would write to freed memory.
    watch.Enter(generation, [&](const absl::Status&) { ++*called; });
    told.Tell(Says(Directive::Action::kRun, generation + 1));
    watch.Leave();
    EXPECT_LE(*called, 1);
  }
}

}  // namespace
}  // namespace rekindle::train
