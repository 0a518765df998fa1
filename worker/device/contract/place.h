// Names a line of code.
#ifndef REKINDLE_WORKER_DEVICE_CONTRACT_PLACE_H_
#define REKINDLE_WORKER_DEVICE_CONTRACT_PLACE_H_

namespace rekindle::device {

// A Place that is the default argument of a function names the line from which the function is called. A device for
// tests uses it to name the orders that its user asks for.
class Place {
 public:
  constexpr Place(const char* file = __builtin_FILE(), int line = __builtin_LINE()) : file_(file), line_(line) {}
  // Returns a Place that is no line, for an order that nobody can forget.
  static constexpr Place None() { return Place("", 0); }

  const char* file() const { return file_; }
  int line() const { return line_; }

 private:
  const char* file_;
  int line_;
};

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_CONTRACT_PLACE_H_
