#include "common/text/strict_json.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace rekindle::common {
namespace {

using nlohmann::json;

// Builds the document from the events of nlohmann's parser. A callback that returns false ends the parse.
class Builder : public nlohmann::json_sax<json> {
 public:
  explicit Builder(const JsonLimits& limits) : limits_(limits) {}

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool number_float(number_float_t value, const string_t&) override {
    return std::isfinite(value) ? Add(value) : Fail("a number out of range");
  }
  bool string(string_t& value) override { return Add(std::move(value)); }
  bool binary(binary_t&) override { return Fail("binary data"); }
  bool start_object(size_t) override { return Open(json::object()); }
  bool start_array(size_t) override { return Open(json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& value) override {
    if (open_.back()->contains(value)) return Fail(absl::StrCat("key '", value.substr(0, 64), "' twice"));
    key_ = std::move(value);
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return Fail(absl::StrCat("a syntax error at byte ", position));
  }

  json& document() { return document_; }
  const std::string& error() const { return error_; }

 private:
  bool Fail(std::string error) {
    if (error_.empty()) error_ = std::move(error);
    return false;
  }

  json* Place(json value) {
    if (open_.empty()) {
      document_ = std::move(value);
      return &document_;
    }
    json& parent = *open_.back();
    if (parent.is_object()) return &(parent[key_] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }

  bool Add(json value) {
    if (++values_ > limits_.values) return Fail(absl::StrCat("more than ", limits_.values, " values"));
    Place(std::move(value));
    return true;
  }

  bool Open(json container) {
    if (++values_ > limits_.values) return Fail(absl::StrCat("more than ", limits_.values, " values"));
    if (static_cast<int>(open_.size()) >= limits_.depth) {
      return Fail(absl::StrCat("more than ", limits_.depth, " levels of nesting"));
    }
    open_.push_back(Place(std::move(container)));
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  const JsonLimits limits_;
  size_t values_ = 0;
  json document_;
  // `open_` points at the values that are not yet complete. A parent does not change while one of its children is open,
  // so the pointers stay valid.
  std::vector<json*> open_;
  std::string key_;
  std::string error_;
};

}  // namespace

absl::StatusOr<json> ParseStrictJson(std::string_view text, const JsonLimits& limits) {
  Builder builder(limits);
  const bool parsed = json::sax_parse(text.begin(), text.end(), &builder);
  if (!parsed) return absl::InvalidArgumentError(absl::StrCat("bad JSON: ", builder.error()));
  return std::move(builder.document());
}

absl::StatusOr<nlohmann::json> ParseDocument(std::string_view text, const JsonLimits& limits) {
  absl::StatusOr<nlohmann::json> document = ParseStrictJson(text, limits);
  if (document.ok() && !document->is_structured()) return absl::InvalidArgumentError("bad JSON: a lone value");
  return document;
}

absl::StatusOr<std::string> StringIn(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return absl::InvalidArgumentError("an object is expected");
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) {
    return absl::InvalidArgumentError(absl::StrCat("the string '", key, "' is missing"));
  }
  return found->get<std::string>();
}

std::string StringOr(const nlohmann::json& object, const char* key) {
  return StringIn(object, key).value_or(std::string());
}

}  // namespace rekindle::common
