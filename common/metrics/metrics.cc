#include "common/metrics/metrics.h"

#include <prometheus/text_serializer.h>

#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/agreed/version.h"
#include "common/check/check.h"
#include "common/metrics/process_metrics.h"

namespace rekindle::common {
namespace {

constexpr char kPath[] = "/metrics";
constexpr char kTextFormat[] = "text/plain; version=0.0.4; charset=utf-8";

constexpr char kPrefix[] = "rekindle_";
constexpr char kPrefixed[] = "the name of a metric begins with rekindle_";

void AddBuildInfo(MetricSamples& samples) {
  samples.Gauge("rekindle_build_info", "1; the labels say what this program is built of.", 1,
                {{"version", kVersion}, {"protocol", absl::StrCat(kProtocolVersion)}});
}

}  // namespace

Metrics::Metrics() : registry_(std::make_unique<prometheus::Registry>()), sources_{AddBuildInfo, AddProcessMetrics} {}

Metrics::~Metrics() = default;

prometheus::Counter& Metrics::Counter(const std::string& name, const std::string& help, const Labels& labels) {
  Check(absl::StartsWith(name, kPrefix), kPrefixed);
  return prometheus::BuildCounter().Name(name).Help(help).Register(*registry_).Add(labels);
}

prometheus::Gauge& Metrics::Gauge(const std::string& name, const std::string& help, const Labels& labels) {
  Check(absl::StartsWith(name, kPrefix), kPrefixed);
  return prometheus::BuildGauge().Name(name).Help(help).Register(*registry_).Add(labels);
}

prometheus::Histogram& Metrics::Histogram(const std::string& name, const std::string& help, const Buckets& buckets,
                                          const Labels& labels) {
  Check(absl::StartsWith(name, kPrefix), kPrefixed);
  return prometheus::BuildHistogram().Name(name).Help(help).Register(*registry_).Add(labels, buckets);
}

void Metrics::AddSource(Source source) {
  Check(server_ == nullptr, "sources are added before the metrics are served");
  sources_.push_back(std::move(source));
}

Metrics::Buckets Metrics::Seconds() {
  Buckets buckets;
  for (double bound = 0.001; bound < 150; bound *= 2) buckets.push_back(bound);
  return buckets;
}

std::string Metrics::Page() const {
  MetricSamples samples;
  for (const Source& source : sources_) source(samples);
  std::vector<prometheus::MetricFamily> families = registry_->Collect();
  for (prometheus::MetricFamily& family : samples.Take()) families.push_back(std::move(family));
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return text.str();
}

absl::StatusOr<std::string> Metrics::Serve(const std::string& address, const Security& security) {
  const auto answer = [this](const HttpRequest& request) -> HttpAnswer {
    if (request.path != kPath) {
      return {404, {{"content-type", "text/plain; charset=utf-8"}}, absl::StrCat("metrics are at ", kPath, "\n")};
    }
    return {200, {{"content-type", kTextFormat}}, Page()};
  };
  HttpServer::Options options;
  options.listen = address;
  options.flag = "--metrics";
  options.security = security;
  absl::StatusOr<std::unique_ptr<HttpServer>> server = HttpServer::Start(std::move(options), answer);
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  return server_->address();
}

void Metrics::StopServing() { server_.reset(); }

}  // namespace rekindle::common
