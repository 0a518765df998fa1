# The CUDA plugin: compiled by the pinned nvcc wheels on every machine, loaded only where a GPU is.
set(REKINDLE_HAVE_CUDA OFF)
