#include "worker/comm/nccl/fake_nccl.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "worker/comm/connect/host_communicator.h"
#include "worker/comm/connect/listener.h"
#include "worker/comm/contract/communicator.h"
#include "worker/comm/contract/work.h"
#include "worker/comm/links/socket.h"
#include "worker/comm/watch/handshake.h"

namespace rekindle::comm {
namespace {

using Call = FakeNcclCall;
using Fault = FakeNcclFault;

constexpr int kScribble = 0xff;
// A rank that waits for its peers gives up after `kPatienceSeconds`, which is longer than any test and any deadline.
constexpr double kPatienceSeconds = 3600;
constexpr auto kLookAgain = std::chrono::milliseconds(1);
// Rank 0 joins an id soon after it made it, or never.
constexpr size_t kMostWaiting = 16;
// All ranks are on one machine.
constexpr char kHost[] = "127.0.0.1";

// Is what an id of NCCL's holds here: where rank 0 waits for the others, and the secret by which they know each other.
struct Id {
  std::array<char, 8> magic = {'F', 'A', 'K', 'E', 'N', 'C', 'C', 'L'};
  int32_t port = 0;
  Nonce secret = {};

  std::string Secret() const { return {reinterpret_cast<const char*>(secret.data()), secret.size()}; }
};
static_assert(sizeof(Id) <= kRekindleNcclIdBytes);

// A rank sends a Caller to rank 0, which answers with the ports of all ranks.
struct Caller {
  Nonce secret = {};
  int32_t rank = 0;
  int32_t port = 0;
};

// Is the state of the process.
struct Process {
  common::Mutex mutex;
  FakeNcclFaults faults ABSL_GUARDED_BY(mutex);
  // `waiting` has the newest ids that were made here and not joined yet: their ports and listeners.
  std::deque<std::pair<int, UniqueFd>> waiting ABSL_GUARDED_BY(mutex);
};
Process& ThisProcess() {
  // The process is never destroyed, because an abort that hangs may outlive everything else.
  static auto* const process = new Process;
  return *process;
}

Fault FaultOf(Call call, int rank) {
  FakeNcclFaults faults;
  {
    const common::MutexLock lock(ThisProcess().mutex);
    faults = ThisProcess().faults;
  }
  return faults ? faults(call, rank) : Fault::kNone;
}

int Failed(const std::string& why, char* error, std::size_t error_size) {
  std::snprintf(error, error_size, "%s", why.c_str());
  return kRekindleNcclFailed;
}

// Lets every rank learn the ports of all ranks. Rank 0 has `listener`.
absl::StatusOr<std::vector<int32_t>> GatherPorts(const Id& id, int world, int rank, int port, const UniqueFd& listener,
                                                 const WaitLimit& limit) {
  std::vector<int32_t> ports(static_cast<size_t>(world));
  const size_t bytes = ports.size() * sizeof(ports[0]);
  if (rank != 0) {
    absl::StatusOr<UniqueFd> root = ConnectTcp(absl::StrCat(kHost, ":", id.port), limit);
    if (!root.ok()) return root.status();
    const Caller caller{.secret = id.secret, .rank = rank, .port = port};
    absl::Status status = WriteFull(root->get(), &caller, sizeof(caller), limit);
    if (status.ok()) status = ReadFull(root->get(), ports.data(), bytes, limit);
    if (!status.ok()) return status;
    return ports;
  }
  ports[0] = port;
  std::vector<UniqueFd> callers;
  while (static_cast<int>(callers.size()) + 1 < world) {
    if (absl::Status status = WaitReady(listener.get(), POLLIN, limit); !status.ok()) return status;
    UniqueFd fd(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    Caller caller;
    if (!fd.valid() || !ReadFull(fd.get(), &caller, sizeof(caller), limit).ok()) continue;
    if (caller.secret != id.secret || caller.rank < 1 || caller.rank >= world) continue;
    ports[static_cast<size_t>(caller.rank)] = caller.port;
    callers.push_back(std::move(fd));
  }
  for (const UniqueFd& caller : callers) {
    // A caller that is gone is missed when the ranks connect.
    (void)WriteFull(caller.get(), ports.data(), bytes, limit);
  }
  return ports;
}

}  // namespace
}  // namespace rekindle::comm

struct RekindleNcclComm {
  RekindleNcclComm(const rekindle::comm::Id& the_id, int the_world, int the_rank, rekindle::comm::UniqueFd the_listener)
      : id(the_id), world(the_world), rank(the_rank), root(std::move(the_listener)) {}

