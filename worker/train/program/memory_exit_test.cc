#include "worker/train/program/memory_exit.h"

#include <gtest/gtest.h>

#include <csignal>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "common/agreed/exit_codes.h"

namespace rekindle::train {
namespace {

template <typename Error>
void ThrowOnAThread(const Error& error) {
  ExitWhereMemoryRunsOut();
  std::thread([&] { throw error; }).join();
}

TEST(MemoryExitDeathTest, WhatNobodyCatchesOnAnyThreadIsToldByTheExitCode) {
  const auto out_of_memory = testing::ExitedWithCode(common::kExitOutOfMemory);
  EXPECT_EXIT(ThrowOnAThread(std::bad_alloc()), out_of_memory, "out of memory");
  const std::system_error no_thread(std::make_error_code(std::errc::resource_unavailable_try_again));
  EXPECT_EXIT(ThrowOnAThread(no_thread), out_of_memory, "out of memory");
}

TEST(MemoryExitDeathTest, AnythingElseIsABugAsBefore) {
  EXPECT_EXIT(ThrowOnAThread(std::logic_error("a bug")), testing::KilledBySignal(SIGABRT), "");
  EXPECT_EXIT(ThrowOnAThread(7), testing::KilledBySignal(SIGABRT), "");
  EXPECT_EXIT(
      {
        ExitWhereMemoryRunsOut();
        std::terminate();
      },
      testing::KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace rekindle::train
