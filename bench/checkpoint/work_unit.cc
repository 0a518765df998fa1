#include "bench/checkpoint/work_unit.h"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>

#include "common/time/clock.h"

namespace rekindle::bench {

double WorkUnit() {
  const at::NoGradGuard no_gradients;
  at::set_num_threads(1);
  static const at::Tensor ones = at::ones({384, 384});
  const double start = common::SteadySeconds();
  at::Tensor a = ones;
  for (int i = 0; i < 4; ++i) a = at::mul(at::matmul(a, a), 1e-3);
  return common::SteadySeconds() - start;
}

}  // namespace rekindle::bench
