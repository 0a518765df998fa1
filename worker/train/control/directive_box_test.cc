#include "worker/train/control/directive_box.h"

#include <gtest/gtest.h>

#include <thread>

namespace rekindle::train {
namespace {

// A thread that waits as long as `kForEver` seconds has missed the directive that should have woken it.
constexpr double kForEver = 600;

TEST(DirectiveBoxTest, AReaderIsWokenByANewerDirective) {
  DirectiveBox box;
  EXPECT_EQ(box.Latest().action, Directive::Action::kNone);
  const int64_t seen = box.Version();
  std::thread writer([&] { box.Put({.action = Directive::Action::kYield}); });
  box.WaitForChange(seen, kForEver);
  EXPECT_EQ(box.Latest().action, Directive::Action::kYield);
  EXPECT_GT(box.Version(), seen);
  writer.join();
}

TEST(DirectiveBoxTest, NewsThatCameBeforeTheWaitEndsItAtOnce) {
  DirectiveBox box;
  const int64_t seen = box.Version();
  box.Put({.action = Directive::Action::kRun});
  box.WaitForChange(seen, kForEver);
}

TEST(DirectiveBoxTest, AClosedBoxMakesNobodyWaitAndKeepsItsDirective) {
  DirectiveBox box;
  box.Put({.action = Directive::Action::kRun});
  std::thread closer([&] { box.Close(); });
  box.WaitForChange(box.Version(), kForEver);
  closer.join();
  box.WaitForChange(box.Version(), kForEver);
  EXPECT_EQ(box.Latest().action, Directive::Action::kRun);
}

}  // namespace
}  // namespace rekindle::train
