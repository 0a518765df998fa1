// Measures the speed of the CPU kernels on a gradient of the demo model's size on one thread. Bytes count every array
// that is read or written.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "kernels/optimizers/adamw.h"
#include "kernels/sums/accumulate.h"
#include "kernels/sums/fixed_point.h"
#include "kernels/sums/sum_of_squares.h"

namespace rekindle::kernels {
namespace {

struct Data {
  explicit Data(int64_t n) : gradient(n), weights(n, 0.02f), first(n), second(n), fixed(n) {
    for (int64_t i = 0; i < n; ++i) gradient[i] = static_cast<float>(i % 1999 - 999) * 1e-3f;
    AccumulateFixed(gradient.data(), n, 50, true, fixed.data());
  }
  std::vector<float> gradient, weights, first, second;
  std::vector<int64_t> fixed;
};

template <typename Body>
void Run(benchmark::State& state, int bytes_an_element, Body body) {
  const int64_t n = state.range(0);
  Data data(n);
  for (auto _ : state) {
    body(data, n);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * n * bytes_an_element);
}

const Adamw kAdamw = MakeAdamw(1e-3, 0.9, 0.95, 1e-8, 0.1, 10);

void Memcpy(benchmark::State& state) {
  Run(state, 8, [](Data& d, int64_t n) { std::memcpy(d.weights.data(), d.gradient.data(), n * sizeof(float)); });
}
void AccumulateExact(benchmark::State& state) {
  Run(state, 20, [](Data& d, int64_t n) { AccumulateFixed(d.gradient.data(), n, 20, false, d.fixed.data()); });
}
void AccumulateFloat32(benchmark::State& state) {
  Run(state, 12, [](Data& d, int64_t n) { AccumulateFloat(d.gradient.data(), n, 0.5f, false, d.first.data()); });
}
void NormExact(benchmark::State& state) {
  Run(state, 8, [](Data& d, int64_t n) { benchmark::DoNotOptimize(SumOfSquares(d.fixed.data(), n)); });
}
void NormFloat32(benchmark::State& state) {
  Run(state, 4, [](Data& d, int64_t n) { benchmark::DoNotOptimize(SumOfSquares(d.gradient.data(), n)); });
}
void AdamwExact(benchmark::State& state) {
  Run(state, 32, [](Data& d, int64_t n) {
    AdamwUpdate(kAdamw, d.fixed.data(), 0x1p-61, n, d.weights.data(), d.first.data(), d.second.data());
  });
}
void AdamwFloat32(benchmark::State& state) {
  Run(state, 28, [](Data& d, int64_t n) {
    AdamwUpdate(kAdamw, d.gradient.data(), 1e-3f, n, d.weights.data(), d.first.data(), d.second.data());
  });
}

BENCHMARK(Memcpy)->Arg(838000)->Arg(32 << 20);
BENCHMARK(AccumulateExact)->Arg(838000)->Arg(32 << 20);
BENCHMARK(AccumulateFloat32)->Arg(838000)->Arg(32 << 20);
BENCHMARK(NormExact)->Arg(838000)->Arg(32 << 20);
BENCHMARK(NormFloat32)->Arg(838000)->Arg(32 << 20);
BENCHMARK(AdamwExact)->Arg(838000)->Arg(32 << 20);
BENCHMARK(AdamwFloat32)->Arg(838000)->Arg(32 << 20);

}  // namespace
}  // namespace rekindle::kernels

BENCHMARK_MAIN();
