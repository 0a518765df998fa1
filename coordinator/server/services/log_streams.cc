#include "coordinator/server/services/log_streams.h"

#include <atomic>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/rpc/rpc.h"
#include "coordinator/core/state/text.h"
#include "coordinator/server/services/stream.h"

namespace rekindle::coordinator {
namespace {

// All nodes are listed at most every `kNodesSeconds` seconds, because there are many.
constexpr double kNodesSeconds = 1;
// A drained node of which nothing was heard for `kLeftSeconds` seconds counts as gone.
constexpr double kLeftSeconds = 15;

LogNodes ListNodes(const Loop& loop) {
  LogNodes nodes;
  for (const v1::Node& node : loop.cluster().Nodes(loop.core_now())) {
    const bool has_left =
        node.state() == "drained" && (node.last_seen_seconds() < 0 || node.last_seen_seconds() > kLeftSeconds);
    nodes[node.name()] = {node.incarnation(), node.state() == "lost" || has_left};
  }
  return nodes;
}

v1::LogPosition NotWelcome(const v1::LogPiece& piece) {
  v1::LogPosition position;
  position.set_job_uid(piece.job_uid());
  position.set_trainer(piece.trainer());
  position.set_not_welcome(true);
  return position;
}

size_t BytesOf(const v1::LogReport& report) {
  size_t bytes = 0;
  for (const v1::LogPiece& piece : report.pieces()) bytes += piece.ByteSizeLong();
  return bytes;
}

}  // namespace

bool MayAddLines(const Loop& loop, const v1::LogReport& report, const v1::LogPiece& piece) {
  const JobBoard::JobPointer job = loop.jobs().Find(piece.job_uid());
  return job != nullptr && job->uid() == piece.job_uid() && core::NodeOf(piece.trainer()) == report.node();
}

bool RunsThere(const Loop& loop, const v1::LogReport& report, const v1::LogPiece& piece) {
  return loop.log_senders().May(report.node(), piece.job_uid(), loop.cluster());
}

LogStreams::LogStreams(Loop* loop, LogDesk* desk, std::string process)
    : loop_(loop), desk_(desk), process_(std::move(process)) {}

std::shared_ptr<const LogNodes> LogStreams::Nodes() {
  const double now = loop_->now();
  if (nodes_ == nullptr || now >= nodes_at_ + kNodesSeconds) {
    nodes_ = std::make_shared<const LogNodes>(ListNodes(*loop_));
    nodes_at_ = now;
  }
  return nodes_;
}

void LogStreams::Keep(const v1::LogReport* request, v1::LogReply* reply, grpc::ServerUnaryReactor* reactor) {
  absl::Status status;
  if (request->pieces_size() > kMaxPieces) {
    status = absl::InvalidArgumentError(absl::StrCat("at most ", kMaxPieces, " pieces of logs in one report"));
  }
  for (const v1::LogPiece& piece : request->pieces()) status.Update(LogStore::Check(piece));
  if (status.ok()) status = loop_->inbox().Post([=, this] { KeepOnLoop(request, reply, reactor); });
  if (!status.ok()) reactor->Finish(common::StatusToGrpc(status));
}

void LogStreams::KeepOnLoop(const v1::LogReport* request, v1::LogReply* reply, grpc::ServerUnaryReactor* reactor) {
  if (!loop_->ended().ok()) return reactor->Finish(common::StatusToGrpc(loop_->ended()));
  enum class Welcome { kNo, kIfKnown, kYes };
  std::vector<Welcome> welcome;
  for (const v1::LogPiece& piece : request->pieces()) {
    const bool may = MayAddLines(*loop_, *request, piece);
    welcome.push_back(!may ? Welcome::kNo : RunsThere(*loop_, *request, piece) ? Welcome::kYes : Welcome::kIfKnown);
  }
  const auto keep = [this, request, reply, reactor, welcome = std::move(welcome)] {
    reply->set_process(process_);
    for (int i = 0; i < request->pieces_size(); ++i) {
      const v1::LogPiece& piece = request->pieces(i);
      // The records may not show any more that the trainer ran on the node. But it did run there if the log already has
      // lines of the trainer.
      JobLog* log = welcome[i] == Welcome::kIfKnown ? desk_->store().Find(piece.job_uid()) : nullptr;
      const bool is_known = log != nullptr && log->Find(piece.trainer()) != nullptr;
      if (welcome[i] != Welcome::kYes && !is_known) {
        *reply->add_positions() = NotWelcome(piece);
        continue;
      }
      *reply->add_positions() = desk_->store().Keep(piece, request->incarnation());
      desk_->bulletin().Publish(piece.job_uid());
    }
    reactor->Finish(grpc::Status::OK);
  };
  const absl::Status posted = desk_->Post(keep, BytesOf(*request));
  if (!posted.ok()) reactor->Finish(common::StatusToGrpc(posted));
}

// Serves one call of ReadLog. Each page of the log is requested on the loop's thread, read on the thread of the
// LogDesk, and then sent to the caller. At any time only one of these owns the call: a task in a queue, a write in
// flight, or a wait for new lines. So Finish is called once.
class LogStreams::ReadCall final : public grpc::ServerWriteReactor<v1::LogLines> {
 public:
  ReadCall(grpc::CallbackServerContext* context, LogStreams* streams, v1::ReadLogRequest request)
      : streams_(streams), request_(std::move(request)) {
    SayServed(context, this);
    Fetch();
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);
    Fetch();
  }
  void OnCancel() override {
    cancelled_ = true;
    // Post fails if the LogDesk has ended. Nothing has to be done then, because the LogDesk has woken all waiting calls
    // when it ended.
    (void)streams_->desk_->Post([desk = streams_->desk_, id = id_] { desk->bulletin().Wake(id); });
  }
  void OnDone() override { delete this; }

