// Declares what a generation needs of its trainer. All of it outlives the generation.
#ifndef REKINDLE_WORKER_TRAIN_ENGINE_GENERATION_PARTS_H_
#define REKINDLE_WORKER_TRAIN_ENGINE_GENERATION_PARTS_H_

#include <algorithm>
#include <functional>

#include "common/time/clock.h"
#include "worker/contract/model_interface.h"
#include "worker/contract/spec.h"
#include "worker/device/contract/device.h"
#include "worker/train/control/control_plane.h"
#include "worker/train/control/reporter.h"
#include "worker/train/engine/teller.h"
#include "worker/train/save/saver.h"
#include "worker/train/state/placement.h"
#include "worker/train/state/train_state.h"
#include "worker/train/step/judgement.h"
#include "worker/train/step/step.h"
#include "worker/train/step/step_times.h"
#include "worker/train/step/stragglers.h"

namespace rekindle::train {

// Holds what this rank has measured of its own speed. The next generation continues with these measurements.
struct RankSpeed {
  StepTimes times;
  Straggling straggling;
  // `micro_batch_seconds` is the time of one micro-batch on this rank, from the newest generation that has measured it.
  double micro_batch_seconds = 0;

  // Returns the seconds that a step may take without progress.
  double StepDeadline() const {
    constexpr double kLeastSeconds = 2;
    constexpr double kStepsOfSilence = 5;
    return std::max(kLeastSeconds, kStepsOfSilence * times.step_seconds_p99());
  }
};

// Names the parts of a trainer that its generations use. All of them outlive each generation.
struct GenerationParts {
  device::Device& device;
  const TrainSpec& spec;
  const ParameterLayout& layout;
  ControlPlane& control;
  Reporter& reporter;
  Teller& teller;
  Saver& saver;
  Placement& placement;
  StepRunner& steps;
  const StepJudge& judge;
  TrainState& state;
  RankSpeed& speed;
  // `clock` returns seconds. No trained number depends on it.
  common::TimeSource clock;
  // `stopping` says whether this trainer was told to stop.
  std::function<bool()> stopping;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ENGINE_GENERATION_PARTS_H_
