#include "cli/connection/diagnosis.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/text/safe_text.h"

namespace rekindle::cli {
namespace {

constexpr char kGiveTls[] =
    "--tls-ca, --tls-cert and --tls-key (REKINDLE_TLS_CA, REKINDLE_TLS_CERT, REKINDLE_TLS_KEY), or a context that has "
    "them";

std::string Whom(const Connection& connection) {
  return absl::StrCat("the coordinator at ", connection.endpoint,
                      connection.context.empty() ? "" : " (context " + connection.context + ")");
}

std::string ExplainTrust(const Connection& connection, const TlsHandshake& seen) {
  const std::string whose = absl::StrCat("the certificate of ", Whom(connection));
  if (seen.expired) return absl::StrCat(whose, " has expired on ", seen.until, ": a new one is needed there");
  if (seen.other_name) {
    return absl::StrCat(whose, " names others: ", seen.names.empty() ? "nobody" : Printable(seen.names),
                        "; use one of these as --endpoint, or have a certificate made that names this one");
  }
  if (seen.unknown_authority) {
    return absl::StrCat(whose, " is not signed by the authority in ", connection.security.tls_ca, " (", seen.trust,
                        "): give the one that it was made with, by --tls-ca or REKINDLE_TLS_CA");
  }
  return absl::StrCat(whose, " is not to be trusted: ", seen.trust, "; are the clocks of both machines right?");
}

}  // namespace

std::string ExplainTls(const Connection& connection, const TlsHandshake& seen, const std::string& own_end) {
  if (!seen.connected) return "";
  const bool own_tls = connection.security.HasTls();
  if (!own_tls) {
    return seen.speaks_tls
               ? absl::StrCat(Whom(connection), " speaks TLS, and you have no certificate for it: give ", kGiveTls)
               : "";
  }
  if (seen.silent) {
    return absl::StrCat(Whom(connection),
                        " takes connections and says nothing: is it stopped, or does its machine have ",
                        "too much to do?");
  }
  if (!seen.speaks_tls) {
    return absl::StrCat("whoever listens at ", connection.endpoint,
                        " does not speak TLS: is that the coordinator's port? If ",
                        "it is, name no TLS files: neither by --tls-ca, --tls-cert and --tls-key, nor by "
                        "REKINDLE_TLS_CA, REKINDLE_TLS_CERT and REKINDLE_TLS_KEY, nor in the context");
  }
  if (!seen.trust.empty()) return ExplainTrust(connection, seen);
  // A server that keeps the connection open accepts the client or does not respond. Neither is a mistake with TLS.
  if (!seen.hung_up) return "";
  const std::string own = absl::StrCat("your certificate ", connection.security.tls_cert);
  if (!own_end.empty()) {
    return absl::StrCat(own, " has expired on ", own_end,
                        ": give a new one by --tls-cert or REKINDLE_TLS_CERT, with its key");
  }
  // A gRPC server that does not trust a certificate hangs up without saying why.
  return absl::StrCat(Whom(connection), " does not take ", own, seen.alert.empty() ? "" : " (" + seen.alert + ")",
                      ": give one that its authority has signed, by --tls-cert or REKINDLE_TLS_CERT, with its key");
}

std::string DiagnoseTls(const Connection& connection) {
  const auto at = common::SplitAddress(connection.endpoint);
  if (!at.ok() || absl::StartsWith(connection.endpoint, "unix:")) return "";
  const TlsHandshake seen = ShakeHands(*at, connection.security);
  return ExplainTls(connection, seen, connection.security.HasTls() ? EndedAt(connection.security.tls_cert) : "");
}

std::string ExplainToken(const Connection& connection, const std::string& said) {
  const std::string& file = connection.security.token_file;
  // A coordinator on this machine says in its refusal which user runs it, and that the reader should ask that user for
  // the token. So nothing is added to the refusal.
  if (absl::StrContains(said, "belongs to user")) return file.empty() ? said : absl::StrCat(file, ": ", said);
  if (file.empty()) {
    return absl::StrCat(Whom(connection),
                        " wants its token: give the file that it was started with, by --token-file, "
                        "REKINDLE_TOKEN_FILE or a context that has it");
  }
  return absl::StrCat(Whom(connection), " does not take the token in ", file,
                      ": it was started with another one; give that by --token-file or REKINDLE_TOKEN_FILE");
}

}  // namespace rekindle::cli
