#include "kernels/layers/layer_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace rekindle::kernels {
namespace {

constexpr float kEpsilon = 1e-5f;
constexpr int64_t kRows = 5;

struct Case {
  explicit Case(int64_t width) : width(width) {
    std::mt19937 random(static_cast<unsigned>(width));
    std::normal_distribution<float> normal(2, 3);
    for (auto [v, n] : {std::pair{&x, kRows * width}, {&dy, kRows * width}, {&weight, width}, {&bias, width}}) {
      v->resize(n);
      for (float& value : *v) value = normal(random);
    }
  }
  // Returns {normalised value, dx} of each element of row r, computed in double.
  std::vector<std::pair<double, double>> Reference(int64_t r) const {
    double mean = 0, variance = 0, of_g = 0, of_gx = 0;
    const auto at = [&](const std::vector<float>& v, int64_t i) { return double{v[r * width + i]}; };
    for (int64_t i = 0; i < width; ++i) mean += at(x, i) / width;
    for (int64_t i = 0; i < width; ++i) variance += std::pow(at(x, i) - mean, 2) / width;
    const double inverse = 1 / std::sqrt(variance + kEpsilon);
    std::vector<std::pair<double, double>> out(width);
    for (int64_t i = 0; i < width; ++i) {
      out[i].first = (at(x, i) - mean) * inverse;
      of_g += at(dy, i) * weight[i] / width;
      of_gx += at(dy, i) * weight[i] * out[i].first / width;
    }
    for (int64_t i = 0; i < width; ++i) {
      out[i].second = (at(dy, i) * weight[i] - of_g - out[i].first * of_gx) * inverse;
    }
    return out;
  }
  int64_t width;
  std::vector<float> x, dy, weight, bias;
};

TEST(LayerNormTest, IsTheReferences) {
  for (int64_t width : {2, 15, 16, 33, 128, 384}) {
    const Case c(width);
    std::vector<float> y(c.x.size()), dx(c.x.size()), mean(kRows), inverse(kRows), dweight(width, 7), dbias(width, 7);
    LayerNormForward(c.x.data(), kRows, width, c.weight.data(), c.bias.data(), kEpsilon, y.data(), mean.data(),
                     inverse.data());
    LayerNormBackward(c.dy.data(), c.x.data(), mean.data(), inverse.data(), kRows, width, c.weight.data(), dx.data(),
                      dweight.data(), dbias.data());
    std::vector<double> weight_sum(width), bias_sum(width);
    for (int64_t r = 0; r < kRows; ++r) {
      const auto expected = c.Reference(r);
      for (int64_t i = 0; i < width; ++i) {
        const double d = c.dy[r * width + i];
        EXPECT_NEAR(y[r * width + i], expected[i].first * c.weight[i] + c.bias[i], 5e-5) << width;
        EXPECT_NEAR(dx[r * width + i], expected[i].second, 5e-4 * (1 + std::abs(expected[i].second))) << width;
        weight_sum[i] += d * expected[i].first;
        bias_sum[i] += d;
      }
    }
    for (int64_t i = 0; i < width; ++i) {
      EXPECT_NEAR(dweight[i], weight_sum[i], 1e-4) << width;
      EXPECT_NEAR(dbias[i], bias_sum[i], 1e-4) << width;
    }
  }
}

TEST(LayerNormTest, WorksInPlace) {
  const Case c(40);
  std::vector<float> y(c.x.size()), mean(kRows), inverse(kRows), in_place = c.x;
  LayerNormForward(c.x.data(), kRows, 40, c.weight.data(), c.bias.data(), kEpsilon, y.data(), mean.data(),
                   inverse.data());
  LayerNormForward(in_place.data(), kRows, 40, c.weight.data(), c.bias.data(), kEpsilon, in_place.data(), mean.data(),
                   inverse.data());
  EXPECT_EQ(in_place, y);
}

}  // namespace
}  // namespace rekindle::kernels
