// Implements Muon, which makes the momentum of a matrix nearly orthogonal by five Newton-Schulz steps (Jordan et al.,
// 2024). The formulas are those of torch.optim.Muon with adjust_lr_fn "match_rms_adamw", in float32. Parameters that
// are not matrices get AdamW with the same learning rate. Each matrix needs much arithmetic, so Muon suits jobs whose
// backward takes far longer.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/optimizers/matmul.h"
#include "kernels/sums/sum_of_squares.h"
#include "worker/train/optimizers/matrix_update.h"

namespace rekindle::train {
namespace {

constexpr int kIterations = 5;
constexpr float kA = 3.4445f, kB = -4.7750f, kC = 2.0315f;
constexpr double kLeastNorm = 1e-7;

using Matrix = std::vector<float>;

Matrix Transposed(const Matrix& x, int64_t rows, int64_t columns) {
  Matrix out(x.size());
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j)
      out[static_cast<size_t>(j * rows + i)] = x[static_cast<size_t>(i * columns + j)];
  }
  return out;
}

Matrix Product(const Matrix& a, const Matrix& b, int64_t rows, int64_t inner, int64_t columns) {
  Matrix out(static_cast<size_t>(rows * columns));
  kernels::MatMul(a.data(), b.data(), rows, inner, columns, out.data());
  return out;
}

// Replaces the matrix X in `x` by aX + bY, where `y` holds the matrix Y.
void Mix(float a, float b, const Matrix& y, Matrix* x) {
  for (size_t i = 0; i < x->size(); ++i) (*x)[i] = a * (*x)[i] + b * y[i];
}

// Makes the singular values of the matrix `x` nearly 1. The matrix must not have more rows than columns.
void Orthogonalize(int64_t rows, int64_t columns, Matrix* x) {
  const double norm = std::sqrt(kernels::SumOfSquares(x->data(), rows * columns));
  const auto scale = static_cast<float>(1 / std::max(norm, kLeastNorm));
  for (float& value : *x) value *= scale;
  for (int i = 0; i < kIterations; ++i) {
    Matrix gram = Product(*x, Transposed(*x, rows, columns), rows, columns, rows);
    Mix(kB, kC, Product(gram, gram, rows, rows, rows), &gram);
    Mix(kA, 1, Product(gram, *x, rows, rows, columns), x);
  }
}

void UpdateWhole(const RekindleUpdate& u, int64_t rows, int64_t columns) {
  const auto rest = static_cast<float>(1 - u.momentum);
  Matrix x(u.n);
  for (size_t i = 0; i < u.n; ++i) {
    const float g = u.fixed != nullptr ? static_cast<float>(static_cast<double>(u.fixed[i]) * u.scale)
                                       : u.values[i] * static_cast<float>(u.scale);
    float& momentum = u.new_first_moment[i];
    momentum = momentum + (g - momentum) * rest;
    // The gradient is mixed with the new momentum, which is Nesterov's form of momentum.
    x[i] = g + (momentum - g) * static_cast<float>(u.momentum);
  }
  const bool tall = rows > columns;
  if (tall) {
    x = Transposed(x, rows, columns);
    std::swap(rows, columns);
  }
  Orthogonalize(rows, columns, &x);
  if (tall) x = Transposed(x, rows, columns);
  const auto decay = static_cast<float>(1 - u.learning_rate * u.weight_decay);
  const auto step = static_cast<float>(u.learning_rate * 0.2 * std::sqrt(static_cast<double>(std::max(rows, columns))));
  for (size_t i = 0; i < u.n; ++i) u.new_weights[i] = u.new_weights[i] * decay - step * x[i];
}

}  // namespace

void UpdateMuon(const MatrixUpdate& matrix) {
  if (matrix.shape.size() != 2) return kernels::UpdateAdamw(matrix.update);
  UpdateWhole(matrix.update, matrix.shape[0], matrix.shape[1]);
}

}  // namespace rekindle::train