 private:
  void Fetch() {
    const absl::Status posted = streams_->loop_->inbox().Post([this] { OnLoop(); });
    if (!posted.ok()) Finish(common::StatusToGrpc(posted));
  }

  void OnLoop() {
    if (cancelled_) return Finish(grpc::Status::CANCELLED);
    const Loop& loop = *streams_->loop_;
    if (!loop.ended().ok()) return Finish(common::StatusToGrpc(loop.ended()));
    if (!pulled_.more) return Finish(grpc::Status::OK);
    const JobBoard::JobPointer job = loop.jobs().Find(feed_ ? uid_ : request_.job());
    if (job == nullptr) return Finish(common::StatusToGrpc(NoJob(request_.job())));
    if (!feed_) {
      // The call keeps the job's uid, because a later job of the same name is a different job.
      uid_ = job->uid();
      feed_.emplace(uid_, request_);
    }
    const LogFeed::Facts facts{streams_->Nodes(), IsOver(*job), LogDesk::now(), loop.unix_now()};
    const absl::Status posted = streams_->desk_->Post([this, facts] { OnDesk(facts); });
    if (!posted.ok()) Finish(common::StatusToGrpc(posted));
  }

  void OnDesk(const LogFeed::Facts& facts) {
    LogDesk& desk = *streams_->desk_;
    pulled_ = feed_->Pull(desk.store(), desk.bulletin(), facts);
    if (!pulled_.lines.lines().empty()) return StartWrite(&pulled_.lines);
    if (!pulled_.more) return Finish(grpc::Status::OK);
    desk.bulletin().Await(id_, pulled_.wait, [this] { Fetch(); });
  }

  LogStreams* const streams_;
  const v1::ReadLogRequest request_;
  const uint64_t id_ = NextStreamId();
  std::atomic<bool> cancelled_{false};
  std::string uid_;
  std::optional<LogFeed> feed_;
  LogFeed::Pulled pulled_;
};

grpc::ServerWriteReactor<v1::LogLines>* LogStreams::Read(grpc::CallbackServerContext* context,
                                                         const v1::ReadLogRequest& request) {
  return new ReadCall(context, this, request);
}

}  // namespace rekindle::coordinator
