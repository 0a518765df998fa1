#include "worker/device/exchange/nccl_id.h"

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"

namespace rekindle::device {

NcclId::NcclId(comm::Communicator& communicator, const RekindleNcclApi& nccl) : is_root_(communicator.rank() == 0) {
  if (is_root_) {
    const int made = nccl.make_id(message_.id.data(), message_.error, sizeof(message_.error));
    message_.made = made == kRekindleNcclDone ? 1 : 0;
  }
  sent_ = communicator.Broadcast(&message_, sizeof(message_), 0);
}

NcclId::~NcclId() { (void)sent_.Wait(); }

absl::StatusOr<NcclId::Bytes> NcclId::Await() const {
  const absl::Status sent = sent_.Wait();
  // If there is no id, another rank may end the communicator as soon as it has heard so. The root then returns its own
  // reason rather than the error of the broadcast.
  if (!sent.ok() && (!is_root_ || message_.made != 0)) return sent;
  if (message_.made != 0) return message_.id;
  const std::string reason(message_.error, strnlen(message_.error, sizeof(message_.error)));
  return absl::InternalError(absl::StrCat("NCCL: rank 0 could not make an id: ", reason));
}

}  // namespace rekindle::device
