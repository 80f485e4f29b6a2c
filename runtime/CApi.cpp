// SPDX-License-Identifier: Apache-2.0
// The C interface over Device, Program and Context.
#include "runtime/Devices.h"
#include "runtime/tilewright.h"

#include "runtime/Version.h"
#include "runtime/execute/BindSymbols.h"
#include "runtime/execute/Context.h"

#include <cstring>
#include <exception>
#include <fmt/format.h>

using namespace tilewright;
using namespace tilewright::runtime;

struct tilewright_device {
  std::shared_ptr<Device> device;
};

/// An input or output; owns the arrays that tilewright_tensor_info points to.
struct Signature {
  const Value *value = nullptr;
  std::vector<int64_t> shape;
  std::vector<std::string> words;
  std::vector<const char *> wordPointers;
};

struct tilewright_program {
  std::shared_ptr<Device> device;
  std::shared_ptr<const Program> program;
  std::vector<Signature> inputs, outputs;
};

/// A value as C reads it, with its elements.
struct tilewright_value {
  Tensor tensor;
  std::vector<tilewright_value> elements;

  explicit tilewright_value(const Tensor &from) : tensor(from) {
    if (isObject(tensor.type()) && tensor.type() != DType::String)
      for (int64_t i = 0; i < tensor.count(); ++i)
        elements.emplace_back(tensor.data<Tensor>()[i]);
  }
};

struct tilewright_context {
  std::unique_ptr<Context> context;
  std::vector<tilewright_value> outputs; // of the last run; filled at the first request
  std::vector<Tensor> contiguous;        // dense copies of strided inputs
};

static thread_local std::string lastError;

static tilewright_status report(const Status &status) {
  lastError = status.message();
  return static_cast<tilewright_status>(status.code());
}

/// Runs `body`, which returns a Status, and turns exceptions into statuses.
template <typename Body> static tilewright_status guarded(const Body &body) {
  try {
    return report(body());
  } catch (const std::bad_alloc &) {
    return report({Code::Device, "this process has no memory left"});
  } catch (const std::exception &error) {
    return report({Code::Internal, fmt::format("unexpected failure: {}", error.what())});
  }
}

static constexpr struct {
  DType type;
  uint8_t code;
} dlCodes[] = {
    {DType::F32, 2},         {DType::F16, 2},     {DType::F64, 2},         {DType::BF16, 4},    {DType::I64, 0},
    {DType::I32, 0},         {DType::I16, 0},     {DType::I8, 0},          {DType::U64, 1},     {DType::U32, 1},
    {DType::U16, 1},         {DType::U8, 1},      {DType::Bool, 6},        {DType::C64, 5},     {DType::C128, 5},
    {DType::I4, 0},          {DType::U4, 1},      {DType::I2, 0},          {DType::U2, 1},      {DType::F8E4M3FN, 10},
    {DType::F8E4M3FNUZ, 11}, {DType::F8E5M2, 12}, {DType::F8E5M2FNUZ, 13}, {DType::F8E8M0, 14}, {DType::F4E2M1, 17},
};

static tilewright_dl_dtype toDl(DType type) {
  for (const auto &row : dlCodes)
    if (row.type == type)
      return {row.code, static_cast<uint8_t>(findDType(type)->bits), 1};
  return {0, 0, 0};
}

static Expected<DType> fromDl(tilewright_dl_dtype type) {
  for (const auto &row : dlCodes)
    if (row.code == type.code && findDType(row.type)->bits == type.bits && type.lanes == 1)
      return row.type;
  return Status(Code::Usage, fmt::format("a tensor has DLPack type {{{}, {}, {}}}, which no model takes", type.code,
                                         type.bits, type.lanes));
}

static bool isDense(const tilewright_dl_tensor &dl) {
  if (!dl.strides)
    return true;
  int64_t expected = 1;
  for (int32_t d = dl.ndim - 1; d >= 0; --d) {
    if (dl.shape[d] != 1 && dl.strides[d] != expected)
      return false;
    expected *= dl.shape[d];
  }
  return true;
}

