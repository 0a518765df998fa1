// Loads a coordinator with Trainers.RenewLease, the call in which ranks ask all the time whether their generation still
// stands.
//
//   rekindle-bench-lease-load --endpoint HOST:PORT --job FILE.json --jobs 1000 --seconds 10
//
// It starts that many jobs of one rank each. Their nodes and trainers are no processes: the program only sends their
// reports. Then it makes the call for all ranks in turn, as fast as it is answered. It prints a line of JSON: {"calls":
// n, "seconds": s, "failed": n, "p99_seconds": s}. Then it prints {"stood": n}, the number of answers that said that
// the generation stands.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>
#include <optional>

#include "bench/coordinator/call_lanes.h"
#include "common/agreed/version.h"
#include "google/protobuf/util/json_util.h"
#include "rekindle/v1/coordinator.grpc.pb.h"
#include "rekindle/v1/node.grpc.pb.h"
#include "rekindle/v1/trainer.grpc.pb.h"

namespace rekindle::bench {
namespace {

// All jobs must train within `kStartSeconds` of their submits.
constexpr double kStartSeconds = 120;

struct Options {
  std::string endpoint, job_file;
  int jobs = 1000, connections = 50, in_flight = 4;
  double seconds = 10;
};

// Ends the program if the coordinator does not do what the bench needs in order to load it.
void Check(const grpc::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "error: %s\n", status.error_message().c_str());
  std::exit(1);
}

void SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
}

void SubmitAll(const Options& options, const std::shared_ptr<grpc::Channel>& channel) {
  std::ifstream file(options.job_file);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  v1::SubmitJobRequest request;
  if (!google::protobuf::util::JsonStringToMessage(text, request.mutable_job()).ok()) {
    std::fprintf(stderr, "error: %s is no job\n", options.job_file.c_str());
    std::exit(1);
  }
  const auto stub = v1::Coordinator::NewStub(channel);
  for (int i = 0; i < options.jobs; ++i) {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::Job job;
    request.mutable_job()->set_name("job-" + std::to_string(i));
    request.set_request_id("load-" + std::to_string(i));
    Check(stub->SubmitJob(&context, request, &job));
  }
}

// Models one node, its only trainer, and the RenewLease request that the trainer can send once its generation began.
class Rank {
 public:
  explicit Rank(int number) {
    node_.set_node("node-" + std::to_string(number));
    node_.set_incarnation("i");
    node_.set_agent_incarnation("a");
    node_.set_protocol_version(common::kProtocolVersion);
    node_.set_version(common::kVersion);
    node_.set_slots(1);
    node_.mutable_device()->set_kind("cpu");
  }
  // Sends the reports of the node and the trainer that are due. Returns true once the rank trains.
  bool Report(v1::Nodes::Stub& nodes, v1::Trainers::Stub& trainers) {
    if (renewal_) return true;
    if (trainer_.trainer().empty()) ReportNode(nodes);
    if (!trainer_.trainer().empty()) ReportTrainer(trainers);
    return renewal_.has_value();
  }
  const v1::RenewLeaseRequest& renewal() const { return *renewal_; }

 private:
  void ReportNode(v1::Nodes::Stub& stub) {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::NodeDirective directive;
    Check(stub.Sync(&context, node_, &directive));
    if (directive.trainers_size() == 0) return;
    const v1::DesiredTrainer& wanted = directive.trainers(0);
    trainer_.set_job_uid(wanted.job_uid());
    trainer_.set_job_secret(wanted.job_secret());
    trainer_.set_node(node_.node());
    trainer_.set_trainer(node_.node() + "/0/1");
    trainer_.set_protocol_version(common::kProtocolVersion);
    trainer_.set_address("127.0.0.1:1");
    trainer_.set_host("host");
    trainer_.set_phase(v1::TRAINER_READY);
    trainer_.set_micro_batch_seconds(0.01);
    trainer_.set_data_fingerprint("data");
    trainer_.set_probe_digest("probe");
  }
  void ReportTrainer(v1::Trainers::Stub& stub) {
    grpc::ClientContext context;
    SetDeadline(context);
    trainer_.set_sequence(trainer_.sequence() + 1);
    v1::TrainerDirective directive;
    Check(stub.Sync(&context, trainer_, &directive));
    if (directive.action() != v1::TrainerDirective::RUN) return;
    renewal_.emplace();
    renewal_->set_job_uid(trainer_.job_uid());
    renewal_->set_job_secret(trainer_.job_secret());
    renewal_->set_generation(directive.membership().generation());
    renewal_->set_digest(directive.membership().digest());
    *renewal_->mutable_obeys() = directive.identity();
  }

