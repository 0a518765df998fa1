// What levers remember from step to step: finite numbers by name ("plateau.best"); absent is as never set. Part of the
// training state: it travels to joiners and lies in checkpoints, and is changed only when a step is applied, from
// figures that are reduced exactly. So every rank has the same, whatever happened to it.
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
