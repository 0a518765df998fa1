// Lists the GPUs of this machine as `rekindle-worker gpus` does, for tests of the search.
#include "worker/gpus/find_gpus.h"

int main() { return rekindle::gpus::RunListGpus(); }
