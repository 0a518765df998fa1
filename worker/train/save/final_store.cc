#include "worker/train/save/final_store.h"

#include <utility>

namespace rekindle::train {

FinalStore::FinalStore(device::Device& device, OpenStore open, CheckpointerOptions options)
    : device_(device), open_(std::move(open)), options_(std::move(options)) {}

absl::StatusOr<Checkpointer*> FinalStore::Use(const std::string& store) {
  if (checkpointer_ != nullptr && store_ == store) return checkpointer_.get();
  // The checkpointer uses the client, so the checkpointer is destroyed first.
  checkpointer_.reset();
  client_.reset();
  auto client = open_ ? open_(store) : absl::FailedPreconditionError("this trainer has no store but its job's");
  if (!client.ok()) return client.status();
  store_ = store;
  client_ = *std::move(client);
  checkpointer_ = std::make_unique<Checkpointer>(device_, *client_, options_);
  return checkpointer_.get();
}

}  // namespace rekindle::train
