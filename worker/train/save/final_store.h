// Opens another store for a job's final checkpoint, when the coordinator names one.
#ifndef REKINDLE_WORKER_TRAIN_SAVE_FINAL_STORE_H_
#define REKINDLE_WORKER_TRAIN_SAVE_FINAL_STORE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "checkpoint/client/client.h"
#include "worker/device/contract/device.h"
#include "worker/train/save/checkpointer.h"

namespace rekindle::train {

using OpenStore =
    std::function<absl::StatusOr<std::unique_ptr<checkpoint::CheckpointClient>>(const std::string& store)>;

// FinalStore is thread-compatible.
class FinalStore {
 public:
  // `open` is null if the job can have no store but its own. `options` are the options of each checkpointer that is
  // made. `device` has the state, and must outlive the FinalStore.
  FinalStore(device::Device& device, OpenStore open, CheckpointerOptions options);

  // Returns the checkpointer of `store`, which stays open until another store is asked for. Returns an error if the
  // store cannot be opened. The next call then tries to open it again.
  absl::StatusOr<Checkpointer*> Use(const std::string& store);
  // Returns the client of the open store, or null if no store is open.
  checkpoint::CheckpointClient* client() const { return client_.get(); }

 private:
  device::Device& device_;
  const OpenStore open_;
  const CheckpointerOptions options_;
  std::string store_;
  std::unique_ptr<checkpoint::CheckpointClient> client_;
  std::unique_ptr<Checkpointer> checkpointer_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SAVE_FINAL_STORE_H_