static Tensor copyStrided(const tilewright_dl_tensor &dl, DType type, const Shape &shape, const std::byte *data) {
  Tensor dense = Tensor::allocate(type, shape);
  size_t bytes = elementBytes(type);
  std::vector<int64_t> at(shape.size(), 0);
  for (int64_t i = 0; i < dense.count(); ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); ++d)
      offset += at[d] * dl.strides[d];
    std::memcpy(dense.bytes() + static_cast<size_t>(i) * bytes, data + offset * static_cast<int64_t>(bytes), bytes);
    advanceIndex(at, shape);
  }
  return dense;
}

/// Checks a strided input against the plan before its dense copy is allocated: the shape decides how large that is.
static Status checkStrided(const Plan &plan, size_t index, const TensorView &view) {
  if (index >= plan.inputs.size())
    return {Code::Usage, fmt::format("the model takes {} inputs, got more", plan.inputs.size())};
  TILEWRIGHT_TRY(checkTypeAndRank(plan, plan.values[plan.inputs[index]], view));
  constexpr int64_t most = int64_t(1) << 48;
  int64_t bytes = static_cast<int64_t>(elementBytes(view.type));
  for (int64_t size : view.shape)
    if (__builtin_mul_overflow(bytes, size, &bytes) || bytes > most)
      return {Code::Usage,
              fmt::format("input '{}' would have more than 2^48 bytes", plan.values[plan.inputs[index]].name)};
  return {};
}

/// A device type of DLPack; `kind` is ours, null for host memory.
struct DlDevice {
  int32_t type;
  const char *kind;
};
static constexpr DlDevice dlDevices[] = {{1, nullptr}, {2, "cuda"}, {3, nullptr}, {10, "hip"}, {11, nullptr}};

/// `copies` keeps dense copies of strided inputs; it is null for outputs, which must be dense.
static Expected<TensorView> toView(const Plan &plan, size_t index, const tilewright_tensor &tensor,
                                   std::vector<Tensor> *copies) {
  if (tensor.struct_size < sizeof(tilewright_tensor))
    return Status(Code::Usage,
                  fmt::format("a tensor says that its structure has {} bytes, expected {}: set struct_size",
                              tensor.struct_size, sizeof(tilewright_tensor)));
  const tilewright_dl_tensor &dl = tensor.dl;
  if (dl.ndim < 0 || (dl.ndim > 0 && !dl.shape))
    return Status(Code::Usage, fmt::format("a tensor has {} dimensions without a shape", dl.ndim));
  Expected<DType> type = fromDl(dl.dtype);
  TILEWRIGHT_TRY(type);
  const DlDevice *device = std::ranges::find(dlDevices, dl.device.device_type, &DlDevice::type);
  if (device == std::end(dlDevices))
    return Status(Code::Usage, fmt::format("a tensor is on a device of DLPack type {}, expected 1 (host), 2 (CUDA), 3 "
                                           "(its pinned host memory), 10 (ROCm) or 11 "
                                           "(its pinned host memory)",
                                           dl.device.device_type));
  bool onDevice = device->kind != nullptr;
  Shape shape(dl.shape, dl.shape + dl.ndim);
  std::byte *data = dl.data ? static_cast<std::byte *>(dl.data) + dl.byte_offset : nullptr;
  if (data && !isDense(dl)) {
    if (onDevice || !copies)
      return Status(Code::Unsupported,
                    "a tensor on the GPU or for an output is not dense row-major: make it contiguous first");
    TILEWRIGHT_TRY(checkStrided(plan, index, {*type, shape, data, onDevice}));
    copies->push_back(copyStrided(dl, *type, shape, data));
    data = copies->back().bytes();
  }
  return TensorView{*type, std::move(shape), data, onDevice};
}

