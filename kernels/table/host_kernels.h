// Provides the table of the kernels of a training step for the processor.
#ifndef REKINDLE_KERNELS_TABLE_HOST_KERNELS_H_
#define REKINDLE_KERNELS_TABLE_HOST_KERNELS_H_

#include "kernels/table/kernel_table.h"

namespace rekindle::kernels {

// Returns a table that lives as long as the program. Its functions always succeed, and are thread-safe.
const RekindleKernels& HostKernels();

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_TABLE_HOST_KERNELS_H_
