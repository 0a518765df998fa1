// Pins the number of threads as a trainer does, before any test runs.
#include <gtest/gtest.h>

#include "worker/models/registry/numeric_runtime.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  rekindle::models::PinThreads(1);
  return RUN_ALL_TESTS();
}
