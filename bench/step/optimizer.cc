// Makes one step of the optimizer on one thread for each line on standard input, and times it. First the norm of a
// gradient in memory is gathered bucket by bucket. Then clipping and the update are done in one pass.
//
//   rekindle-bench-optimizer --matrices N --rows R --columns C [--kind adamw]
//
// It prints one line of JSON for each input line: {"norm": seconds, "update": seconds}. Pin the process to one core if
// other processes run.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/time/clock.h"
#include "worker/train/arithmetic/gradient_norm.h"
#include "worker/train/state/optimizer.h"

namespace rekindle::train {
namespace {

// The trainer's gradient buckets have `kBucketElements` elements as well.
constexpr int64_t kBucketElements = 256 * 1024;

ParameterLayout MakeLayout(int matrices, int64_t rows, int64_t columns) {
  ParameterLayout layout;
  for (int i = 0; i < matrices; ++i) {
    layout.parameters.push_back({.name = "matrix" + std::to_string(i),
                                 .shape = {rows, columns},
                                 .offset = layout.total,
                                 .size = rows * columns,
                                 .decay = true});
    layout.total += rows * columns;
  }
  return layout;
}

int Run(const ParameterLayout& layout, const OptimizerSpec& spec) {
  TrainState state = TrainState::Zero(layout);
  std::vector<float> gradient(static_cast<size_t>(layout.total));
  for (size_t i = 0; i < gradient.size(); ++i) gradient[i] = static_cast<float>(i % 1999) * 1e-3f - 1;
  const std::vector<GradientBucket> buckets = CutIntoBuckets(layout, kBucketElements);
  SquaresGatherer squares(layout);
  for (std::string line; std::getline(std::cin, line);) {
    GradientView view{.fixed = nullptr, .values = gradient.data(), .squares = std::nullopt};
    const double start = common::SteadySeconds();
    for (const GradientBucket& bucket : buckets) squares.Add(view, {}, bucket);
    view.squares = squares.Total();
    const double gathered = common::SteadySeconds();
    Update(layout, view, 1024, spec, spec.learning_rate, 1.0, &state);
    const double done = common::SteadySeconds();
    ++state.scalars.step;
    std::cout << nlohmann::json{{"norm", gathered - start}, {"update", done - gathered}}.dump() << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace rekindle::train

int main(int argc, char** argv) {
  CLI::App app("Times the optimizer's step.");
  int matrices = 0;
  int64_t rows = 0, columns = 0;
  rekindle::train::OptimizerSpec spec;
  app.add_option("--matrices", matrices)->required()->check(CLI::Range(1, 1000));
  app.add_option("--rows", rows)->required()->check(CLI::Range(1, 1 << 16));
  app.add_option("--columns", columns)->required()->check(CLI::Range(1, 1 << 16));
  app.add_option("--kind", spec.kind)->check(CLI::IsMember({"adamw", "lion", "muon", "sgd"}));
  CLI11_PARSE(app, argc, argv);
  return rekindle::train::Run(rekindle::train::MakeLayout(matrices, rows, columns), spec);
}
