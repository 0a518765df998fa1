// A streamed reply that pulls its messages on the loop's thread, a few at a time, and waits on a topic when there are
// none. Holds no thread; deletes itself when the call is over.
#ifndef REKINDLE_COORDINATOR_SERVER_STREAM_H_
#define REKINDLE_COORDINATOR_SERVER_STREAM_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "common/rpc.h"
#include "coordinator/server/loop.h"

namespace rekindle::coordinator {

inline uint64_t NextStreamId() {
  static std::atomic<uint64_t> next{1};
  return next++;
}

// Tells the caller that its stream is served, whenever there will be something to say. Before anything else of it.
template <typename Reactor>
void SayServed(grpc::CallbackServerContext* context, Reactor* reactor) {
  context->AddInitialMetadata(common::kServesStream, "1");
  reactor->StartSendInitialMetadata();
}

template <typename Message>
class Stream final : public grpc::ServerWriteReactor<Message> {
 public:
  struct Pulled {
    std::vector<Message> messages;     // Empty: ended, or wait.
    absl::StatusOr<bool> more = true;  // False: the stream ends well after these; an error ends it with that.
    Bulletin::Wait wait;
  };
  using Pull = std::function<Pulled()>;  // On the loop's thread.

  static Stream* Start(grpc::CallbackServerContext* context, Loop* loop, Pull pull) {
    auto* stream = new Stream(loop, std::move(pull));
    SayServed(context, stream);
    stream->Fetch();
    return stream;
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return this->Finish(grpc::Status::CANCELLED);
    if (++next_ < pulled_.messages.size()) return this->StartWrite(&pulled_.messages[next_]);
    Fetch();
  }

  void OnCancel() override {
    cancelled_ = true;
    // When the loop has ended, it has woken this stream already.
    loop_->Post([loop = loop_, id = id_] { loop->bulletin().Wake(id); }).IgnoreError();
  }

  void OnDone() override { delete this; }

 private:
  Stream(Loop* loop, Pull pull) : loop_(loop), pull_(std::move(pull)) {}
  ~Stream() override = default;

  // One of these owns the stream at a time: a write in flight, a task in the queue, a wait. So Finish is called once.
  void Fetch() {
    const absl::Status posted = loop_->Post([this] { OnLoop(); });
    if (!posted.ok()) this->Finish(common::StatusToGrpc(posted));
  }

  void OnLoop() {
    if (cancelled_) return this->Finish(grpc::Status::CANCELLED);
    if (!loop_->ended().ok()) return this->Finish(common::StatusToGrpc(loop_->ended()));
    if (pulled_.more.ok() && !*pulled_.more) return this->Finish(grpc::Status::OK);
    pulled_ = pull_();
    next_ = 0;
    if (!pulled_.more.ok()) return this->Finish(common::StatusToGrpc(pulled_.more.status()));
    if (!pulled_.messages.empty()) return this->StartWrite(&pulled_.messages[0]);
    if (!*pulled_.more) return this->Finish(grpc::Status::OK);
    loop_->bulletin().Await(id_, pulled_.wait, [this] { OnLoop(); });
  }

  Loop* const loop_;
  const Pull pull_;
  const uint64_t id_ = NextStreamId();
  std::atomic<bool> cancelled_{false};
  Pulled pulled_;
  size_t next_ = 0;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_STREAM_H_
