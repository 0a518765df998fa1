#include "coordinator/program/flags.h"

#include <cstdlib>

#include "common/agreed/allow_code.h"
#include "common/agreed/release.h"
#include "common/spec/flag_values.h"

namespace rekindle::coordinator {
namespace {

constexpr uint64_t kSmallestLog = 1 << 20;
constexpr uint64_t kLargestLog = uint64_t{1} << 50;
constexpr uint64_t kSmallestBundles = 1 << 20;
constexpr uint64_t kSmallestBundleRate = 64 << 10;

void AddNetworkFlags(CLI::App& app, Flags& flags) {
  CoordinatorServer::Options& options = flags.options;
  common::Security& security = options.rpc.security;
  app.add_option("--data", options.data, "Folder for the state; created when missing")->required();
  app.add_option("--listen", options.rpc.listen, "host:port; port 0 takes any free one")->capture_default_str();
  app.add_option("--advertise", options.advertise, "host:port that others connect to, when it is not that of --listen");
  app.add_option("--metrics", options.metrics,
                 "host:port for Prometheus, beyond loopback by TLS and token; empty: none")
      ->capture_default_str();
  app.add_option("--web", flags.web,
                 "host:port for the web page (docs/web.md); beyond loopback with TLS; port 0 takes any free one; "
                 "empty: none")
      ->capture_default_str();
  app.add_option("--tls-cert", security.tls_cert, "PEM certificate (REKINDLE_TLS_CERT)");
  app.add_option("--tls-key", security.tls_key, "PEM key of --tls-cert (REKINDLE_TLS_KEY)");
  app.add_option("--tls-ca", security.tls_ca, "PEM authority of the clients (REKINDLE_TLS_CA)");
  app.add_option("--token-file", security.token_file,
                 "File with the token that calls must carry (REKINDLE_TOKEN_FILE); on loopback it is DATA/token, which "
                 "is made, unless another is named");
}

void AddJobFlags(CLI::App& app, CoordinatorServer::Options& options) {
  app.add_option("--default-store", options.defaults.store,
                 "Where jobs keep checkpoints: file:///folder, s3://bucket/prefix, gs://... or abfs://...");
  app.add_option("--data-root", options.data_roots,
                 "A folder that jobs may read; may be given several times. Default: on loopback /, else what each node "
                 "says (rekindle-worker --data-root)");
  app.add_option(
         "--allow-code", options.allow_code,
         "off, on or unisolated: whether jobs may bring code of their own, such as a Python model. Each node has "
         "the same flag, and only with `unisolated` there it runs such code without isolation beyond loopback. With "
         "`off`, jobs of before that have such code get no more workers, and those that they have go on. "
         "Default: on where this coordinator is on loopback, else off")
      ->check(CLI::IsMember({common::kCodeOff, common::kCodeOn, common::kCodeUnisolated}));
  app.add_option("--store-endpoint", options.store_endpoints,
                 "HOST[:PORT] of an object store of your own, which jobs may name by endpoint_override; may be given "
                 "several times. That of --default-store is one, and on loopback all on loopback are");
  app.add_option(
      "--fleet", options.fleet,
      "Fleet file: what nodes cost (docs/costs.md) and how to get them (docs/fleet.md); read again on SIGHUP");
  app.add_flag("--end-local-machines", options.end_local_machines,
               "Machines of local pools drain and end with this coordinator; else they stay for the next one");
}

void AddKeepingFlags(CLI::App& app, Flags& flags) {
  CoordinatorServer::Options& options = flags.options;
  app.add_option(
         "--listen-first", options.listen_seconds,
         "Seconds to listen who lives, before anything is decided on records that were brought back from a copy")
      ->check(CLI::Range(1.0, 600.0))
      ->capture_default_str();
  app.add_option(
         "--alone-seconds", options.tunables.alone_seconds,
         "Machines that the fleet file's providers were asked for end themselves after so many seconds without a "
         "coordinator; 0: never (docs/fleet.md)")
      ->check(common::NumberFrom(0))
      ->capture_default_str();
  app.add_option("--keep-jobs", options.tunables.keep_jobs,
                 "So many jobs that are over are kept; those that ended first are forgotten (docs/operations.md)")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  app.add_option("--keep-days", options.tunables.keep_days, "Jobs that are over are forgotten after so many days")
      ->check(CLI::Range(1.0 / 24, 36'500.0))
      ->capture_default_str();
  app.add_option("--state-limit", flags.state_gib, "GiB that the database in --data may grow to")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--logs-per-job", options.job_log_bytes,
                 "Bytes that are kept in --data of what a job's trainers wrote, as 64MiB; the oldest go first")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(kSmallestLog, kLargestLog))
      ->type_name("SIZE")
      ->default_str("64MiB");
  app.add_option("--logs-total", options.log_bytes, "Bytes that are kept of all jobs' together")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(kSmallestLog, kLargestLog))
      ->type_name("SIZE")
      ->default_str("4GiB");
  app.add_option("--bundles-total", options.bundle_bytes,
                 "Bytes that are kept in --data of the bundles of users' own models, at most a tenth of its disk")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(kSmallestBundles, kLargestLog))
      ->type_name("SIZE")
      ->default_str("4GiB");
  app.add_option("--bundles-rate", options.bundle_rate, "Bytes of bundles that are moved in a second at most")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(kSmallestBundleRate, kLargestLog))
      ->type_name("SIZE")
      ->default_str("64MiB");
  app.add_option("--alert-webhook", options.alert_webhook,
                 "http or https URL that gets a POST for each alert about a budget (REKINDLE_ALERT_WEBHOOK)");
}

// Adds flags that are hidden, because they are for tests.
void AddTestFlags(CLI::App& app, core::Tunables& tunables) {
  app.add_option("--lease-seconds", tunables.lease_seconds)->group("");
  app.add_option("--lease-save-seconds", tunables.lease_save_seconds)->group("");
  app.add_option("--lease-step-seconds", tunables.lease_step_seconds)->group("");
  app.add_option("--register-seconds", tunables.register_seconds)->group("");
  app.add_option("--return-seconds", tunables.return_seconds)->group("");
}

}  // namespace

Flags FlagsFromEnvironment() {
  Flags flags;
  CoordinatorServer::Options& options = flags.options;
  options.rpc.listen = "127.0.0.1:7070";
  options.rpc.security = common::Security::FromEnvironment();
  options.own_token = true;
  if (const char* precision = std::getenv("REKINDLE_DEFAULT_PRECISION")) options.defaults.precision = precision;
  if (const char* policy = std::getenv("REKINDLE_PRECISION_POLICY")) options.defaults.precision_policy = policy;
  if (const char* webhook = std::getenv("REKINDLE_ALERT_WEBHOOK")) options.alert_webhook = webhook;
  return flags;
}

void AddFlags(CLI::App& app, Flags& flags) {
  app.set_version_flag("--version", common::VersionLine("rekindle-coordinator"));
  AddNetworkFlags(app, flags);
  AddJobFlags(app, flags.options);
  AddKeepingFlags(app, flags);
  AddTestFlags(app, flags.options.tunables);
  app.add_option("--log-format", flags.log_format, "text or json (REKINDLE_LOG_FORMAT)")
      ->check(CLI::IsMember({"text", "json"}));
}

}  // namespace rekindle::coordinator
