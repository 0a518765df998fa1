#include "common/objects/object_uri.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/text/nearest.h"

namespace rekindle::common {
namespace {

// `kMaxPath` limits a path of a file system.
constexpr size_t kMaxPath = 3000;
// `kMaxPrefix` leaves room for the names of objects after the prefix, as object keys have at most 1024 bytes.
constexpr size_t kMaxPrefix = 512;
constexpr size_t kMaxShown = 200;
constexpr char kForms[] =
    "write file:///folder, s3://bucket/prefix, gs://bucket/prefix or "
    "abfs://container@account.dfs.core.windows.net/prefix";
constexpr char kCredentials[] =
    "a URI must not hold credentials, as it is shown in job files, logs and events: leave them to the environment, "
    "profile or role of the machine";

bool All(const std::string& text, const char* extra) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           std::string_view(extra).find(c) != std::string_view::npos;
  });
}

bool HasControl(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
}

// Returns whether the text may be a host name. It has a letter or digit at both ends, so "..", "-x" and ".x" are
// refused.
bool IsHostName(const std::string& text, size_t shortest) {
  return text.size() >= shortest && text.size() <= 255 && All(text, "._-") && text.find("..") == std::string::npos &&
         absl::ascii_isalnum(static_cast<unsigned char>(text.front())) &&
         absl::ascii_isalnum(static_cast<unsigned char>(text.back()));
}

bool IsPrefix(const std::string& prefix) {
  if (prefix.empty()) return true;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(prefix, '/'))) {
    if (part.empty() || part == "." || part == ".." || !All(part, "._-=+@ ")) return false;
  }
  return prefix.size() <= kMaxPrefix;
}

absl::StatusOr<bool> Flag(const std::string& name, const std::string& value) {
  if (value == "true") return true;
  if (value == "false") return false;
  return absl::InvalidArgumentError(absl::StrCat("parameter ", name, " is true or false"));
}

absl::Status SetParameter(const std::string& name, const std::string& value, ObjectUri* uri) {
  static const std::vector<std::string> known = {"endpoint_override", "scheme", "region", "anonymous",
                                                 "force_virtual_addressing"};
  const bool s3 = uri->kind == ObjectUri::Kind::kS3;
  if (name == "endpoint_override") {
    if (!IsEndpoint(value)) return absl::InvalidArgumentError("parameter endpoint_override is host:port");
    uri->endpoint = value;
  } else if (name == "scheme") {
    if (value != "http" && value != "https") return absl::InvalidArgumentError("parameter scheme is http or https");
    uri->scheme = value;
  } else if (name == "region" && s3) {
    if (!IsHostName(value, 2)) return absl::InvalidArgumentError("parameter region is a name such as eu-west-1");
    uri->region = value;
  } else if (name == "anonymous" || (name == "force_virtual_addressing" && s3)) {
    const auto flag = Flag(name, value);
    if (!flag.ok()) return flag.status();
    (name == "anonymous" ? uri->anonymous : uri->virtual_addressing) = *flag;
  } else if (absl::StrContains(name, "key") || absl::StrContains(name, "token") || absl::StrContains(name, "sig") ||
             absl::StrContains(name, "secret") || absl::StrContains(name, "password")) {
    return absl::InvalidArgumentError(kCredentials);
  } else {
    const std::string nearest = Nearest(name, known);
    return absl::InvalidArgumentError(
        absl::StrCat("an unknown parameter", nearest.empty() ? "" : absl::StrCat(" (did you mean `", nearest, "`?)"),
                     "; known: endpoint_override, scheme, anonymous and, for s3, region, force_virtual_addressing"));
  }
  return absl::OkStatus();
}

absl::StatusOr<ObjectUri> ParseFile(const std::string& rest) {
  ObjectUri uri{.kind = ObjectUri::Kind::kFile, .folder = rest};
  while (uri.folder.size() > 1 && uri.folder.back() == '/') uri.folder.pop_back();
  if (uri.folder.empty() || uri.folder[0] != '/' || uri.folder == "/" || uri.folder.size() > kMaxPath ||
      HasControl(uri.folder)) {
    return absl::InvalidArgumentError("file: needs an absolute path, as in file:///folder");
  }
  return uri;
}

