// Acts as NCCL where there is no GPU, between threads or processes of one machine. Memory of a device is what an
// operation of a fake device can reach, and the bytes travel through a host transport of its own.
//
// It is as unkind as NCCL may be. Joining takes its time. A rank with an odd number never notices that a peer is gone:
// its operations hang until they are aborted. An operation that did not come to its end leaves its output full of NaN.
#ifndef REKINDLE_WORKER_COMM_NCCL_FAKE_NCCL_H_
#define REKINDLE_WORKER_COMM_NCCL_FAKE_NCCL_H_

#include <functional>

#include "worker/comm/nccl/nccl_api.h"

namespace rekindle::comm {

// Names the calls of the table, where kPollJoin is a poll before the communicator has joined.
enum class FakeNcclCall { kMakeId, kJoin, kPollJoin, kStart, kPoll, kAbort, kRelease };
// A call that hangs stays pending, or does not return if it cannot be pending. It goes on when it is asked again and
// nothing befalls it any more.
enum class FakeNcclFault { kNone, kFail, kHang };
// Says what befalls a call of the process's rank `rank`, which is 0 for kMakeId. It is called from any thread.
using FakeNcclFaults = std::function<FakeNcclFault(FakeNcclCall, int rank)>;

// It acts as this version of NCCL, as NCCL would number it.
inline constexpr int kFakeNcclVersion = 23000;

const RekindleNcclApi& FakeNccl();

// An empty function stands for no faults.
void SetFakeNcclFaults(FakeNcclFaults faults);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_NCCL_FAKE_NCCL_H_