static Expected<std::vector<TensorView>> toViews(const tilewright_context &context, const tilewright_tensor *tensors,
                                                 size_t count, std::vector<Tensor> *copies) {
  std::vector<TensorView> views;
  for (size_t i = 0; i < count; ++i) {
    Expected<TensorView> view = toView(context.context->program().plan(), i, tensors[i], copies);
    TILEWRIGHT_TRY(view);
    const std::string &id = context.context->device().info().id;
    const DlDevice &device = *std::ranges::find(dlDevices, tensors[i].dl.device.device_type, &DlDevice::type);
    if (view->onDevice && id != fmt::format("{}:{}", device.kind, tensors[i].dl.device.device_id))
      return Status(Code::Usage, fmt::format("a tensor is on {}:{}, the context runs on {}", device.kind,
                                             tensors[i].dl.device.device_id, id));
    views.push_back(std::move(*view));
  }
  return views;
}

static std::vector<Signature> signatures(const Program &program, const std::vector<ValueId> &ids) {
  const Plan &plan = program.plan();
  std::vector<std::string> names;
  for (const Symbol &symbol : plan.symbols)
    names.push_back(symbol.name);
  std::vector<Signature> result;
  for (ValueId id : ids) {
    Signature &signature = result.emplace_back();
    signature.value = &plan.values[id];
    for (ExprId dim : signature.value->dims) {
      const Expr &node = plan.exprs[dim];
      signature.shape.push_back(node.kind == ExprKind::Constant ? node.lhs : -1);
      signature.words.push_back(toString(plan.exprs, names, dim));
    }
    for (const std::string &word : signature.words)
      signature.wordPointers.push_back(word.c_str());
  }
  return result;
}

static Status describe(const std::vector<Signature> &list, size_t index, tilewright_tensor_info *info) {
  if (index >= list.size())
    return {Code::Usage, fmt::format("there is no number {} of {}", index, list.size())};
  if (info->struct_size < sizeof(tilewright_tensor_info))
    return {Code::Usage, "tilewright_tensor_info::struct_size is not set"};
  const Signature &signature = list[index];
  info->name = signature.value->name.c_str();
  info->dtype = toDl(signature.value->dtype);
  info->ndim = static_cast<int32_t>(signature.shape.size());
  info->shape = signature.shape.data();
  info->dimensions = signature.wordPointers.data();
  return {};
}

static Status makeProgram(Expected<Artifact> artifact, const tilewright_device *device,
                          const tilewright_load_options *options, tilewright_program **program) {
  TILEWRIGHT_TRY(artifact);
  std::string mode = options && options->fusion_mode ? options->fusion_mode : "all";
  Expected<std::shared_ptr<const Program>> loaded = Program::create(*artifact, device->device->info(), mode);
  TILEWRIGHT_TRY(loaded);
  std::vector<Signature> inputs = signatures(**loaded, (*loaded)->plan().inputs),
                         outputs = signatures(**loaded, (*loaded)->plan().outputs);
  *program = new tilewright_program{device->device, *loaded, std::move(inputs), std::move(outputs)};
  return {};
}

static Status bindTensors(tilewright_context *context, const tilewright_tensor *inputs, size_t inputCount,
                          const tilewright_tensor *outputs, size_t outputCount, std::vector<TensorView> &in,
                          std::vector<TensorView> &out) {
  context->contiguous.clear();
  context->outputs.clear();
  Expected<std::vector<TensorView>> inputViews = toViews(*context, inputs, inputCount, &context->contiguous);
  TILEWRIGHT_TRY(inputViews);
  Expected<std::vector<TensorView>> outputViews = toViews(*context, outputs, outputCount, nullptr);
  TILEWRIGHT_TRY(outputViews);
  in = std::move(*inputViews);
  out = std::move(*outputViews);
  return {};
}

/// Output `index` of the last run. The first request fetches all outputs.
static Expected<const tilewright_value *> outputAt(tilewright_context &context, size_t index) {
  if (context.outputs.empty()) {
    Expected<std::vector<Tensor>> outputs = context.context->outputs();
    TILEWRIGHT_TRY(outputs);
    for (const Tensor &output : *outputs)
      context.outputs.emplace_back(output);
  }
  if (index >= context.outputs.size())
    return Status(Code::Usage, fmt::format("there is no output {} of {}", index, context.outputs.size()));
  return &context.outputs[index];
}

