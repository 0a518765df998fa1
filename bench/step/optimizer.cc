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
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/time/clock.h"
#include "worker/device/host/host_device.h"
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

// Writes made-up values to the gradient.
absl::Status Fill(device::Device& host, const GradientBuffer& gradient) {
  return RunAndAwait(host, device::Queue::kCompute,
                     {.name = "fill", .reads = {}, .writes = {gradient.all()}, .run = [&](const device::Addresses& at) {
                        const int64_t elements = gradient.all().bytes / gradient.element_bytes();
                        for (int64_t i = 0; i < elements; ++i) {
                          at.Write<float>(0)[i] = static_cast<float>(i % 1999) * 1e-3f - 1;
                        }
                        return absl::OkStatus();
                      }});
}

int Failed(const absl::Status& status) {
  std::cerr << status << "\n";
  return 1;
}

int Run(const ParameterLayout& layout, const OptimizerSpec& spec) {
  const std::unique_ptr<device::Device> host = device::MakeHostDevice();
  absl::StatusOr<TrainState> state = TrainState::Zero(*host, layout);
  GradientBuffer gradient(/*exact=*/false);
  SquaresGatherer squares(*host, layout);
  absl::Status status = state.status();
  status.Update(gradient.Allocate(*host, layout.total, "the gradient"));
  status.Update(squares.Allocate());
  if (status.ok()) status = Fill(*host, gradient);
  const std::vector<GradientBucket> buckets = CutIntoBuckets(layout, kBucketElements);
  const std::vector<uint8_t> has_gradient(layout.parameters.size(), 1);
  for (std::string line; status.ok() && std::getline(std::cin, line);) {
    const double start = common::SteadySeconds();
    for (const GradientBucket& bucket : buckets) squares.Add(gradient, {}, bucket);
    const absl::StatusOr<double> total = squares.Total();
    const double gathered = common::SteadySeconds();
    if (!total.ok()) return Failed(total.status());
    const PlannedUpdate update =
        PlanUpdate(gradient, *total, 1024, spec, spec.learning_rate, 1.0, state->scalars, has_gradient);
    status = RunAndAwait(*host, device::Queue::kCompute, UpdateOf(layout, update, {0, layout.total}, *state));
    const double done = common::SteadySeconds();
    ++state->scalars.step;
    std::cout << nlohmann::json{{"norm", gathered - start}, {"update", done - gathered}}.dump() << std::endl;
  }
  return status.ok() ? 0 : Failed(status);
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
