// Holds what levers remember from step to step, as finite numbers by name (such as "loss_spike.first"). An absent name
// means that the value was never set. The state is part of the training state, so joiners and checkpoints get it too.
// It changes only when a step is applied, and only by figures that are reduced exactly, so every rank has the same
// state.
#ifndef REKINDLE_WORKER_TRAIN_LEVERS_LEVER_STATE_H_
#define REKINDLE_WORKER_TRAIN_LEVERS_LEVER_STATE_H_

#include <map>
#include <string>

namespace rekindle::train {

using LeverState = std::map<std::string, double>;

inline constexpr int kMaxLeverValues = 64;
inline constexpr int kMaxLeverName = 64;

inline double LeverValue(const LeverState& state, const std::string& name, double otherwise) {
  const auto found = state.find(name);
  return found == state.end() ? otherwise : found->second;
}

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_LEVERS_LEVER_STATE_H_
