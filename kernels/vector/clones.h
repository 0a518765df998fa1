// Defines REKINDLE_CLONES, which is written before a function. g++ then compiles the function for AVX2 and for plain
// x86-64, and the loader picks one. No clone may change a bit. The project is built with -ffp-contract=off, and
// reductions are written with a fixed order, so the instruction set changes speed only (the tests compare each variant
// with the plain reference). Sanitizers instrument the loader's resolver before their runtime is up, so builds with
// them, and the portable test, define REKINDLE_NO_CLONES.
#ifndef REKINDLE_KERNELS_VECTOR_CLONES_H_
#define REKINDLE_KERNELS_VECTOR_CLONES_H_

#include "kernels/vector/device_function.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(REKINDLE_NO_CLONES) && !defined(__CUDACC__)
#define REKINDLE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define REKINDLE_CLONES
#endif

// REKINDLE_INLINE is written before the helpers of functions that have clones, because each clone must compile them as
// a part of itself. The CUDA kernels share these helpers.
#define REKINDLE_INLINE REKINDLE_HOST_DEVICE inline __attribute__((always_inline))

#endif  // REKINDLE_KERNELS_VECTOR_CLONES_H_
