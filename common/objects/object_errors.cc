#include "common/objects/object_errors.h"

#include <algorithm>
#include <initializer_list>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/time/retry.h"

namespace rekindle::common {
namespace {

constexpr size_t kMaxText = 300;
constexpr char kValueEnds[] = " &,;\"'<>)}]";

// Returns `text` without case, '_', '-' and spaces, because libraries write NoSuchBucket, NO_SUCH_BUCKET or "no such
// bucket".
std::string Squeezed(const std::string& text) {
  std::string squeezed;
  for (char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      squeezed += absl::ascii_tolower(static_cast<unsigned char>(c));
    }
  }
  return squeezed;
}

bool Has(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return text.find(word) != std::string::npos; });
}

}  // namespace

std::string WithoutSecrets(const std::string& text) {
  std::string line;
  for (char c : text.substr(0, 4 * kMaxText)) {
    const bool blank = static_cast<unsigned char>(c) <= 32;
    if (!blank || (!line.empty() && line.back() != ' ')) line += blank ? ' ' : c;
  }
  const std::string lower = absl::AsciiStrToLower(line);
  std::string clean;
  for (size_t at = 0; at < line.size();) {
    size_t value = std::string::npos;
    for (const char* name : {"signature=", "sig=", "credential=", "x-amz-security-token=", "accesskeyid=", "token=",
                             "secret=", "password=", "accountkey=", "authorization: ", "access_key=", "key="}) {
      const std::string wanted = name;
      if (lower.compare(at, wanted.size(), wanted) == 0) value = at + wanted.size();
    }
    if (value == std::string::npos) {
      clean += line[at++];
      continue;
    }
    absl::StrAppend(&clean, line.substr(at, value - at), "***");
    // The value of a header may contain spaces, so it ends only at the end of the line.
    const bool header = line[value - 1] == ' ';
    at = header ? line.size() : std::min(line.find_first_of(kValueEnds, value), line.size());
  }
  return clean.substr(0, kMaxText);
}

absl::Status NoBucket(const std::string& what) {
  return Permanent(
      absl::UnavailableError(what + ": the bucket or container is not there: create it, or correct the store's URI"));
}

absl::Status ObjectError(const std::string& what, const std::string& text) {
  const std::string squeezed = Squeezed(text);
  const std::string message = absl::StrCat(what, ": ", WithoutSecrets(text));
  if (Has(squeezed, {"nosuchbucket", "containernotfound", "bucketdoesnotexist", "bucketnotfound"})) {
    return NoBucket(what);
  }
  if (Has(squeezed, {"requesttimetooskewed", "requestexpired", "timetooskewed"})) {
    return absl::PermissionDeniedError(message + ": set this machine's clock");
  }
  if (Has(squeezed, {"expiredtoken", "tokenexpired", "tokenhasexpired", "credentialsexpired"})) {
    return absl::PermissionDeniedError(message + ": the credentials have expired: renew them");
  }
  if (Has(squeezed, {"slowdown", "throttl", "toomanyrequests", "serverbusy", "httpstatus429", "reducingrequestrate",
                     "reduceyourrequestrate", "insufficientstorage", "quotaexceeded", "nospaceleft"})) {
    return absl::ResourceExhaustedError(message);
  }
  if (Has(squeezed, {"accessdenied", "invalidaccesskeyid", "signaturedoesnotmatch", "forbidden", "unauthorized",
                     "unauthenticated", "authenticationfailed", "authorizationfailure", "permissiondenied",
                     "httpstatus403", "httpstatus401", "missingauthenticationtoken", "invalidclienttokenid",
                     "unrecognizedclient", "authorizationpermissionmismatch", "couldnotloadcredentials"})) {
    return absl::PermissionDeniedError(message + ": check the credentials of this machine and what they may do");
  }
  if (Has(squeezed, {"invalidpart", "baddigest", "checksum", "contentmd5", "hashmismatch", "incompletebody",
                     "invalidblocklist"})) {
    return absl::DataLossError(message);
  }
  return absl::UnavailableError(message);
}

}  // namespace rekindle::common
