#include "worker/device/contract/queue.h"

namespace rekindle::device {

const char* NameOf(Queue queue) {
  switch (queue) {
    case Queue::kCompute:
      return "compute";
    case Queue::kExchange:
      return "exchange";
    case Queue::kNccl:
      return "NCCL";
    case Queue::kSnapshot:
      return "snapshot";
  }
  return "unknown";
}

}  // namespace rekindle::device
