// SPDX-License-Identifier: Apache-2.0
// The C interface as C++ objects that free themselves. Header only; nothing here throws, and only the C functions cross
// the library's border.
//
//   tilewright::api::Device device;
//   tilewright::api::Program program;
//   tilewright::api::Context context;
//   if (auto failure = device.open("host"); failure) ...         // failure.message() is one sentence
//   if (auto failure = program.load("model.tw", device); failure) ...
#pragma once

#include "tilewright.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tilewright::api {

/// True where a call has failed.
class [[nodiscard]] Failure {
public:
  Failure() = default;
  explicit Failure(tilewright_status status)
      : status_(status), message_(status == TILEWRIGHT_OK ? "" : tilewright_last_error()) {}

  explicit operator bool() const { return status_ != TILEWRIGHT_OK; }
  tilewright_status status() const { return status_; }
  const std::string &message() const { return message_; }

private:
  tilewright_status status_ = TILEWRIGHT_OK;
  std::string message_;
};

/// The DLPack type of a C++ element type.
template <typename T> constexpr tilewright_dl_dtype dlType() {
  uint8_t code = std::is_same_v<T, bool> ? 6 : std::is_floating_point_v<T> ? 2 : std::is_unsigned_v<T> ? 1 : 0;
  return {code, sizeof(T) * 8, 1};
}

/// Dense host memory as a tensor; `shape` must outlive it.
template <typename T> tilewright_tensor hostTensor(T *data, std::span<const int64_t> shape) {
  using Element = std::remove_const_t<T>;
  return {sizeof(tilewright_tensor),
          {const_cast<Element *>(data),
           {1, 0},
           static_cast<int32_t>(shape.size()),
           dlType<Element>(),
           const_cast<int64_t *>(shape.data()),
           nullptr,
           0}};
}

template <typename Handle, void (*release)(Handle *)> struct Releaser {
  void operator()(Handle *handle) const { release(handle); }
};

class Device {
public:
  Failure open(const std::string &id) {
    tilewright_device *handle = nullptr;
    Failure failure(tilewright_device_open(id.c_str(), &handle));
    handle_.reset(handle);
    return failure;
  }
  tilewright_device *handle() const { return handle_.get(); }

private:
  std::unique_ptr<tilewright_device, Releaser<tilewright_device, tilewright_device_free>> handle_;
};

class Program {
public:
  Failure load(const std::string &path, const Device &device, const char *fusionMode = nullptr) {
    tilewright_load_options options = {sizeof options, fusionMode};
    tilewright_program *handle = nullptr;
    Failure failure(tilewright_program_load(path.c_str(), device.handle(), &options, &handle));
    handle_.reset(handle);
    return failure;
  }
  Failure load(std::span<const std::byte> artifact, const Device &device, const char *fusionMode = nullptr) {
    tilewright_load_options options = {sizeof options, fusionMode};
    tilewright_program *handle = nullptr;
    Failure failure(
        tilewright_program_load_memory(artifact.data(), artifact.size(), device.handle(), &options, &handle));
    handle_.reset(handle);
    return failure;
  }
  std::vector<tilewright_tensor_info> inputs() const {
    return describe(tilewright_program_input_count(handle()), tilewright_program_input);
  }
  std::vector<tilewright_tensor_info> outputs() const {
    return describe(tilewright_program_output_count(handle()), tilewright_program_output);
  }
  tilewright_program *handle() const { return handle_.get(); }

private:
  template <typename Ask> std::vector<tilewright_tensor_info> describe(size_t count, Ask ask) const {
    std::vector<tilewright_tensor_info> infos(count);
    for (size_t i = 0; i < count; ++i) {
      infos[i].struct_size = sizeof infos[i];
      ask(handle(), i, &infos[i]); // cannot fail: the index is in range
    }
    return infos;
  }

  std::unique_ptr<tilewright_program, Releaser<tilewright_program, tilewright_program_free>> handle_;
};

class Context {
public:
  /// `options` may say which stream to work in.
  Failure create(const Program &program, const tilewright_context_options *options = nullptr) {
    tilewright_context *handle = nullptr;
    Failure failure(tilewright_context_create(program.handle(), options, &handle));
    handle_.reset(handle);
    return failure;
  }
  Failure run(std::span<const tilewright_tensor> inputs, std::span<const tilewright_tensor> outputs = {}) {
    return Failure(tilewright_context_run(handle(), inputs.data(), inputs.size(), outputs.data(), outputs.size()));
  }
  Failure bind(std::span<const tilewright_tensor> inputs, std::span<const tilewright_tensor> outputs = {}) {
    return Failure(tilewright_context_bind(handle(), inputs.data(), inputs.size(), outputs.data(), outputs.size()));
  }
  Failure execute() { return Failure(tilewright_context_execute(handle())); }
  Failure synchronize() { return Failure(tilewright_context_synchronize(handle())); }
  Failure output(size_t index, tilewright_tensor &tensor) {
    tensor.struct_size = sizeof tensor;
    return Failure(tilewright_context_output(handle(), index, &tensor));
  }
  tilewright_context *handle() const { return handle_.get(); }

private:
  std::unique_ptr<tilewright_context, Releaser<tilewright_context, tilewright_context_free>> handle_;
};

} // namespace tilewright::api
