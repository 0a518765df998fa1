#include "kernels/optimizers/matmul.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>
#include <vector>

namespace rekindle::kernels {
namespace {

TEST(MatMulTest, SameBitsAsThePlainLoop) {
  for (const auto& [rows, inner, columns] :
       {std::tuple<int, int, int>{1, 1, 1}, {3, 70, 64}, {17, 5, 131}, {64, 64, 200}}) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    std::vector<float> a(rows * inner), b(inner * columns), c(rows * columns), plain(rows * columns);
    for (float& x : a) x = normal(random);
    for (float& x : b) x = normal(random);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        volatile float sum = 0;
        for (int k = 0; k < inner; ++k) {
          volatile float product = a[i * inner + k] * b[k * columns + j];
          sum = sum + product;
        }
        plain[i * columns + j] = sum;
      }
    }
    MatMul(a.data(), b.data(), rows, inner, columns, c.data());
    EXPECT_EQ(c, plain) << rows << " x " << inner << " x " << columns;
  }
}

}  // namespace
}  // namespace rekindle::kernels