// Sets the bucket (and Azure's account) from the part of a URI after "://", which is "bucket", or for Azure
// "container@account[.dfs.core.windows.net]".
absl::Status SetAuthority(const std::string& authority, ObjectUri* uri) {
  const size_t at = authority.find('@');
  uri->bucket = authority.substr(0, at);
  if (uri->kind != ObjectUri::Kind::kAzure) {
    if (at != std::string::npos) return absl::InvalidArgumentError(kCredentials);
  } else {
    if (absl::StrContains(uri->bucket, ':')) return absl::InvalidArgumentError(kCredentials);
    if (at == std::string::npos) return absl::InvalidArgumentError("abfs: needs container@account");
    uri->account = authority.substr(at + 1);
    for (const char* suffix : {".dfs.core.windows.net", ".blob.core.windows.net"}) {
      if (absl::EndsWith(uri->account, suffix)) uri->account.resize(uri->account.size() - std::string(suffix).size());
    }
    if (uri->account.size() < 3 || uri->account.size() > 24 || !All(uri->account, "")) {
      return absl::InvalidArgumentError("abfs: an account has 3 to 24 letters and digits");
    }
  }
  if (IsHostName(uri->bucket, 3)) return absl::OkStatus();
  return absl::InvalidArgumentError("a bucket or container has 3 to 255 of A-Z a-z 0-9 . _ -");
}

absl::StatusOr<ObjectUri> ParseCloud(ObjectUri::Kind kind, const std::string& rest) {
  ObjectUri uri{.kind = kind};
  const size_t query = rest.find('?');
  const std::string path = rest.substr(0, query);
  const size_t slash = path.find('/');
  if (absl::Status status = SetAuthority(path.substr(0, slash), &uri); !status.ok()) return status;
  if (slash != std::string::npos) uri.prefix = path.substr(slash + 1);
  while (!uri.prefix.empty() && uri.prefix.back() == '/') uri.prefix.pop_back();
  if (!IsPrefix(uri.prefix)) {
    return absl::InvalidArgumentError("a prefix is at most 512 of A-Z a-z 0-9 . _ - = + @, space and single slashes");
  }
  if (query != std::string::npos) {
    for (const std::string& part : std::vector<std::string>(absl::StrSplit(rest.substr(query + 1), '&'))) {
      const size_t is = part.find('=');
      const std::string value = is == std::string::npos ? "" : part.substr(is + 1);
      if (absl::Status status = SetParameter(absl::AsciiStrToLower(part.substr(0, is)), value, &uri); !status.ok()) {
        return status;
      }
    }
  }
  if (uri.scheme == "http" && uri.endpoint.empty()) {
    return absl::InvalidArgumentError("scheme=http is for an endpoint_override of yours only");
  }
  return uri;
}

absl::StatusOr<ObjectUri> Parse(const std::string& uri) {
  const size_t colon = uri.find("://");
  const std::string scheme = uri.substr(0, colon == std::string::npos ? 0 : colon);
  const std::string rest = colon == std::string::npos ? "" : uri.substr(colon + 3);
  if (scheme == "file") return ParseFile(rest);
  if (scheme == "s3") return ParseCloud(ObjectUri::Kind::kS3, rest);
  if (scheme == "gs") return ParseCloud(ObjectUri::Kind::kGcs, rest);
  if (scheme == "abfs" || scheme == "abfss") return ParseCloud(ObjectUri::Kind::kAzure, rest);
  return absl::InvalidArgumentError("it begins with no known scheme");
}

}  // namespace

bool IsEndpoint(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  int port = 0;
  return parts.size() <= 2 && IsHostName(parts[0], 1) &&
         (parts.size() == 1 || (absl::SimpleAtoi(parts[1], &port) && port > 0 && port < 65536));
}

absl::StatusOr<ObjectUri> ParseObjectUri(const std::string& uri) {
  auto parsed = Parse(uri);
  if (parsed.ok()) return parsed;
  return absl::InvalidArgumentError(absl::StrCat(
      "store '", PublicUri(uri), "' is not supported: ", std::string(parsed.status().message()), "; ", kForms));
}

std::string PublicUri(const std::string& uri) {
  const bool file = absl::StartsWith(uri, "file:");
  std::string shown = file ? uri : uri.substr(0, uri.find('?'));
  const size_t colon = shown.find("://");
  if (!file && colon != std::string::npos) {
    const size_t end = shown.find('/', colon + 3);
    const size_t at = shown.rfind('@', end);
    // In the shown URI Azure's container@account stays, because it is no secret. With a colon before the @ it may be a
    // user and a password, which are removed.
    if (at != std::string::npos && at > colon &&
        (!absl::StartsWith(shown, "abfs") || shown.find(':', colon + 3) < at)) {
      shown.erase(colon + 3, at + 1 - (colon + 3));
    }
  }
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 32) c = '?';
  }
  return shown.substr(0, kMaxShown);
}

}  // namespace rekindle::common
