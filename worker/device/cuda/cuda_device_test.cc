#include "worker/device/cuda/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "worker/device/cuda/cuda_errors.h"

namespace rekindle::device {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Stands in for a GPU behind the plugin's table: it does everything at once in the host's memory, notes the calls whose
// order matters, and fails as a test asks. What a real GPU does otherwise is the fake device's matter.
struct FakeGpu {
  std::vector<std::string> calls;
  // `fail_with` is the error of the next call of the function `fail_in`.
  std::string fail_in;
  int fail_with = 0;
  size_t free_bytes = 1 << 20;
  int queues = 0, marks = 0, blocks = 0;
  bool hangs = false;
};
FakeGpu gpu;

int Outcome(const std::string& function, char* error, size_t error_size) {
  if (gpu.fail_in != function) return 0;
  std::snprintf(error, error_size, "%s: the driver's words", function.c_str());
  return gpu.fail_with;
}

// Handles of queues and marks are addresses that nothing lies at.
void* HandleOf(int number) { return reinterpret_cast<void*>(static_cast<uintptr_t>(number)); }
std::string NameOfHandle(void* handle) { return std::to_string(reinterpret_cast<uintptr_t>(handle)); }

int AllocateBlock(size_t bytes, void** memory, char* error, size_t error_size) {
  if (const int code = Outcome("allocate", error, error_size)) return code;
  if (bytes > gpu.free_bytes) return 2;
  gpu.free_bytes -= bytes;
  ++gpu.blocks;
  *memory = std::malloc(bytes + 1);
  return 0;
}
int ReleaseBlock(void* memory, char* error, size_t error_size) {
  --gpu.blocks;
  std::free(memory);
  return Outcome("release", error, error_size);
}

constexpr RekindleCudaDevice kFakeDevice = {
    .allocate = &AllocateBlock,
    .release = &ReleaseBlock,
    .allocate_pinned = &AllocateBlock,
    .release_pinned = &ReleaseBlock,
    .memory =
        [](size_t* free_bytes, size_t* all_bytes, char* error, size_t error_size) {
          *free_bytes = gpu.free_bytes;
          *all_bytes = 1 << 20;
          return Outcome("memory", error, error_size);
        },
    .make_queue =
        [](uint32_t urgent, void** queue, char* error, size_t error_size) {
          *queue = HandleOf(++gpu.queues);
          gpu.calls.push_back(absl::StrCat("queue ", gpu.queues, urgent != 0 ? " urgent" : ""));
          return Outcome("make_queue", error, error_size);
        },
    .end_queue =
        [](void*, char*, size_t) {
          --gpu.queues;
          return 0;
        },
    .make_mark =
        [](void** mark, char* error, size_t error_size) {
          *mark = HandleOf(++gpu.marks);
          return Outcome("make_mark", error, error_size);
        },
    .end_mark =
        [](void*, char*, size_t) {
          --gpu.marks;
          return 0;
        },
    .record =
        [](void* mark, void* queue, char* error, size_t error_size) {
          gpu.calls.push_back(absl::StrCat("record ", NameOfHandle(mark), " on ", NameOfHandle(queue)));
          return Outcome("record", error, error_size);
        },
    .wait =
        [](void* queue, void* mark, char* error, size_t error_size) {
          gpu.calls.push_back(absl::StrCat(NameOfHandle(queue), " waits for ", NameOfHandle(mark)));
          return Outcome("wait", error, error_size);
        },
    .passed =
        [](void*, uint32_t* passed, char* error, size_t error_size) {
          *passed = gpu.hangs ? 0 : 1;
          return Outcome("passed", error, error_size);
        },
    .copy =
        [](void* to, const void* from, size_t bytes, void*, char* error, size_t error_size) {
          std::memcpy(to, from, bytes);
          return Outcome("copy", error, error_size);
        },
    .fill =
        [](void* memory, int byte, size_t bytes, void*, char* error, size_t error_size) {
          std::memset(memory, byte, bytes);
          return Outcome("fill", error, error_size);
        },
};
constexpr RekindleCudaApi kFakeApi = {.version = kRekindleCudaApiVersion, .device = &kFakeDevice};

class CudaDeviceTest : public testing::Test {
 protected:
  CudaDeviceTest() { gpu = FakeGpu(); }
  // Whatever a test does, nothing of the device may be left at its end.
  ~CudaDeviceTest() override {
    device_.reset();
    EXPECT_EQ(gpu.queues, 0);
    EXPECT_EQ(gpu.marks, 0);
    EXPECT_EQ(gpu.blocks, 0);
  }
  Device& Make() {
    absl::StatusOr<std::unique_ptr<Device>> made = MakeCudaDevice(kFakeApi);
    EXPECT_TRUE(made.ok()) << made.status();
    device_ = *std::move(made);
    gpu.calls.clear();
    return *device_;
  }

