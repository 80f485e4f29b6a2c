// SPDX-License-Identifier: Apache-2.0
// Signal processing: DFT and STFT as the sums they are defined by, the cosine windows, and MelWeightMatrix.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace tilewright::reference {

using Complex = std::complex<double>;

/// sum over n of x[n] * exp(-+ 2 pi i k n / length), for the first `bins` values of k. Quadratic, but accurate.
static std::vector<Complex> transform(std::span<const Complex> x, int64_t length, int64_t bins, bool inverse) {
  std::vector<Complex> roots(length), result(bins);
  for (int64_t k = 0; k < length; ++k)
    roots[k] =
        std::polar(1.0, (inverse ? 2 : -2) * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length));
  for (int64_t k = 0; k < bins; ++k) {
    Complex sum = 0;
    for (int64_t n = 0, power = 0; n < static_cast<int64_t>(x.size()); ++n, power = (power + k) % length)
      sum += x[n] * roots[power];
    result[k] = inverse ? sum / static_cast<double>(length) : sum;
  }
  return result;
}

/// Completes the spectrum of a real signal by conjugate symmetry.
static void mirror(std::vector<Complex> &spectrum, int64_t length) {
  int64_t known = std::min<int64_t>(static_cast<int64_t>(spectrum.size()), length / 2 + 1);
  spectrum.resize(length);
  for (int64_t k = known; k < length; ++k)
    spectrum[k] = std::conj(spectrum[length - k]);
}

/// Input [..., 1 or 2] of real or complex numbers; the axis is an attribute (default 1) in opset 17, an input (default
/// -2) since 20.
void dft(Call &call) {
  const Tensor &x = call.input(0);
  int64_t rank = x.rank();
  require(rank >= 2 && (x.shape().back() == 1 || x.shape().back() == 2),
          "expected real or complex numbers in the last dimension, found shape {}", x.shape());
  int64_t axis = call.opset() < 20 ? call.integer("axis", 1) : call.has(2) ? call.index(2) : -2;
  axis = normalizeAxis(axis, rank);
  require(axis < rank - 1, "expected an axis before the last dimension, found {}", axis);
  bool inverse = call.integer("inverse", 0), onesided = call.integer("onesided", 0), real = x.shape().back() == 1;
  require(!onesided || real != inverse, "a onesided transform takes a real signal, and its inverse a complex spectrum");
  AxisView view(x.shape(), axis);
  int64_t length = call.has(1) ? call.index(1) : onesided && inverse ? 2 * (view.size - 1) : view.size;
  require(length >= 1 && length < int64_t{1} << 32, "expected a dft_length of 1 or more, found {}", length);
  int64_t parts = onesided && inverse ? 1 : 2, bins = onesided && !inverse ? length / 2 + 1 : length,
          inputParts = x.shape().back();
  Shape shape = x.shape();
  shape[axis] = bins, shape.back() = parts;
  checkSize(x.type(), shape);
  Values<double> values(x);
  std::vector<double> result(product(shape));
  int64_t inner = view.inner / inputParts, known = std::min(length, view.size);
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      std::vector<Complex> signal(known);
      for (int64_t n = 0; n < known; ++n) {
        const double *at = values.data() + ((o * view.size + n) * inner + i) * inputParts;
        signal[n] = {at[0], real ? 0 : at[1]};
      }
      if (onesided && inverse)
        mirror(signal, length);
      std::vector<Complex> spectrum = transform(signal, length, bins, inverse);
      for (int64_t k = 0; k < bins; ++k) {
        double *at = result.data() + ((o * bins + k) * inner + i) * parts;
        at[0] = spectrum[k].real();
        if (parts == 2)
          at[1] = spectrum[k].imag();
      }
    }
  call.give(0, x.type(), shape, result);
}

