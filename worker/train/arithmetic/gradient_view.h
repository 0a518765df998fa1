// Holds a flat gradient of summed losses, in int64 fixed point or float32, and gives views of it.
#ifndef REKINDLE_WORKER_TRAIN_ARITHMETIC_GRADIENT_VIEW_H_
#define REKINDLE_WORKER_TRAIN_ARITHMETIC_GRADIENT_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <span>

#include "common/memory/huge_pages.h"

namespace rekindle::train {

// Points to a flat gradient. Exactly one of `fixed` and `values` is set, and it points to ParameterLayout::total
// elements.
struct GradientView {
  // In fixed point the gradient is g = fixed * 2^-exponent, with one exponent a parameter.
  const int64_t* fixed = nullptr;
  const float* values = nullptr;
  // `squares` is the GradientSumOfSquares of this gradient, where it is known already.
  std::optional<double> squares;
};

// Owns uninitialised, 64-byte aligned memory for one gradient. It can be moved but not copied.
class GradientBuffer {
 public:
  GradientBuffer() = default;
  GradientBuffer(bool exact, int64_t elements)
      : exact_(exact), data_(common::AllocateLarge(static_cast<size_t>(elements * (exact ? 8 : 4) + 64) / 64 * 64)) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  bool exact() const { return exact_; }
  void* data() { return data_.get(); }
  int64_t* fixed() { return exact_ ? static_cast<int64_t*>(data_.get()) : nullptr; }
  float* values() { return exact_ ? nullptr : static_cast<float*>(data_.get()); }
  // Returns the address of an element of the gradient, for collectives.
  void* At(int64_t element) { return static_cast<char*>(data_.get()) + element * (exact_ ? 8 : 4); }
  GradientView view() { return {.fixed = fixed(), .values = values(), .squares = std::nullopt}; }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  bool exact_ = true;
  std::unique_ptr<void, Free> data_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ARITHMETIC_GRADIENT_VIEW_H_