  std::unique_ptr<Device> device_;
};

TEST_F(CudaDeviceTest, TheExchangeGoesBeforeTheOthers) {
  device_ = *MakeCudaDevice(kFakeApi);
  EXPECT_THAT(gpu.calls, ElementsAre("queue 1", "queue 2 urgent", "queue 3"));
}

TEST_F(CudaDeviceTest, AGpuThatDoesNotAnswerIsToldInTheDriversWords) {
  gpu.fail_in = "make_queue";
  gpu.fail_with = 46;
  const absl::Status refused = MakeCudaDevice(kFakeApi).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(refused.ToString(), HasSubstr("make_queue: the driver's words"));
}

TEST_F(CudaDeviceTest, MarksOrderQueuesAndAreUsedAgain) {
  Device& device = Make();
  device.After(Queue::kExchange, device.Record(Queue::kCompute));
  device.After(Queue::kSnapshot, device.Record(Queue::kExchange));
  device.After(Queue::kSnapshot, Mark());
  EXPECT_THAT(gpu.calls, ElementsAre("record 1 on 1", "2 waits for 1", "record 1 on 2", "3 waits for 1"));
  EXPECT_EQ(gpu.marks, 1);
}

TEST_F(CudaDeviceTest, CopiesBringDataToTheDeviceAndBack) {
  Device& device = Make();
  absl::StatusOr<Memory> memory = device.Allocate(8, "m");
  absl::StatusOr<PinnedMemory> from = device.AllocatePinned(8, "from"), to = device.AllocatePinned(4, "to");
  ASSERT_TRUE(memory.ok() && from.ok() && to.ok());
  std::memcpy(from->ForWriting(0, 8).data(), "abcdefg", 8);
  device.Run(Queue::kCompute, Copy(from->all(), memory->all()));
  device.Run(Queue::kCompute, Zero(memory->Part(6, 1)));
  device.Run(Queue::kCompute, Copy(memory->Part(4, 4), to->all()));
  ASSERT_TRUE(device.Await(device.Record(Queue::kCompute), nullptr).ok());
  EXPECT_EQ(std::memcmp(to->ForReading(0, 4).data(), "ef\0\0", 4), 0);
}

TEST_F(CudaDeviceTest, WhatDoesNotFitIsToldWithTheBytesAndLeavesTheDeviceWhole) {
  Device& device = Make();
  const absl::Status refused = device.Allocate(int64_t{1} << 30, "the first moment").status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_THAT(refused.ToString(), HasSubstr("the first moment takes 1.1 GB"));
  EXPECT_EQ(device.Look().state, Health::State::kFine);
  EXPECT_TRUE(device.Allocate(100, "less").ok());
}

TEST_F(CudaDeviceTest, TheFirstErrorStaysWhateverCallItCameFrom) {
  for (const char* function : {"record", "wait", "passed", "copy", "fill", "memory"}) {
    Device& device = Make();
    absl::StatusOr<Memory> memory = device.Allocate(8, "m");
    const absl::StatusOr<Memory> other = device.Allocate(8, "m2");
    gpu.fail_in = function;
    gpu.fail_with = 700;
    const Mark mark = device.Record(Queue::kCompute);
    device.After(Queue::kExchange, mark);
    device.Run(Queue::kCompute, Copy(memory->all(), other->all()));
    device.Run(Queue::kCompute, Zero(memory->all()));
    (void)device.Await(mark, nullptr);
    const Health health = device.Look();
    EXPECT_EQ(health.state, Health::State::kContextLost) << function;
    EXPECT_THAT(health.words, HasSubstr(absl::StrCat(function, ": the driver's words")));
    gpu.fail_in.clear();
    EXPECT_FALSE(device.Await(mark, nullptr).ok()) << function;
    EXPECT_FALSE(device.Passed(Mark()).ok()) << function;
    gpu.calls.clear();
    device.Run(Queue::kCompute, Zero(memory->all()));
    (void)device.Record(Queue::kCompute);
    EXPECT_THAT(gpu.calls, IsEmpty()) << function;
  }
}

TEST_F(CudaDeviceTest, AWaitForAHungQueueCanBeEnded) {
  Device& device = Make();
  gpu.hangs = true;
  const Mark mark = device.Record(Queue::kExchange);
  EXPECT_EQ(*device.Passed(mark), false);
  int asked = 0;
  EXPECT_TRUE(absl::IsCancelled(device.Await(mark, [&] { return ++asked < 5; })));
  EXPECT_EQ(device.Look().state, Health::State::kFine);
}

TEST_F(CudaDeviceTest, AnOperationWithoutAFormForAGpuIsNamed) {
  Device& device = Make();
  device.Run(Queue::kCompute, {.name = "muon", .reads = {}, .writes = {}, .run = [](const Addresses&) {
                                 ADD_FAILURE() << "the host's form runs on a GPU";
                                 return absl::OkStatus();
                               }});
  EXPECT_THAT(device.Await(device.Record(Queue::kCompute), nullptr).ToString(), HasSubstr("'muon' has no form"));
}

TEST(CudaErrors, EachErrorSaysWhatIsLeft) {
  EXPECT_TRUE(IsOutOfDeviceMemory(2));
  EXPECT_EQ(StateAfter(0), Health::State::kFine);
  // An illegal address, a failed assertion, a misaligned address, a launch failure, an ECC error, an NVLink error, and
  // an error that no version of CUDA has yet.
  for (const int code : {700, 710, 716, 719, 214, 220, 12345}) EXPECT_EQ(StateAfter(code), Health::State::kContextLost);
  for (const int code : {35, 46, 100, 101, 999}) EXPECT_EQ(StateAfter(code), Health::State::kDeviceLost);
}

}  // namespace
}  // namespace rekindle::device
