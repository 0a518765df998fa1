#include "coordinator/fleet/providers/aws/aws_credentials.h"

#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "common/files/file.h"
#include "common/net/ec2_metadata.h"
#include "common/time/clock.h"

namespace rekindle::fleet {
namespace {

constexpr double kRefreshSeconds = 300;
// A request for credentials to an endpoint of this machine may take `kLocalSeconds` seconds.
constexpr double kLocalSeconds = 2;
constexpr size_t kMaxFile = 1 << 20;
constexpr char kContainerHost[] = "http://169.254.170.2";

// Returns whether a key, a token or a name fits into an HTTP header, which means that it is one printable word.
bool Fit(const std::string& value) {
  for (const unsigned char c : value) {
    if (c <= ' ' || c > '~') return false;
  }
  return !value.empty();
}

absl::StatusOr<AwsKeys> Checked(AwsKeys keys, const std::string& source) {
  if (Fit(keys.id) && Fit(keys.secret) && (keys.session.empty() || Fit(keys.session))) return keys;
  return absl::UnauthenticatedError(absl::StrCat(source, " holds no usable AWS credentials"));
}

}  // namespace

absl::StatusOr<AwsKeys> AwsCredentials::Get(double now) {
  if (keys_ && (keys_->expires == 0 || now < keys_->expires - kRefreshSeconds)) return *keys_;
  absl::StatusOr<AwsKeys> found = Find(now);
  if (found.ok()) keys_ = *found;
  // Credentials that are still valid are used while no source gives new ones.
  if (!found.ok() && keys_ && now < keys_->expires) return *keys_;
  return found;
}

absl::StatusOr<AwsKeys> AwsCredentials::Find(double now) {
  if (const std::string id = variables_("AWS_ACCESS_KEY_ID"); !id.empty()) {
    return Checked(
        {.id = id, .secret = variables_("AWS_SECRET_ACCESS_KEY"), .session = variables_("AWS_SESSION_TOKEN")},
        "the environment (AWS_ACCESS_KEY_ID)");
  }
  absl::StatusOr<AwsKeys> keys = FromFile();
  if (!absl::IsNotFound(keys.status())) return keys;
  keys = FromContainer();
  if (!absl::IsNotFound(keys.status())) return keys;
  return FromInstance(now);
}

absl::StatusOr<AwsKeys> AwsCredentials::FromFile() const {
  std::string path = variables_("AWS_SHARED_CREDENTIALS_FILE");
  if (path.empty()) path = variables_("HOME") + "/.aws/credentials";
  const std::string profile = variables_("AWS_PROFILE");
  const auto text = common::ReadFile(*common::PosixFileSystem(), path, kMaxFile);
  if (!text.ok() && profile.empty()) return absl::NotFoundError("no file");
  if (!text.ok()) {
    return absl::UnauthenticatedError(absl::StrCat("AWS_PROFILE is set, but ", std::string(text.status().message())));
  }
  absl::StatusOr<AwsKeys> keys = ParseCredentialsFile(*text, profile.empty() ? "default" : profile);
  if (keys.ok()) return Checked(*std::move(keys), path);
  if (absl::IsNotFound(keys.status()) && profile.empty()) return keys;
  return absl::UnauthenticatedError(absl::StrCat(path, ": ", std::string(keys.status().message())));
}

absl::StatusOr<AwsKeys> AwsCredentials::FromContainer() const {
  const std::string relative = variables_("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const std::string full = variables_("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (relative.empty() && full.empty()) return absl::NotFoundError("no container endpoint");
  const std::string url = relative.empty() ? full : kContainerHost + relative;
  const size_t scheme = url.find("://");
  const size_t slash = url.find('/', scheme == std::string::npos ? 0 : scheme + 3);
  auto http = common::OpenHttp(url.substr(0, slash), {.seconds = kLocalSeconds, .reach = common::Reach::kSecure});
  if (!http.ok()) {
    return absl::UnauthenticatedError(
        absl::StrCat("AWS_CONTAINER_CREDENTIALS_FULL_URI: ", std::string(http.status().message())));
  }
  common::HttpRequest request{.path = slash == std::string::npos ? "/" : url.substr(slash)};
  std::string token = variables_("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (const std::string file = variables_("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !file.empty()) {
    const auto text = common::ReadFile(*common::PosixFileSystem(), file, kMaxFile);
    if (!text.ok()) return absl::UnauthenticatedError(std::string(text.status().message()));
    token = std::string(absl::StripAsciiWhitespace(*text));
  }
  if (!token.empty()) {
    if (!Fit(token)) return absl::UnauthenticatedError("the container's authorization token is not one word");
    request.headers["Authorization"] = token;
  }
  const auto answer = (*http)->Send(request);
  if (!answer.ok()) return answer.status();
  if (answer->status != 200) return ErrorOf("the container's credentials", *answer, "");
  return ParseCredentialsDocument(answer->body);
}

absl::StatusOr<AwsKeys> AwsCredentials::FromInstance(double now) const {
  if (absl::AsciiStrToLower(variables_("AWS_EC2_METADATA_DISABLED")) == "true") {
    return absl::UnauthenticatedError("no AWS credentials: set AWS_ACCESS_KEY_ID, AWS_PROFILE or an instance role");
  }
  std::string endpoint = variables_("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (endpoint.empty()) endpoint = common::kEc2MetadataEndpoint;
  auto http = common::OpenHttp(endpoint, {.seconds = kLocalSeconds});
  if (!http.ok()) return http.status();
  common::Ec2Metadata metadata(*std::move(http));
  const std::string folder = "/latest/meta-data/iam/security-credentials/";
  const absl::StatusOr<std::string> roles = metadata.Get(folder, now);
  if (!roles.ok()) {
    return absl::UnauthenticatedError(
        absl::StrCat("no AWS credentials in environment, ~/.aws/credentials or container, and the instance's role "
                     "cannot be asked for: ",
                     std::string(roles.status().message())));
  }
  const std::string role(absl::StripAsciiWhitespace(roles->substr(0, roles->find('\n'))));
  if (!Fit(role)) return absl::UnauthenticatedError("no AWS credentials: give the instance a role (instance profile)");
  const absl::StatusOr<std::string> document = metadata.Get(folder + role, now);
  if (!document.ok()) return document.status();
  return ParseCredentialsDocument(*document);
}

absl::StatusOr<AwsKeys> ParseCredentialsFile(const std::string& text, const std::string& profile) {
  std::map<std::string, std::string> values;
  bool inside = false;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      inside = line.back() == ']' && absl::StripAsciiWhitespace(line.substr(1, line.size() - 2)) == profile;
      continue;
    }
    const size_t equals = line.find('=');
    if (!inside || equals == absl::string_view::npos) continue;
    const std::string key = absl::AsciiStrToLower(absl::StripAsciiWhitespace(line.substr(0, equals)));
    values[key] = std::string(absl::StripAsciiWhitespace(line.substr(equals + 1)));
  }
  if (values["aws_access_key_id"].empty()) {
    return absl::NotFoundError(absl::StrCat("profile ", profile, " has no aws_access_key_id"));
  }
  return AwsKeys{.id = values["aws_access_key_id"],
                 .secret = values["aws_secret_access_key"],
                 .session = values["aws_session_token"]};
}

absl::StatusOr<AwsKeys> ParseCredentialsDocument(const std::string& text) {
  const auto document = common::ParseDocument(text);
  if (!document.ok()) return absl::UnauthenticatedError("AWS credentials are no JSON object");
  AwsKeys keys{.id = common::StringOr(*document, "AccessKeyId"),
               .secret = common::StringOr(*document, "SecretAccessKey"),
               .session = common::StringOr(*document, "Token")};
  const std::string expiration = common::StringOr(*document, "Expiration");
  absl::Time time;
  std::string error;
  if (!expiration.empty()) {
    if (!absl::ParseTime(absl::RFC3339_full, expiration, &time, &error)) {
      return absl::UnauthenticatedError("AWS credentials with an Expiration that is no time");
    }
    keys.expires = absl::ToDoubleSeconds(time - absl::UnixEpoch());
  }
  return Checked(std::move(keys), "the document of the role");
}

}  // namespace rekindle::fleet
