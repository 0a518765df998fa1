#include "worker/device/testing/gpu_table_testing.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "absl/strings/str_cat.h"
#include "common/sync/mutex.h"
#include "kernels/cuda/plugin_api.h"
#include "kernels/table/host_kernels.h"
#include "worker/device/cuda/cuda_device.h"

namespace rekindle::device {
namespace {

int Outcome(const std::string& function, char* error, size_t error_size) {
  if (TheGpu().fail_in != function) return 0;
  std::snprintf(error, error_size, "%s: the driver's words", function.c_str());
  return TheGpu().fail_with;
}

// Handles of queues and marks are addresses that nothing lies at.
void* HandleOf(int number) { return reinterpret_cast<void*>(static_cast<uintptr_t>(number)); }
std::string NameOfHandle(void* handle) { return std::to_string(reinterpret_cast<uintptr_t>(handle)); }

// Holds the blocks that were not freed. A device that left a queue behind never frees its memory, which is no leak.
std::set<void*>& Blocks() {
  static auto* const blocks = new std::set<void*>;
  return *blocks;
}

// Is held while the GPU's counts change. Only a test that uses the GPU from one thread may read them without it.
common::Mutex& Guard() {
  static auto* const guard = new common::Mutex;
  return *guard;
}

void NoteCall(const std::string& call) {
  if (!TheGpu().is_busy) TheGpu().calls.push_back(call);
}

int AllocateBlock(size_t bytes, void** memory, char* error, size_t error_size) {
  if (const int code = Outcome("allocate", error, error_size)) return code;
  const common::MutexLock lock(Guard());
  if (bytes > TheGpu().free_bytes) return 2;
  TheGpu().free_bytes -= bytes;
  ++TheGpu().blocks;
  *memory = std::malloc(bytes + 1);
  Blocks().insert(*memory);
  return 0;
}
int ReleaseBlock(void* memory, char* error, size_t error_size) {
  const common::MutexLock lock(Guard());
  --TheGpu().blocks;
  Blocks().erase(memory);
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
          *free_bytes = TheGpu().free_bytes;
          *all_bytes = 1 << 20;
          return Outcome("memory", error, error_size);
        },
    .make_queue =
        [](uint32_t urgent, void** queue, char* error, size_t error_size) {
          const common::MutexLock lock(Guard());
          *queue = HandleOf(++TheGpu().queues);
          NoteCall(absl::StrCat("queue ", TheGpu().queues, urgent != 0 ? " urgent" : ""));
          return Outcome("make_queue", error, error_size);
        },
    .end_queue =
        [](void*, char*, size_t) {
          const common::MutexLock lock(Guard());
          --TheGpu().queues;
          return 0;
        },
    .make_mark =
        [](void** mark, char* error, size_t error_size) {
          const common::MutexLock lock(Guard());
          *mark = HandleOf(++TheGpu().marks);
          return Outcome("make_mark", error, error_size);
        },
    .end_mark =
        [](void*, char*, size_t) {
          const common::MutexLock lock(Guard());
          --TheGpu().marks;
          return 0;
        },
    .record =
        [](void* mark, void* queue, char* error, size_t error_size) {
          const common::MutexLock lock(Guard());
          NoteCall(absl::StrCat("record ", NameOfHandle(mark), " on ", NameOfHandle(queue)));
          return Outcome("record", error, error_size);
        },
    .wait =
        [](void* queue, void* mark, char* error, size_t error_size) {
          const common::MutexLock lock(Guard());
          NoteCall(absl::StrCat(NameOfHandle(queue), " waits for ", NameOfHandle(mark)));
          return Outcome("wait", error, error_size);
        },
    .passed =
        [](void*, uint32_t* passed, char* error, size_t error_size) {
          *passed = TheGpu().hangs ? 0 : 1;
          return Outcome("passed", error, error_size);
        },
};

// The kernels are those of the processor, and all but two of them always succeed.
const RekindleKernels& FakeKernels() {
  static const RekindleKernels kernels = [] {
    RekindleKernels table = kernels::HostKernels();
    table.copy = [](const RekindleCopy* args, void* queue, char* error, size_t error_size) {
      (void)kernels::HostKernels().copy(args, queue, error, error_size);
      return Outcome("copy", error, error_size);
    };
    table.fill = [](const RekindleFill* args, void* queue, char* error, size_t error_size) {
      (void)kernels::HostKernels().fill(args, queue, error, error_size);
      return Outcome("fill", error, error_size);
    };
    return table;
  }();
  return kernels;
}

const RekindleCudaApi& FakeApi() {
  static const RekindleCudaApi api = {
      .version = kRekindleCudaApiVersion, .device = &kFakeDevice, .kernels = &FakeKernels()};
  return api;
}

}  // namespace

GpuTable& TheGpu() {
  static auto* const gpu = new GpuTable;
  return *gpu;
}

absl::StatusOr<std::unique_ptr<Device>> MakeDeviceOnTheGpu() { return MakeCudaDevice(FakeApi()); }

}  // namespace rekindle::device
