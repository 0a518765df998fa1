#include "worker/comm/testing/nccl_fake.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "common/sync/mutex.h"
#include "worker/comm/contract/communicator.h"

// A fake communicator is not freed before the fake NCCL, so that a use after abort is counted instead of undefined.
struct RekindleNcclComm {
  int rank = 0;
  int world = 0;
  // `operations` counts the operations that the rank has started so far.
  int operations = 0;
  bool joined = false;
  // `launching` says that an operation was started and not yet found to be done.
  bool launching = false;
  bool alive = true;
};

namespace rekindle::comm {

struct FakeNccl::Impl {
  using Operation = RekindleNcclOperation;

  bool Befalls(int rank, Call call, Fault fault) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    const auto found = faults.find({rank, call});
    return found != faults.end() && found->second == fault;
  }
  int Answer(RekindleNcclComm* comm, Call call, bool done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (!comm->alive) ++misused;
    if (!comm->alive || Befalls(comm->rank, call, Fault::kFail)) return kRekindleNcclFailed;
    return done && !Befalls(comm->rank, call, Fault::kHang) ? kRekindleNcclDone : kRekindleNcclPending;
  }
  // Carries out the oldest operation of `comm` if all ranks that take part have started it.
  bool Done(const RekindleNcclComm& comm) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void Reduce(int number, int world) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  common::Mutex mutex;
  std::map<std::pair<int, Call>, Fault> faults ABSL_GUARDED_BY(mutex);
  std::vector<std::unique_ptr<RekindleNcclComm>> comms ABSL_GUARDED_BY(mutex);
  // `ranks` has the ranks that have joined the fake NCCL's communicator.
  std::set<int> ranks ABSL_GUARDED_BY(mutex);
  // `operations` has the started operations, keyed by number and rank.
  std::map<std::pair<int, int>, Operation> operations ABSL_GUARDED_BY(mutex);
  // `reduced` has the numbers of the operations that were carried out.
  std::set<int> reduced ABSL_GUARDED_BY(mutex);
  int aborted ABSL_GUARDED_BY(mutex) = 0;
  int misused ABSL_GUARDED_BY(mutex) = 0;
  int started ABSL_GUARDED_BY(mutex) = 0;
};

namespace {

using Call = FakeNccl::Call;
using Fault = FakeNccl::Fault;

// `fake` is the FakeNccl that exists now. The table's C functions have no other way to reach it.
FakeNccl::Impl* fake = nullptr;

int Say(int result, char* error, std::size_t error_size) {
  if (result == kRekindleNcclFailed) std::snprintf(error, error_size, "injected");
  return result;
}

int MakeId(unsigned char* id, char* error, std::size_t error_size) {
  const common::MutexLock lock(fake->mutex);
  std::memset(id, 7, kRekindleNcclIdBytes);
  const bool fails = fake->Befalls(0, Call::kMakeId, Fault::kFail);
  return Say(fails ? kRekindleNcclFailed : kRekindleNcclDone, error, error_size);
}

int Join(int /*device*/, int world, int rank, const unsigned char* id, RekindleNcclComm** comm, char* error,
         std::size_t error_size) {
  const common::MutexLock lock(fake->mutex);
  const bool known = std::all_of(id, id + kRekindleNcclIdBytes, [](unsigned char byte) { return byte == 7; });
  if (!known || fake->Befalls(rank, Call::kJoin, Fault::kFail)) return Say(kRekindleNcclFailed, error, error_size);
  fake->comms.push_back(std::make_unique<RekindleNcclComm>());
  *comm = fake->comms.back().get();
  (*comm)->rank = rank;
  (*comm)->world = world;
  fake->ranks.insert(rank);
  return kRekindleNcclPending;
}

int Start(RekindleNcclComm* comm, const RekindleNcclOperation* operation, char* error, std::size_t error_size) {
  const common::MutexLock lock(fake->mutex);
  const int result = fake->Answer(comm, Call::kStart, false);
  if (result == kRekindleNcclFailed) return Say(result, error, error_size);
  fake->operations[{comm->operations++, comm->rank}] = *operation;
  ++fake->started;
  comm->launching = true;
  return result;
}

int Poll(RekindleNcclComm* comm, char* error, std::size_t error_size) {
  const common::MutexLock lock(fake->mutex);
  if (!comm->joined) {
    const bool all = static_cast<int>(fake->ranks.size()) == comm->world;
    const int result = fake->Answer(comm, Call::kPollJoin, all);
    comm->joined = result == kRekindleNcclDone;
    return Say(result, error, error_size);
  }
  const int result = fake->Answer(comm, comm->launching ? Call::kPollStart : Call::kPollMarked, true);
  if (result == kRekindleNcclDone) comm->launching = false;
  return Say(result, error, error_size);
}

int Mark(RekindleNcclComm* comm, void* stream, char* error, std::size_t error_size) {
  const common::MutexLock lock(fake->mutex);
  if (stream == nullptr) ++fake->misused;
  return Say(fake->Answer(comm, Call::kMark, true), error, error_size);
}

int Marked(RekindleNcclComm* comm, char* error, std::size_t error_size) {
  const common::MutexLock lock(fake->mutex);
  return Say(fake->Answer(comm, Call::kMarked, fake->Done(*comm)), error, error_size);
}

void Abort(RekindleNcclComm* comm) {
  const common::MutexLock lock(fake->mutex);
  comm->alive ? ++fake->aborted : ++fake->misused;
  comm->alive = false;
  // After an abort, no call touches the buffers of the rank any more.
  std::erase_if(fake->operations, [&](const auto& entry) { return entry.first.second == comm->rank; });
}

constexpr RekindleNcclApi kFakeApi = {.make_id = &MakeId,
                                      .join = &Join,
                                      .start = &Start,
                                      .poll = &Poll,
                                      .mark = &Mark,
                                      .marked = &Marked,
                                      .abort = &Abort};

}  // namespace

