#include "coordinator/fleet/providers/aws/aws_sign.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "common/digest/sha256.h"

namespace rekindle::fleet {
namespace {

std::string Hmac(const std::string& key, const std::string& text) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int bytes = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
       text.size(), out, &bytes);
  return {reinterpret_cast<char*>(out), bytes};
}

}  // namespace

void SignAws(const AwsKeys& keys, const std::string& region, const std::string& service, double now,
             common::HttpRequest& request) {
  const absl::Time time = absl::FromUnixSeconds(static_cast<int64_t>(now));
  const std::string stamp = absl::FormatTime("%Y%m%dT%H%M%SZ", time, absl::UTCTimeZone());
  const std::string day = stamp.substr(0, 8);
  request.headers["X-Amz-Date"] = stamp;
  if (!keys.session.empty()) request.headers["X-Amz-Security-Token"] = keys.session;

  std::map<std::string, std::string> headers;
  for (const auto& [name, value] : request.headers) {
    headers[absl::AsciiStrToLower(name)] = std::string(absl::StripAsciiWhitespace(value));
  }
  const std::string names = absl::StrJoin(headers, ";", [](std::string* out, const auto& h) { out->append(h.first); });
  const size_t query = request.path.find('?');
  std::string canonical = absl::StrCat(request.method, "\n", request.path.substr(0, query), "\n",
                                       query == std::string::npos ? "" : request.path.substr(query + 1), "\n");
  for (const auto& [name, value] : headers) absl::StrAppend(&canonical, name, ":", value, "\n");
  absl::StrAppend(&canonical, "\n", names, "\n", common::Sha256Hex(request.body));

  const std::string scope = absl::StrCat(day, "/", region, "/", service, "/aws4_request");
  const std::string text = absl::StrCat("AWS4-HMAC-SHA256\n", stamp, "\n", scope, "\n", common::Sha256Hex(canonical));
  const std::string key = Hmac(Hmac(Hmac(Hmac("AWS4" + keys.secret, day), region), service), "aws4_request");
  request.headers["Authorization"] =
      absl::StrCat("AWS4-HMAC-SHA256 Credential=", keys.id, "/", scope, ", SignedHeaders=", names,
                   ", Signature=", absl::BytesToHexString(Hmac(key, text)));
}

}  // namespace rekindle::fleet