  // Returns whether this rank notices that a peer is gone.
  bool Notices() const { return rank % 2 == 0; }

  const rekindle::comm::Id id;
  const int world;
  const int rank;
  const rekindle::comm::UniqueFd root;
  rekindle::comm::WakeFd cancel;

  rekindle::common::Mutex mutex;
  rekindle::common::CondVar changed;
  bool joined ABSL_GUARDED_BY(mutex) = false;
  bool aborted ABSL_GUARDED_BY(mutex) = false;
  std::string problem ABSL_GUARDED_BY(mutex);
  std::unique_ptr<rekindle::comm::Listener> listener;
  // `inner` carries the bytes. It is set once, before `joined`.
  std::unique_ptr<rekindle::comm::Communicator> inner;
  std::thread joiner;
  // `told_joined` is used by the thread that polls.
  bool told_joined = false;
};

namespace rekindle::comm {
namespace {

absl::Status Connect(RekindleNcclComm& comm) {
  const WaitLimit limit{common::SteadySeconds() + kPatienceSeconds, &comm.cancel};
  absl::StatusOr<std::unique_ptr<Listener>> listener = Listener::Create(absl::StrCat(kHost, ":0"), comm.id.Secret());
  if (!listener.ok()) return listener.status();
  comm.listener = *std::move(listener);
  const auto ports = GatherPorts(comm.id, comm.world, comm.rank, comm.listener->port(), comm.root, limit);
  if (!ports.ok()) return ports.status();
  HostOptions options{.generation = 1,
                      .rank = comm.rank,
                      .deadlines = {.connect_seconds = kPatienceSeconds, .progress_seconds = kPatienceSeconds}};
  for (const int32_t port : *ports) options.peers.push_back({absl::StrCat(kHost, ":", port), kHost});
  auto connected = ConnectHost(
      *comm.listener, std::move(options), [&comm] { return comm.cancel.IsSet(); }, nullptr);
  if (!connected.ok()) return connected.status();
  comm.inner = *std::move(connected);
  return absl::OkStatus();
}

int Version(int* version, char*, std::size_t) {
  *version = kFakeNcclVersion;
  return kRekindleNcclDone;
}

int MakeId(unsigned char* out, char* error, std::size_t error_size) {
  if (FaultOf(Call::kMakeId, 0) == Fault::kFail) return Failed("injected", error, error_size);
  Id id{.secret = RandomNonce()};
  absl::StatusOr<UniqueFd> listener = ListenTcp(absl::StrCat(kHost, ":0"), &id.port);
  if (!listener.ok()) return Failed(std::string(listener.status().message()), error, error_size);
  const common::MutexLock lock(ThisProcess().mutex);
  std::deque<std::pair<int, UniqueFd>>& waiting = ThisProcess().waiting;
  waiting.emplace_back(id.port, *std::move(listener));
  if (waiting.size() > kMostWaiting) waiting.pop_front();
  std::memset(out, 0, kRekindleNcclIdBytes);
  std::memcpy(out, &id, sizeof(id));
  return kRekindleNcclDone;
}

int Join(int /*device*/, int world, int rank, const unsigned char* given, RekindleNcclComm** out, char* error,
         std::size_t error_size) {
  Id id;
  const auto magic = id.magic;
  std::memcpy(&id, given, sizeof(id));
  if (FaultOf(Call::kJoin, rank) == Fault::kFail) return Failed("injected", error, error_size);
  UniqueFd listener;
  if (rank == 0) {
    const common::MutexLock lock(ThisProcess().mutex);
    for (auto& [port, made] : ThisProcess().waiting) {
      if (port == id.port) listener = std::move(made);
    }
    std::erase_if(ThisProcess().waiting, [](const auto& entry) { return !entry.second.valid(); });
  }
  if (id.magic != magic || (rank == 0 && !listener.valid())) return Failed("the id is not known", error, error_size);
  *out = new RekindleNcclComm(id, world, rank, std::move(listener));
  (*out)->joiner = std::thread([comm = *out] {
    const absl::Status status = Connect(*comm);
    const common::MutexLock lock(comm->mutex);
    comm->joined = status.ok();
    if (!status.ok() && comm->Notices()) comm->problem = std::string(status.message());
    comm->changed.NotifyAll();
  });
  return kRekindleNcclPending;
}

int Poll(RekindleNcclComm* comm, char* error, std::size_t error_size) {
  bool joined = false;
  {
    const common::MutexLock lock(comm->mutex);
    if (!comm->problem.empty()) return Failed(comm->problem, error, error_size);
    joined = comm->joined;
  }
  const Fault fault = FaultOf(comm->told_joined ? Call::kPoll : Call::kPollJoin, comm->rank);
  if (fault == Fault::kFail) return Failed("injected", error, error_size);
  if (!joined || fault == Fault::kHang) return kRekindleNcclPending;
  comm->told_joined = true;
  return kRekindleNcclDone;
}

Work Begin(Communicator& inner, const RekindleNcclOperation& o) {
  switch (o.kind) {
    case RekindleNcclOperation::kAllReduce:
      return inner.AllReduce(o.in, o.out, o.count, static_cast<DataType>(o.type), static_cast<ReduceOp>(o.op));
    case RekindleNcclOperation::kBroadcast:
      return inner.Broadcast(o.out, o.count, o.peer);
    case RekindleNcclOperation::kAllGather:
      return inner.AllGather(o.in, o.out, o.count);
    case RekindleNcclOperation::kSend:
      return inner.Send(o.in, o.count, o.peer);
    default:
      return inner.Recv(o.out, o.count, o.peer);
  }
}

// Fills the output of an operation that did not come to its end with NaN.
void Scribble(const RekindleNcclComm& comm, const RekindleNcclOperation& o) {
  if (o.kind == RekindleNcclOperation::kSend) return;
  if (o.kind == RekindleNcclOperation::kBroadcast && o.peer == comm.rank) return;
  const size_t parts = o.kind == RekindleNcclOperation::kAllGather ? static_cast<size_t>(comm.world) : 1;
  std::memset(o.out, kScribble, parts * o.count * SizeOf(static_cast<DataType>(o.type)));
}

// Waits until the communicator is aborted, as a kernel that waits for a peer does.
void AwaitAbort(RekindleNcclComm& comm) {
  common::MutexLock lock(comm.mutex);
  comm.changed.Wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(comm.mutex) { return comm.aborted; });
}

int Start(RekindleNcclComm* comm, const RekindleNcclOperation* operation, char* error, std::size_t error_size) {
  const Fault fault = FaultOf(Call::kStart, comm->rank);
  if (fault == Fault::kFail) return Failed("injected", error, error_size);
  absl::Status status = absl::InternalError("it hangs");
  if (fault == Fault::kNone) status = Begin(*comm->inner, *operation).Wait();
  if (status.ok()) return kRekindleNcclDone;
  if (fault == Fault::kHang || !comm->Notices()) AwaitAbort(*comm);
  Scribble(*comm, *operation);
  return Failed(std::string(status.message()), error, error_size);
}

void Abort(RekindleNcclComm* comm) {
  while (FaultOf(Call::kAbort, comm->rank) == Fault::kHang) std::this_thread::sleep_for(kLookAgain);
  comm->cancel.Set();
  comm->joiner.join();
  if (comm->inner != nullptr) comm->inner->Abort(absl::AbortedError("aborted"));
  const common::MutexLock lock(comm->mutex);
  comm->aborted = true;
  comm->changed.NotifyAll();
}

void Release(RekindleNcclComm* comm) {
  (void)FaultOf(Call::kRelease, comm->rank);
  delete comm;
}

int Finish(RekindleNcclComm* comm, char*, std::size_t) {
  comm->inner->Close();
  return kRekindleNcclDone;
}

constexpr RekindleNcclApi kFakeNccl = {.version = &Version,
                                       .make_id = &MakeId,
                                       .join = &Join,
                                       .start = &Start,
                                       .poll = &Poll,
                                       .finish = &Finish,
                                       .abort = &Abort,
                                       .release = &Release};

}  // namespace

const RekindleNcclApi& FakeNccl() { return kFakeNccl; }

void SetFakeNcclFaults(FakeNcclFaults faults) {
  const common::MutexLock lock(ThisProcess().mutex);
  ThisProcess().faults = std::move(faults);
}

}  // namespace rekindle::comm