bool FakeNccl::Impl::Done(const RekindleNcclComm& comm) {
  const int number = comm.operations - 1;
  const Operation& mine = operations.at({number, comm.rank});
  if (mine.kind == Operation::kSend || mine.kind == Operation::kRecv) {
    const auto theirs = operations.find({number, mine.peer});
    if (theirs == operations.end()) return false;
    // Sender and receiver both look whether the other has started. The first one that finds that both have started
    // copies the data. The other one does not copy the data again, because the first one's buffer may be gone by then.
    if (!reduced.insert(number).second) return true;
    const bool receives = mine.kind == Operation::kRecv;
    std::memcpy(receives ? mine.out : theirs->second.out, receives ? theirs->second.in : mine.in, mine.count);
    return true;
  }
  for (int rank = 0; rank < comm.world; ++rank) {
    if (!operations.contains({number, rank})) return false;
  }
  if (reduced.insert(number).second) Reduce(number, comm.world);
  return true;
}

// Carries out one operation of all ranks, as far as the tests need: sums of float32 and copies of bytes.
void FakeNccl::Impl::Reduce(int number, int world) {
  std::vector<float> sum;
  for (int rank = 0; rank < world; ++rank) {
    const Operation& from = operations.at({number, rank});
    const auto* values = static_cast<const float*>(from.in);
    if (from.kind == Operation::kAllReduce) {
      sum.resize(from.count);
      for (size_t i = 0; i < from.count; ++i) sum[i] += values[i];
    }
    for (int to = 0; to < world; ++to) {
      auto* out = static_cast<std::byte*>(operations.at({number, to}).out);
      if (from.kind == Operation::kAllGather) std::memcpy(out + from.count * rank, from.in, from.count);
      if (from.kind == Operation::kBroadcast && rank == from.peer && to != rank) std::memcpy(out, from.in, from.count);
    }
  }
  for (int rank = 0; rank < world && !sum.empty(); ++rank) {
    std::memcpy(operations.at({number, rank}).out, sum.data(), sum.size() * sizeof(float));
  }
}

FakeNccl::FakeNccl() : impl_(std::make_unique<Impl>()) { fake = impl_.get(); }
FakeNccl::~FakeNccl() { fake = nullptr; }
const RekindleNcclApi& FakeNccl::api() const { return kFakeApi; }

void FakeNccl::Befall(int rank, Call call, Fault fault) {
  const common::MutexLock lock(impl_->mutex);
  impl_->faults[{rank, call}] = fault;
}
int FakeNccl::made() const {
  const common::MutexLock lock(impl_->mutex);
  return static_cast<int>(impl_->comms.size());
}
int FakeNccl::aborted() const {
  const common::MutexLock lock(impl_->mutex);
  return impl_->aborted;
}
int FakeNccl::misused() const {
  const common::MutexLock lock(impl_->mutex);
  return impl_->misused;
}
int FakeNccl::started() const {
  const common::MutexLock lock(impl_->mutex);
  return impl_->started;
}

}  // namespace rekindle::comm
