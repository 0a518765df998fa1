// REKINDLE_HOST_DEVICE before an inline function: nvcc compiles it for the device as well. Elsewhere it is nothing.
#ifndef REKINDLE_KERNELS_HOST_DEVICE_H_
#define REKINDLE_KERNELS_HOST_DEVICE_H_

#ifdef __CUDACC__
#define REKINDLE_HOST_DEVICE __host__ __device__
#else
#define REKINDLE_HOST_DEVICE
#endif

#endif  // REKINDLE_KERNELS_HOST_DEVICE_H_
