// Defines REKINDLE_HOST_DEVICE, which is written before an inline function. nvcc then compiles the function for the
// device as well. With other compilers the macro is empty.
#ifndef REKINDLE_KERNELS_VECTOR_DEVICE_FUNCTION_H_
#define REKINDLE_KERNELS_VECTOR_DEVICE_FUNCTION_H_

#ifdef __CUDACC__
#define REKINDLE_HOST_DEVICE __host__ __device__
#else
#define REKINDLE_HOST_DEVICE
#endif

#endif  // REKINDLE_KERNELS_VECTOR_DEVICE_FUNCTION_H_
