// Times a checkpoint's planes on one thread and compares them with memcpy. A state of weights and two moments is split,
// hashed and written shard by shard, as a trainer stages it. Then it is merged again, as a restore does.
//
//   rekindle-bench-planes [--elements N] [--rounds R] [--precision exact,fp16,bf16]
//
// It prints one line of JSON for each precision. The rates are the GB/s of FP32 state (12 bytes an element) that the
// split reads and the merge writes. `ratio` is the time of two memcpy of the state, there and back, divided by that of
// its split and merge. Each number is the median over the rounds, and each round does memcpy, split and merge in turn.
// Pin the process to one core if other processes run.
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "bench/checkpoint/training_state.h"
#include "checkpoint/format/planes.h"

namespace rekindle {
namespace {

using checkpoint::Precision;
using nlohmann::json;

constexpr int kMaxRounds = 1000;

// Allocates memory that begins at a cache line, as a tensor's memory does.
template <typename T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  LineAllocator() = default;
  template <typename U>
  explicit LineAllocator(const LineAllocator<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* memory, size_t) { ::operator delete(memory, kLine); }
  bool operator==(const LineAllocator&) const = default;
};
template <typename T>
using Aligned = std::vector<T, LineAllocator<T>>;

struct Arrays {
  explicit Arrays(int64_t n) {
    for (auto* tensor : {&weights, &first_moment, &second_moment}) tensor->resize(static_cast<size_t>(n));
  }
  int64_t size() const { return static_cast<int64_t>(weights.size()); }
  checkpoint::StateView view() const { return {weights.data(), first_moment.data(), second_moment.data(), size()}; }
  checkpoint::MutableState writable() { return {weights.data(), first_moment.data(), second_moment.data(), size()}; }

  Aligned<float> weights, first_moment, second_moment;
};

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "error: %s\n", why.c_str());
  std::exit(1);
}

double CpuSeconds() {
  timespec now;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double Seconds(const std::function<void()>& work) {
  const double start = CpuSeconds();
  work();
  return CpuSeconds() - start;
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

void Copy(const Arrays& from, Arrays& to) {
  const size_t bytes = from.weights.size() * sizeof(float);
  std::memcpy(to.weights.data(), from.weights.data(), bytes);
  std::memcpy(to.first_moment.data(), from.first_moment.data(), bytes);
  std::memcpy(to.second_moment.data(), from.second_moment.data(), bytes);
}

bool SameBits(const Arrays& a, const Arrays& b) {
  const size_t bytes = a.weights.size() * sizeof(float);
  return std::memcmp(a.weights.data(), b.weights.data(), bytes) == 0 &&
         std::memcmp(a.first_moment.data(), b.first_moment.data(), bytes) == 0 &&
         std::memcmp(a.second_moment.data(), b.second_moment.data(), bytes) == 0;
}

struct Shard {
  checkpoint::ShardRange range;
  Aligned<uint8_t> plane0, plane1;
  checkpoint::WrittenPlanes written;
};

std::span<const uint8_t> Written(const Aligned<uint8_t>& memory, const checkpoint::WrittenPlane& plane) {
  return std::span(memory).first(static_cast<size_t>(plane.bytes));
}

json Measure(Precision precision, const Arrays& state, Arrays& target, int rounds) {
  std::vector<Shard> shards;
  for (const auto& range : checkpoint::CutShards(state.size(), 1)) {
    const int64_t exceptions = std::min<int64_t>(range.end - range.begin, 64);
    const auto size = checkpoint::SizeOfPlanes(state.size(), range, precision, exceptions);
    shards.push_back({range, Aligned<uint8_t>(static_cast<size_t>(size.plane0)),
                      Aligned<uint8_t>(static_cast<size_t>(size.plane1))});
  }
  const auto split = [&] {
    for (Shard& shard : shards) {
      auto written = checkpoint::WritePlanes(state.view(), shard.range, precision, shard.plane0, shard.plane1);
      if (!written.ok()) Die(written.status().ToString());
      shard.written = *std::move(written);
    }
  };
  const auto merge = [&] {
    for (const Shard& shard : shards) {
      const auto read = checkpoint::ReadPlanes(Written(shard.plane0, shard.written.plane0),
                                               Written(shard.plane1, shard.written.plane1), target.writable());
      if (!read.ok()) Die(read.status().ToString());
    }
  };
  std::vector<double> copies, splits, merges, ratios;
  for (int round = 0; round < rounds + 1; ++round) {
    const double copy = Seconds([&] { Copy(state, target); });
    const double there = Seconds(split), back = Seconds(merge);
    // The first round of the measurement only warms up, so its times do not count.
    if (round == 0) continue;
    copies.push_back(copy), splits.push_back(there), merges.push_back(back);
    ratios.push_back(2 * copy / (there + back));
  }
  if (precision == Precision::kExact && !SameBits(target, state)) {
    Die("the state that came back is another one");
  }
  int64_t plane0 = 0, plane1 = 0;
  for (const Shard& shard : shards) plane0 += shard.written.plane0.bytes, plane1 += shard.written.plane1.bytes;
  const double fp32 = 12.0 * static_cast<double>(state.size()), gb = fp32 / 1e9;
  return {{"precision", checkpoint::PrecisionName(precision)},
          {"elements", state.size()},
          {"memcpy_gb_s", gb / Median(copies)},
          {"split_gb_s", gb / Median(splits)},
          {"merge_gb_s", gb / Median(merges)},
          {"ratio", Median(ratios)},
          {"plane0_share", static_cast<double>(plane0) / fp32},
          {"plane1_share", static_cast<double>(plane1) / fp32}};
}

int Main(int argc, char** argv) {
  CLI::App app{"Times the split and merge of a checkpoint's planes beside memcpy."};
  int64_t elements = 64 << 20;
  int rounds = 9;
  app.add_option("--elements", elements, "of the state")->check(CLI::Range(int64_t{1}, int64_t{1} << 32));
  std::vector<std::string> precisions = {"exact", "fp16", "bf16"};
  app.add_option("--precision", precisions, "comma separated")->delimiter(',');
  app.add_option("--rounds", rounds)->check(CLI::Range(1, kMaxRounds));
  CLI11_PARSE(app, argc, argv);
  Arrays state(elements), target(elements);
  bench::FillAsTrained(state.weights, state.first_moment, state.second_moment);
  for (const std::string& name : precisions) {
    const auto precision = checkpoint::ParsePrecision(name);
    if (!precision.ok()) Die(precision.status().ToString());
    std::printf("%s\n", Measure(*precision, state, target, rounds).dump().c_str());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace rekindle

int main(int argc, char** argv) { return rekindle::Main(argc, argv); }
