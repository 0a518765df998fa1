// The coordinator's records are copied, and that copy is brought back when they have long been others.
#include "coordinator/core/simulation/world.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kListenSeconds = 10;  // More than any process is frozen.

}  // namespace

void World::PlanCopies() {
  for (int i = 0; i < options_.copies; ++i) {
    const double taken_at = chance_.Uniform(1, options_.chaos_seconds / 2);
    queue_.At(taken_at, [this] {
      Note("the records are copied");
      copied_records_ = records_;
      copied_node_records_ = node_records_;
    });
    queue_.At(chance_.Uniform(taken_at, options_.chaos_seconds), [this] { BringBackCopy(); });
  }
}

void World::BringBackCopy() {
  if (copied_records_.empty()) return;
  Note("the copy is brought back");
  tally_.Count(Fault::kCopyBroughtBack);
  records_ = copied_records_;
  node_records_ = copied_node_records_;
  ++epoch_;
  listens_first_ = true;
  Crash(chance_.Uniform(0.05, 3));
}

void World::Listen() {
  queue_.At(queue_.now() + kListenSeconds, [this, life = coordinator_life_] {
    if (coordinator_up_ && life == coordinator_life_) Feed(ListenedFirst{{epoch_, 0}});
  });
}

}  // namespace rekindle::core::simulation