static Status tensorOf(const tilewright_value &value, tilewright_tensor *tensor) {
  if (tensor->struct_size < sizeof(tilewright_tensor))
    return {Code::Usage, "tilewright_tensor::struct_size is not set"};
  const Tensor &from = value.tensor;
  if (isObject(from.type()))
    return {Code::Usage,
            fmt::format("the value is a {}, which is no DLPack tensor: read it by tilewright_context_output_value",
                        name(from.type()))};
  tensor->dl = {const_cast<std::byte *>(from.bytes()),
                {1, 0},
                static_cast<int32_t>(from.rank()),
                toDl(from.type()),
                const_cast<int64_t *>(from.shape().data()),
                nullptr,
                0};
  return {};
}

extern "C" {

uint32_t tilewright_api_version(void) { return TILEWRIGHT_API_VERSION; }
const char *tilewright_version(void) { return tilewright::version().data(); }
const char *tilewright_last_error(void) { return lastError.c_str(); }

tilewright_status tilewright_device_open(const char *id, tilewright_device **device) {
  return guarded([&] {
    if (!id || !device)
      return Status(Code::Usage,
                    "tilewright_device_open got NULL, expected an id such as \"host\" and a place for the device");
    Expected<std::shared_ptr<Device>> opened = openDevice(id);
    TILEWRIGHT_TRY(opened);
    *device = new tilewright_device{*opened};
    return Status();
  });
}
void tilewright_device_free(tilewright_device *device) { delete device; }

tilewright_status tilewright_program_load(const char *path, const tilewright_device *device,
                                          const tilewright_load_options *options, tilewright_program **program) {
  return guarded([&] {
    if (!path || !device || !program)
      return Status(Code::Usage,
                    "tilewright_program_load got NULL, expected a path, a device and a place for the program");
    return makeProgram(Artifact::open(path), device, options, program);
  });
}
tilewright_status tilewright_program_load_memory(const void *bytes, size_t size, const tilewright_device *device,
                                                 const tilewright_load_options *options, tilewright_program **program) {
  return guarded([&] {
    return makeProgram(Artifact::fromBytes({static_cast<const std::byte *>(bytes), size}), device, options, program);
  });
}
void tilewright_program_free(tilewright_program *program) { delete program; }

size_t tilewright_program_input_count(const tilewright_program *program) { return program->inputs.size(); }
size_t tilewright_program_output_count(const tilewright_program *program) { return program->outputs.size(); }
tilewright_status tilewright_program_input(const tilewright_program *program, size_t index,
                                           tilewright_tensor_info *info) {
  return guarded([&] { return describe(program->inputs, index, info); });
}
tilewright_status tilewright_program_output(const tilewright_program *program, size_t index,
                                            tilewright_tensor_info *info) {
  return guarded([&] { return describe(program->outputs, index, info); });
}

tilewright_status tilewright_context_create(const tilewright_program *program,
                                            const tilewright_context_options *options, tilewright_context **context) {
  return guarded([&] {
    // The handle of the default stream: CU_STREAM_LEGACY.
    void *defaultStream = reinterpret_cast<void *>(uintptr_t(1));
    void *stream = options && options->use_stream ? (options->stream ? options->stream : defaultStream) : nullptr;
    Expected<std::unique_ptr<Context>> created = Context::create(program->program, program->device, stream);
    TILEWRIGHT_TRY(created);
    *context = new tilewright_context{std::move(*created), {}, {}};
    return Status();
  });
}
void tilewright_context_free(tilewright_context *context) { delete context; }

tilewright_status tilewright_context_run(tilewright_context *context, const tilewright_tensor *inputs,
                                         size_t input_count, const tilewright_tensor *outputs, size_t output_count) {
  return guarded([&] {
    std::vector<TensorView> in, out;
    TILEWRIGHT_TRY(bindTensors(context, inputs, input_count, outputs, output_count, in, out));
    if (output_count != 0)
      return context->context->runInto(in, out);
    TILEWRIGHT_TRY(context->context->bind(in));
    TILEWRIGHT_TRY(context->context->execute());
    return context->context->synchronize();
  });
}

tilewright_status tilewright_context_bind(tilewright_context *context, const tilewright_tensor *inputs,
                                          size_t input_count, const tilewright_tensor *outputs, size_t output_count) {
  return guarded([&] {
    std::vector<TensorView> in, out;
    TILEWRIGHT_TRY(bindTensors(context, inputs, input_count, outputs, output_count, in, out));
    bool hostMemory = context->context->device().info().hostMemory;
    for (const TensorView &view : out)
      if (view.onDevice == hostMemory || reinterpret_cast<uintptr_t>(view.data) % 64 != 0)
        return Status(Code::Usage, "an output that is bound must be memory of the context's device, 64-byte aligned; "
                                   "use tilewright_context_run");
    return context->context->bind(in, out);
  });
}
tilewright_status tilewright_context_execute(tilewright_context *context) {
  return guarded([&] {
    context->outputs.clear();
    return context->context->execute();
  });
}
tilewright_status tilewright_context_synchronize(tilewright_context *context) {
  return guarded([&] { return context->context->synchronize(); });
}

tilewright_status tilewright_context_output(tilewright_context *context, size_t index, tilewright_tensor *output) {
  return guarded([&] {
    Expected<const tilewright_value *> value = outputAt(*context, index);
    TILEWRIGHT_TRY(value);
    return tensorOf(**value, output);
  });
}

tilewright_status tilewright_context_output_value(tilewright_context *context, size_t index,
                                                  const tilewright_value **value) {
  return guarded([&] {
    Expected<const tilewright_value *> found = outputAt(*context, index);
    TILEWRIGHT_TRY(found);
    *value = *found;
    return Status();
  });
}

tilewright_kind tilewright_value_kind(const tilewright_value *value) {
  switch (value->tensor.type()) {
  case DType::String:
    return TILEWRIGHT_KIND_STRINGS;
  case DType::Sequence:
    return TILEWRIGHT_KIND_SEQUENCE;
  case DType::Optional:
    return TILEWRIGHT_KIND_OPTIONAL;
  case DType::Map:
    return TILEWRIGHT_KIND_MAP;
  default:
    return TILEWRIGHT_KIND_TENSOR;
  }
}

size_t tilewright_value_shape(const tilewright_value *value, const int64_t **dims) {
  bool shaped = !isObject(value->tensor.type()) || value->tensor.type() == DType::String;
  *dims = value->tensor.shape().data();
  return shaped ? value->tensor.shape().size() : 0;
}

size_t tilewright_value_count(const tilewright_value *value) { return static_cast<size_t>(value->tensor.count()); }

tilewright_status tilewright_value_tensor(const tilewright_value *value, tilewright_tensor *tensor) {
  return guarded([&] { return tensorOf(*value, tensor); });
}

tilewright_status tilewright_value_element(const tilewright_value *value, size_t index,
                                           const tilewright_value **element) {
  return guarded([&] {
    if (index >= value->elements.size())
      return Status(Code::Usage, fmt::format("there is no element {} of {}", index, value->elements.size()));
    *element = &value->elements[index];
    return Status();
  });
}

tilewright_status tilewright_value_string(const tilewright_value *value, size_t index, const char **text,
                                          size_t *bytes) {
  return guarded([&] {
    if (value->tensor.type() != DType::String)
      return Status(Code::Usage, fmt::format("the value is a {}, not of strings", name(value->tensor.type())));
    if (index >= tilewright_value_count(value))
      return Status(Code::Usage, fmt::format("there is no string {} of {}", index, tilewright_value_count(value)));
    const std::string &string = value->tensor.data<std::string>()[index];
    *text = string.c_str();
    if (bytes)
      *bytes = string.size();
    return Status();
  });
}

} // extern "C"
