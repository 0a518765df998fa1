#include "cli/submit/send_bundle.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cli/text/number_text.h"
#include "cli/text/safe_text.h"
#include "common/time/clock.h"
#include "common/time/retry.h"

namespace rekindle::cli {
namespace {

using Json = nlohmann::ordered_json;

// A coordinator that was there before may be away for so long.
constexpr double kPatienceSeconds = 60;
// A call has so long, because it waits at the coordinator until its turn has come, and a piece may have a slow way.
constexpr auto kCallDeadline = std::chrono::seconds(120);
// So many answers may say that nothing was taken. One says so after a restart of the coordinator.
constexpr int kMostWithoutProgress = 100;
constexpr int kShortAddress = 12;
constexpr size_t kShownWithheld = 5;

bool IsForNow(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsCancelled(status);
}

// Sends one bundle from where the coordinator has it.
class Sender {
 public:
  Sender(Context& context, const common::PackedBundle& bundle) : context_(context), bundle_(bundle) {}

  absl::Status Run() {
    while (true) {
      const bool begins = !reply_;
      const absl::StatusOr<v1::PutBundleReply> reply = Call();
      if (reply.ok()) {
        reply_ = *reply;
        away_since_.reset();
        if (reply_->complete()) return absl::OkStatus();
        continue;
      }
      if (begins && !was_there_) return reply.status();
      // The coordinator may have forgotten a bundle that was not finished, or found that it has arrived changed. It is
      // then sent once more from its beginning.
      const bool is_lost = absl::IsNotFound(reply.status()) || absl::IsDataLoss(reply.status());
      if (is_lost && !std::exchange(began_anew_, true)) {
        reply_.reset();
        continue;
      }
      if (!IsForNow(reply.status()) || !Wait()) return reply.status();
    }
  }

 private:
  absl::StatusOr<v1::PutBundleReply> Call() {
    v1::PutBundleRequest request;
    request.set_address(bundle_.summary.address);
    request.set_bytes(static_cast<int64_t>(bundle_.packed.size()));
    if (reply_) {
      request.set_offset(reply_->have());
      request.set_data(bundle_.packed.substr(static_cast<size_t>(reply_->have()), common::kMaxBundlePieceBytes));
    }
    v1::PutBundleReply reply;
    grpc::ClientContext call;
    call.set_deadline(std::chrono::system_clock::now() + kCallDeadline);
    const absl::Status called = context_.Check(context_.coordinator().PutBundle(&call, request, &reply));
    if (!called.ok()) return called;
    was_there_ = true;
    const bool goes_on = reply.complete() || !reply_ || reply.have() > reply_->have();
    if (!goes_on && ++without_progress_ > kMostWithoutProgress) {
      return absl::InternalError("the coordinator takes no more of the bundle: install the same release on both");
    }
    // The packed form that the coordinator has may be of another size, because another release of zlib has made it.
    if (!reply.complete() && (reply.have() < 0 || reply.have() >= request.bytes())) {
      return absl::InternalError("the coordinator has another bundle under this address");
    }
    return reply;
  }

  bool Wait() {
    const double now = common::SteadySeconds();
    if (!away_since_) {
      away_since_ = now;
      retries_ = 0;
    }
    if (now - *away_since_ > kPatienceSeconds) return false;
    const double random = std::uniform_real_distribution<double>(0, 1)(random_);
    absl::SleepFor(absl::Seconds(common::BackoffSeconds({}, ++retries_, random)));
    return true;
  }

  Context& context_;
  const common::PackedBundle& bundle_;
  // `reply_` is the coordinator's newest answer. Without one the sender asks what is there.
  std::optional<v1::PutBundleReply> reply_;
  bool was_there_ = false;
  bool began_anew_ = false;
  int without_progress_ = 0;
  std::optional<double> away_since_;
  int retries_ = 0;
  std::minstd_rand random_{std::random_device()()};
};

std::string Files(int count) { return absl::StrCat(count, count == 1 ? " file" : " files"); }

}  // namespace

absl::Status SendBundle(Context& context, const common::PackedFolder& packed) {
  const common::BundleSummary& summary = packed.bundle.summary;
  if (absl::Status sent = Sender(context, packed.bundle).Run(); !sent.ok()) return sent;
  if (context.json()) return absl::OkStatus();
  // A .git and a .env are never missed, and a file with keys may be what the code reads.
  std::vector<std::string> withheld;
  for (const std::string& name : packed.found.withheld) {
    if (name != ".git/" && name != ".env") withheld.push_back(Printable(name));
  }
  if (!withheld.empty()) {
    const size_t others = withheld.size() - std::min(withheld.size(), kShownWithheld);
    withheld.resize(withheld.size() - others);
    std::cerr << "not sent, because they may hold keys or passwords: " << absl::StrJoin(withheld, ", ")
              << (others > 0 ? absl::StrCat(" and ", others, " more; `--dry-run` lists them") : "") << "\n";
  }
  std::cerr << "sent " << Files(summary.files) << ", " << Short(static_cast<double>(summary.bytes)) << " bytes, of "
            << Printable(packed.found.folder) << " as bundle " << summary.address.substr(0, kShortAddress) << "\n";
  return absl::OkStatus();
}

void PrintBundle(const Context& context, const common::PackedFolder& packed) {
  const common::BundleSummary& summary = packed.bundle.summary;
  if (context.json()) {
    Json files = Json::array();
    for (const common::BundleEntry& file : packed.found.files) {
      files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"executable", file.executable}});
    }
    std::cout << Json{{"bundle", summary.address},
                      {"folder", packed.found.folder},
                      {"files", files},
                      {"bytes", summary.bytes},
                      {"packed_bytes", packed.bundle.packed.size()},
                      {"withheld", packed.found.withheld}}
                     .dump(1, ' ', false, Json::error_handler_t::replace)
              << "\n";
    return;
  }
  for (const common::BundleEntry& file : packed.found.files) {
    std::cout << Short(static_cast<double>(file.bytes)) << "\t" << Printable(file.name) << (file.executable ? "*" : "")
              << "\n";
  }
  for (const std::string& name : packed.found.withheld) std::cout << "never sent\t" << Printable(name) << "\n";
  std::cout << Files(summary.files) << ", " << Short(static_cast<double>(summary.bytes)) << " bytes ("
            << Short(static_cast<double>(packed.bundle.packed.size())) << " packed), would be sent of "
            << Printable(packed.found.folder) << " as bundle " << summary.address << "; nothing was sent\n";
}

}  // namespace rekindle::cli
