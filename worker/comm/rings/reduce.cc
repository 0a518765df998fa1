#include "worker/comm/rings/reduce.h"

#include <cstdint>

#include "kernels/vector/bfloat16_element.h"

namespace rekindle::comm {
namespace {

template <typename T>
struct Sum {
  [[gnu::always_inline]] static T Apply(T a, T b) { return a + b; }
};
template <>
struct Sum<uint8_t> {
  [[gnu::always_inline]] static uint8_t Apply(uint8_t a, uint8_t b) { return static_cast<uint8_t>(a + b); }
};
template <>
// The sum of int64 uses unsigned arithmetic because its wrapping is defined.
struct Sum<int64_t> {
  [[gnu::always_inline]] static int64_t Apply(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
};
struct Bfloat16 {
  uint16_t bits;
};
template <>
struct Sum<Bfloat16> {
  [[gnu::always_inline]] static Bfloat16 Apply(Bfloat16 a, Bfloat16 b) {
    return {common::ToBf16(common::FromBf16(a.bits) + common::FromBf16(b.bits))};
  }
};
template <typename T>
struct Max {
  [[gnu::always_inline]] static T Apply(T a, T b) { return a > b || a != a ? a : b; }
};

template <>
struct Max<Bfloat16> {
  [[gnu::always_inline]] static Bfloat16 Apply(Bfloat16 a, Bfloat16 b) {
    return {common::ToBf16(Max<float>::Apply(common::FromBf16(a.bits), common::FromBf16(b.bits)))};
  }
};

// Reduces two arrays in one loop, which is inlined into a function for each instruction set. `ivdep` holds because
// `out` is `a` or `b` itself or does not overlap them.
template <typename T, template <typename> class Op>
[[gnu::always_inline]] inline void Loop(T* out, const T* a, const T* b, size_t count) {
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) out[i] = Op<T>::Apply(a[i], b[i]);
}

template <typename T, template <typename> class Op>
[[gnu::target("avx2")]] void LoopAvx2(T* out, const T* a, const T* b, size_t count) {
  Loop<T, Op>(out, a, b, count);
}

template <typename T, template <typename> class Op>
void LoopBaseline(T* out, const T* a, const T* b, size_t count) {
  Loop<T, Op>(out, a, b, count);
}

// The instruction set is chosen by hand rather than by target_clones, whose resolvers run before a sanitizer is set up.
template <typename T, template <typename> class Op>
void Dispatch(void* out, const void* a, const void* b, size_t count) {
  static const bool avx2 = __builtin_cpu_supports("avx2");
  const auto loop = avx2 ? LoopAvx2<T, Op> : LoopBaseline<T, Op>;
  loop(static_cast<T*>(out), static_cast<const T*>(a), static_cast<const T*>(b), count);
}

template <typename T>
void ForType(void* out, const void* a, const void* b, size_t count, ReduceOp op) {
  if (op == ReduceOp::kSum) {
    Dispatch<T, Sum>(out, a, b, count);
  } else {
    Dispatch<T, Max>(out, a, b, count);
  }
}

}  // namespace

void Reduce(void* out, const void* a, const void* b, size_t count, DataType type, ReduceOp op) {
  switch (type) {
    case DataType::kUint8:
      return ForType<uint8_t>(out, a, b, count, op);
    case DataType::kInt64:
      return ForType<int64_t>(out, a, b, count, op);
    case DataType::kFloat32:
      return ForType<float>(out, a, b, count, op);
    case DataType::kBfloat16:
      return ForType<Bfloat16>(out, a, b, count, op);
  }
}

}  // namespace rekindle::comm
