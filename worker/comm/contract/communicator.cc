#include "worker/comm/contract/communicator.h"

namespace rekindle::comm {

size_t SizeOf(DataType type) {
  switch (type) {
    case DataType::kUint8:
      return 1;
    case DataType::kInt64:
      return 8;
    case DataType::kBfloat16:
      return sizeof(uint16_t);
    case DataType::kFloat32:
      return 4;
  }
  return 1;
}

absl::Status Barrier(Communicator& communicator) {
  const uint8_t here = 1;
  std::vector<uint8_t> all(static_cast<size_t>(communicator.world_size()));
  return communicator.AllGather(&here, all.data(), 1).Wait();
}

}  // namespace rekindle::comm