/// Signal [batch, length, 1 or 2] to [batch, frames, bins, 2].
void stft(Call &call) {
  Tensor x = call.input(0);
  if (x.rank() == 2) // a real signal without a last dimension of 1
    x = x.reshaped({x.shape()[0], x.shape()[1], 1});
  require(x.rank() == 3 && (x.shape()[2] == 1 || x.shape()[2] == 2),
          "expected a signal [batch, length, 1 or 2], found {}", x.shape());
  int64_t batch = x.shape()[0], length = x.shape()[1], parts = x.shape()[2], step = call.index(1);
  int64_t frame = call.has(3) ? call.index(3) : call.has(2) ? call.input(2).count() : length;
  require(step >= 1 && frame >= 1 && frame <= length,
          "expected a step of 1 or more and a frame of at most {}, found {} and {}", length, step, frame);
  require(!call.has(2) || call.input(2).shape() == Shape{frame}, "expected a window of shape [{}], found {}", frame,
          call.has(2) ? call.input(2).shape() : Shape{});
  bool onesided = call.integer("onesided", 1) && parts == 1;
  int64_t frames = (length - frame) / step + 1, bins = onesided ? frame / 2 + 1 : frame;
  Shape shape{batch, frames, bins, 2};
  checkSize(x.type(), shape);
  Values<double> values(x);
  std::vector<double> window(frame, 1), result;
  if (call.has(2)) {
    Values<double> given(call.input(2));
    window.assign(given.begin(), given.end());
  }
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t f = 0; f < frames; ++f) {
      std::vector<Complex> signal(frame);
      for (int64_t n = 0; n < frame; ++n) {
        const double *at = values.data() + (b * length + f * step + n) * parts;
        signal[n] = Complex{at[0], parts == 2 ? at[1] : 0} * window[n];
      }
      for (Complex bin : transform(signal, frame, bins, false))
        result.insert(result.end(), {bin.real(), bin.imag()});
    }
  call.give(0, x.type(), shape, result);
}

/// a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N), with N one less than the size unless periodic.
void cosineWindow(Call &call) {
  struct {
    std::string_view op;
    double a0, a1, a2;
  } constexpr windows[] = {
      {"HannWindow", 0.5, 0.5, 0}, {"HammingWindow", 25.0 / 46, 21.0 / 46, 0}, {"BlackmanWindow", 0.42, 0.5, 0.08}};
  auto *row = std::ranges::find(windows, call.op(), [](const auto &window) { return window.op; });
  int64_t size = call.index(0);
  DType type = static_cast<DType>(call.integer("output_datatype", static_cast<int64_t>(DType::F32)));
  checkSize(type, {size});
  double period = static_cast<double>(call.integer("periodic", 1) ? size : size - 1);
  std::vector<double> result(size);
  for (int64_t n = 0; n < size; ++n) {
    double angle = period > 0 ? 2 * std::numbers::pi * static_cast<double>(n) / period : 0;
    result[n] = row->a0 - row->a1 * std::cos(angle) + row->a2 * std::cos(2 * angle);
  }
  call.give(0, type, {size}, result);
}

/// Triangular filters of height 1 over the bins of a onesided DFT, with edges equally spaced on the mel scale.
void melWeightMatrix(Call &call) {
  int64_t bands = call.index(0), length = call.index(1), rate = call.index(2);
  double low = call.scalar(3), high = call.scalar(4);
  require(bands >= 1 && length >= 1 && rate >= 1 && bands < 1 << 20 && length < int64_t{1} << 32,
          "expected bands, dft_length and sample_rate of 1 or more, found {}, {}, {}", bands, length, rate);
  require(0 <= low && low <= high && high <= static_cast<double>(rate) / 2,
          "expected edges within 0 and {} Hz, found {} and {}", static_cast<double>(rate) / 2, low, high);
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  std::vector<int64_t> edges(bands + 2);
  double step = (mel(high) - mel(low)) / static_cast<double>(bands + 2);
  for (int64_t i = 0; i < bands + 2; ++i) {
    double hertz = 700 * (std::pow(10, (mel(low) + static_cast<double>(i) * step) / 2595) - 1);
    edges[i] = static_cast<int64_t>(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate)));
  }
  int64_t bins = length / 2 + 1;
  DType type = static_cast<DType>(call.integer("output_datatype", static_cast<int64_t>(DType::F32)));
  checkSize(type, {bins, bands});
  std::vector<double> result(bins * bands);
  for (int64_t i = 0; i < bands; ++i) {
    int64_t left = edges[i], centre = edges[i + 1], right = edges[i + 2];
    for (int64_t k = left; k <= std::min(centre, bins - 1); ++k)
      result[k * bands + i] = centre == left ? 1 : static_cast<double>(k - left) / static_cast<double>(centre - left);
    for (int64_t k = centre; k < std::min(right, bins); ++k)
      result[k * bands + i] = static_cast<double>(right - k) / static_cast<double>(right - centre);
  }
  call.give(0, type, {bins, bands}, result);
}

} // namespace tilewright::reference
