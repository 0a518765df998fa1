// Defines the blocks that the ResNets are made of (He et al., 2016).
#ifndef REKINDLE_WORKER_MODELS_DECLARED_RESNET_H_
#define REKINDLE_WORKER_MODELS_DECLARED_RESNET_H_

#include <array>

namespace rekindle::models {

inline constexpr int kResnetStages = 4;
struct ResnetShape {
  // Bottleneck blocks have 1 x 1, 3 x 3 and 1 x 1 convolutions, and the last one is four times as wide.
  bool bottleneck = false;
  std::array<int, kResnetStages> blocks;
};
inline constexpr ResnetShape kResnet18Shape{.bottleneck = false, .blocks = {2, 2, 2, 2}};
inline constexpr ResnetShape kResnet50Shape{.bottleneck = true, .blocks = {3, 4, 6, 3}};

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_DECLARED_RESNET_H_