  v1::NodeReport node_;
  v1::TrainerReport trainer_;
  std::optional<v1::RenewLeaseRequest> renewal_;
};

std::vector<Rank> StartAll(const Options& options, const std::shared_ptr<grpc::Channel>& channel) {
  const auto nodes = v1::Nodes::NewStub(channel);
  const auto trainers = v1::Trainers::NewStub(channel);
  std::vector<Rank> ranks;
  for (int i = 0; i < options.jobs; ++i) ranks.emplace_back(i);
  const double until = common::SteadySeconds() + kStartSeconds;
  for (int train = 0; train < options.jobs;) {
    if (common::SteadySeconds() > until) {
      std::fprintf(stderr, "error: of %d jobs only %d train\n", options.jobs, train);
      std::exit(1);
    }
    train = 0;
    for (Rank& rank : ranks) train += rank.Report(*nodes, *trainers) ? 1 : 0;
  }
  return ranks;
}

int Renew(const Options& options) {
  using RenewalLane = Lane<v1::RenewLeaseRequest, v1::RenewLeaseReply>;
  const auto channel = Connect(options.endpoint);
  SubmitAll(options, channel);
  const std::vector<Rank> ranks = StartAll(options, channel);
  std::printf("%s\n", nlohmann::json{{"jobs", ranks.size()}}.dump().c_str());
  std::fflush(stdout);
  std::vector<std::shared_ptr<v1::Trainers::Stub>> stubs;
  for (int i = 0; i < options.connections; ++i) stubs.push_back(v1::Trainers::NewStub(Connect(options.endpoint)));
  Load load;
  std::atomic<int> next{0}, stood{0};
  const double until = common::SteadySeconds() + options.seconds;
  std::vector<std::unique_ptr<RenewalLane>> lanes;
  for (int i = 0; i < options.connections * options.in_flight; ++i) {
    lanes.push_back(std::make_unique<RenewalLane>(
        load,
        [stub = stubs[i % stubs.size()]](grpc::ClientContext* context, const v1::RenewLeaseRequest* request,
                                         v1::RenewLeaseReply* reply, std::function<void(grpc::Status)> done) {
          stub->async()->RenewLease(context, request, reply, std::move(done));
        },
        [&](const v1::RenewLeaseReply& last, v1::RenewLeaseRequest* request) {
          if (last.stands()) ++stood;
          if (common::SteadySeconds() >= until) return false;
          *request = ranks[static_cast<size_t>(next++) % ranks.size()].renewal();
          return true;
        }));
  }
  load.Print(RunLanes(lanes));
  std::printf("%s\n", nlohmann::json{{"stood", stood.load()}}.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace rekindle::bench

int main(int argc, char** argv) {
  rekindle::bench::Options options;
  CLI::App app("Loads a coordinator with renewals of leases.");
  app.add_option("--endpoint", options.endpoint, "host:port")->required();
  app.add_option("--job", options.job_file, "A job as JSON")->required();
  app.add_option("--jobs", options.jobs, "Of one rank each")->check(CLI::Range(1, 20'000));
  app.add_option("--connections", options.connections)->check(CLI::Range(1, 1000));
  app.add_option("--seconds", options.seconds)->check(CLI::Range(0.1, 600.0));
  CLI11_PARSE(app, argc, argv);
  return rekindle::bench::Renew(options);
}
