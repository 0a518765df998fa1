#include "worker/numeric/random.h"

#include <cmath>
#include <numbers>

#include "kernels/vector/splitmix64.h"

namespace rekindle::models {
namespace {

// Computes log(x) for x in (0, 1] as exponent * ln 2 + 2 atanh((m - 1) / (m + 1)), with m in [sqrt(1/2), sqrt(2)].
double Log(double x) {
  int exponent;
  // std::frexp is exact, so it may be used although the other functions of the C library are avoided.
  double m = std::frexp(x, &exponent);
  if (m < std::numbers::sqrt2 / 2) {
    m *= 2;
    --exponent;
  }
  double z = (m - 1) / (m + 1), zz = z * z, sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * zz + 1.0 / k;
  return exponent * std::numbers::ln2 + 2 * z * sum;
}

struct Point {
  double cosine, sine;
};

// Returns the point of the unit circle at `turn` of a full turn, with `turn` in [0, 1). It uses Taylor series on an
// eighth of a turn.
Point Circle(double turn) {
  int quarter = static_cast<int>(turn * 4 + 0.5);
  double a = (turn - quarter * 0.25) * 2 * std::numbers::pi, aa = a * a;
  double sine = 1, cosine = 1;
  for (int k = 8; k >= 1; --k) {
    sine = 1 - sine * aa / ((2 * k) * (2 * k + 1));
    cosine = 1 - cosine * aa / ((2 * k - 1) * (2 * k));
  }
  sine *= a;
  switch (quarter & 3) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

}  // namespace

uint64_t RandomKeyOf(std::initializer_list<uint64_t> words) {
  uint64_t key = 0x72656B696E646C65;
  for (uint64_t word : words) key = kernels::SplitMix64(key ^ kernels::SplitMix64(word));
  return key;
}

uint64_t NameWord(std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325;
  for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3;
  return hash;
}

void FillNormal(uint64_t key, double deviation, std::span<float> values) {
  constexpr double kUnit = 1.0 / (uint64_t{1} << 53);
  for (size_t i = 0; i < values.size(); i += 2) {
    // The number `u` is in (0, 1], so its logarithm is finite.
    double u = static_cast<double>((kernels::RandomWord(key, i) >> 11) + 1) * kUnit;
    double turn = static_cast<double>(kernels::RandomWord(key, i + 1) >> 11) * kUnit;
    double radius = deviation * std::sqrt(-2 * Log(u));
    Point point = Circle(turn);
    values[i] = static_cast<float>(radius * point.cosine);
    if (i + 1 < values.size()) values[i + 1] = static_cast<float>(radius * point.sine);
  }
}

}  // namespace rekindle::models
