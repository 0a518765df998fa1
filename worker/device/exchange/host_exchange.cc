#include "worker/device/exchange/host_exchange.h"

#include <utility>
#include <vector>

#include "common/check/check.h"
#include "worker/comm/contract/work.h"
#include "worker/device/exchange/pieces.h"

namespace rekindle::device {
namespace {

class HostExchange final : public Exchange {
 public:
  HostExchange(Device& device, comm::Communicator& communicator) : device_(device), communicator_(communicator) {
    common::Check(device.IsHost(), "a communicator uses the memory of the host only");
  }
  ~HostExchange() override { (void)WaitAll(); }

  Ticket AllReduce(const Range& in, const Range& out, comm::DataType type) override {
    return Begin({.name = "reduce", .reads = {in}, .writes = {out}}, [&, bytes = in.bytes](const Addresses& at) {
      ForEachPiece(bytes, kMostReducedBytes, [&](int64_t offset, int64_t count) {
        Add(communicator_.AllReduce(at.Read<char>(0) + offset, at.Write<char>(0) + offset,
                                    static_cast<size_t>(count) / comm::SizeOf(type), type, comm::ReduceOp::kSum));
      });
    });
  }
  Ticket Broadcast(const Range& buffer, int root) override {
    return Begin({.name = "broadcast", .reads = {}, .writes = {buffer}}, [&](const Addresses& at) {
      ForEachPiece(buffer.bytes, kMostMovedBytes, [&](int64_t offset, int64_t count) {
        Add(communicator_.Broadcast(at.Write<char>(0) + offset, static_cast<size_t>(count), root));
      });
    });
  }
  Ticket Send(const Range& from, int peer) override {
    return Begin({.name = "send", .reads = {from}, .writes = {}}, [&](const Addresses& at) {
      ForEachPiece(from.bytes, kMostMovedBytes, [&](int64_t offset, int64_t count) {
        Add(communicator_.Send(at.Read<char>(0) + offset, static_cast<size_t>(count), peer));
      });
    });
  }
  Ticket Recv(const Range& to, int peer) override {
    return Begin({.name = "receive", .reads = {}, .writes = {to}}, [&](const Addresses& at) {
      ForEachPiece(to.bytes, kMostMovedBytes, [&](int64_t offset, int64_t count) {
        Add(communicator_.Recv(at.Write<char>(0) + offset, static_cast<size_t>(count), peer));
      });
    });
  }
  Ticket AllGather(const void* in, void* out, size_t bytes) override {
    begun_.emplace_back();
    Add(communicator_.AllGather(in, out, bytes));
    return begun_.size() - 1;
  }

  absl::Status Wait(Ticket ticket) override {
    absl::Status first;
    for (const comm::Work& work : std::exchange(begun_[ticket], {})) first.Update(work.Wait());
    first.Update(device_.Await({}, nullptr));
    return first;
  }
  absl::Status WaitAll() override {
    absl::Status first;
    for (Ticket ticket = 0; ticket < begun_.size(); ++ticket) first.Update(Wait(ticket));
    begun_.clear();
    return first;
  }

  comm::Communicator& communicator() override { return communicator_; }

 private:
  // Runs an operation that issues those of the communicator. They go on to use the memory after it has run.
  template <typename Issue>
  Ticket Begin(Operation operation, const Issue& issue) {
    begun_.emplace_back();
    operation.run = [&](const Addresses& at) {
      issue(at);
      return absl::OkStatus();
    };
    device_.Run(Queue::kExchange, std::move(operation));
    return begun_.size() - 1;
  }
  void Add(comm::Work work) { begun_.back().push_back(std::move(work)); }

  Device& device_;
  comm::Communicator& communicator_;
  // `begun_` has the works of each operation, in the order of the tickets.
  std::vector<std::vector<comm::Work>> begun_;
};

}  // namespace

std::unique_ptr<Exchange> MakeHostExchange(Device& device, comm::Communicator& communicator) {
  return std::make_unique<HostExchange>(device, communicator);
}

}  // namespace rekindle::device
