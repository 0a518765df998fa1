// Lists the optimizers, in the order of their names. An elementwise one computes each element by itself, so that it
// runs on the processor and on a GPU, over any part of a parameter. One for matrices needs a whole parameter and the
// processor.
#ifndef REKINDLE_KERNELS_OPTIMIZERS_OPTIMIZER_LIST_H_
#define REKINDLE_KERNELS_OPTIMIZERS_OPTIMIZER_LIST_H_

#define REKINDLE_OPTIMIZERS(ELEMENTWISE, MATRIX) \
  ELEMENTWISE(Adamw)                             \
  ELEMENTWISE(Lion)                              \
  MATRIX(Muon)                                   \
  ELEMENTWISE(Sgd)

#define REKINDLE_NO_OPTIMIZER(Name)
#define REKINDLE_ELEMENTWISE_OPTIMIZERS(OPTIMIZER) REKINDLE_OPTIMIZERS(OPTIMIZER, REKINDLE_NO_OPTIMIZER)

#endif  // REKINDLE_KERNELS_OPTIMIZERS_OPTIMIZER_LIST_H_
