// Writes and reads records of fixed layout in little-endian order. Reading never passes the end of the record.
#ifndef REKINDLE_WORKER_NUMERIC_LITTLE_ENDIAN_H_
#define REKINDLE_WORKER_NUMERIC_LITTLE_ENDIAN_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace rekindle::numeric {

static_assert(std::endian::native == std::endian::little, "records and digests are raw little-endian memory");

class RecordWriter {
 public:
  template <typename T>
  void Put(T value) {
    static_assert(std::is_arithmetic_v<T>);
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }
  std::vector<uint8_t> Take() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

class RecordReader {
 public:
  explicit RecordReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  // Reads the next value of the record. Returns false and leaves *value unchanged when fewer bytes are left than a T
  // has.
  template <typename T>
  bool Get(T* value) {
    static_assert(std::is_arithmetic_v<T>);
    if (bytes_.size() < sizeof(T)) return false;
    std::memcpy(value, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
    return true;
  }
  size_t left() const { return bytes_.size(); }

 private:
  std::span<const uint8_t> bytes_;
};

}  // namespace rekindle::numeric

#endif  // REKINDLE_WORKER_NUMERIC_LITTLE_ENDIAN_H_
