// SPDX-License-Identifier: Apache-2.0
// A compiled model in memory: what the compiler hands to the artifact writer and what the loader hands to a Program.
//
// Plain structs with value semantics and ids (indices into the vectors of the same Plan) instead of pointers:
//
//   Contents ── metadata, report
//      ├── plans[]      one for each (target, fusion mode); self-contained except for the two pools below
//      │      ├── symbols[], exprs[]      sizes
//      │      ├── values[]                every buffer and its role: input, output, constant, temporary, alias
//      │      ├── kernels[]               what steps launch: code object + entry + ABI
//      │      ├── steps[]                 what to do, in order
//      │      ├── bodies[]                plans that branches and loops run
//      │      └── groups[], faults[]      for reports, and for the error words of kernels
//      ├── code[]       machine code, shared by the plans of one target
//      └── constants[]  the pool of weights, shared by all plans
//
// PlanFields.h gives the serialized form of each struct, PlanVerifier.h its invariants.
#pragma once

#include "runtime/DType.h"
#include "runtime/plan/Expr.h"
#include "runtime/reference/Reference.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tilewright::runtime {

using ValueId = uint32_t;
using KernelId = uint32_t;
using GroupId = uint32_t;
inline constexpr uint32_t none = UINT32_MAX; // "no such id" wherever an id is optional

/// A symbolic dimension. Bound to dimension `dim` of input number `input` before the plan runs. Where `input` is
/// `none`: bound by the step that runs this plan as a body (the first `givenSymbols`), or by a step of this plan.
struct Symbol {
  std::string name;
  uint32_t input = none;
  uint32_t dim = 0;
  bool operator==(const Symbol &) const = default;
};

enum class ValueKind : uint8_t {
  Input = 0,     // `source` is the input's number; dense row-major memory of the caller's (or a copy): never written
  Output = 1,    // `source` is the output's number; aliases nothing
  Constant = 2,  // `source` is the entry of Contents::constants, which has exactly the value's size: never written
  Temporary = 3, // in the arena, from its first step to its last
  Alias = 4,     // the bytes of value `source`, from `byteOffset`, under other dims or another type
  Zeroed = 5,    // of constant size, outside of the arena; all zeros before and after each launch
};

struct Value {
  std::string name; // ONNX value name, for messages
  DType dtype = DType::F32;
  ValueKind kind = ValueKind::Temporary;
  std::vector<ExprId> dims; // dense row-major
  uint32_t source = none;
  ExprId byteOffset = none; // Alias only
  bool operator==(const Value &) const = default;
};

enum class BufferAccess : uint8_t { Read = 0, Write = 1, ReadWrite = 2 };

/// A compiled kernel; KernelAbi.h says how it is called. Launches share kernels, so sizes belong to the launch.
struct Kernel {
  std::string name;     // matmul_bias_gelu__f16_f16_f32__128x128x32__sm_90a
  std::string form;     // for reports: root, tiles, and what it uses of its target; may be empty
  uint32_t code = none; // index into Contents::code
  std::string entry;    // symbol in that code object
  std::vector<BufferAccess> buffers;
  uint32_t scalars = 0;                        // number of i64 arguments after the buffers
  uint32_t tensorMaps = 0;                     // number of tensor maps after the error word
  std::array<uint32_t, 3> block = {1, 1, 1};   // threads of a block; host: {1, 1, 1}
  std::array<uint32_t, 3> cluster = {1, 1, 1}; // blocks of a cluster
  uint32_t staticSharedBytes = 0;              // declared in the code; for reports and checks
  uint32_t dynamicSharedBytes = 0;             // requested at launch
  uint32_t flags = 0;
  /// A flag: the kernel may be started before earlier kernels end, because it waits for them itself (KernelAbi.h).
  static constexpr uint32_t startsEarly = 1;
  bool operator==(const Kernel &) const = default;
};

/// A buffer of a launch, described as a tensor whose boxes the copy engine copies for the kernel (KernelAbi.h).
/// Dimensions are listed fastest first; sizes and strides are in elements.
struct TensorMap {
  uint32_t buffer = 0;       // position in Launch::buffers
  ExprId start = none;       // the position in the buffer of the tensor's first element
  std::vector<ExprId> sizes; // elements at coordinates beyond these read as zero
  std::vector<ExprId> strides;
  std::vector<uint32_t> box; // rows, along the first dimension, are swizzled over their 128, 64 or 32 bytes
  uint32_t rounded = 0;      // 1: elements are F32, and are copied as the nearest tf32
  /// Set if the rows of a box are pixels of images (im2col mode), else empty. For each dimension but the first and the
  /// last: the first pixel, the last one relative to the dimension's end, and the distance between two.
  std::vector<int32_t> lower, upper, steps;
  bool operator==(const TensorMap &) const = default;
};
inline constexpr size_t maxTensorMapRank = 5;

/// Launches a kernel over a grid. `buffers` and `scalars` are the kernel's arguments in order.
struct Launch {
  KernelId kernel = none;
  std::vector<ValueId> buffers;
  std::vector<ExprId> scalars;
  std::array<ExprId, 3> grid = {none, none, none}; // an empty grid (some extent 0) is legal and does nothing
  ExprId workspaceBytes = none;                    // host only: scratch for each worker thread; `none` means 0
  GroupId group = none;
  std::vector<TensorMap> tensorMaps; // as many as the kernel takes
  bool operator==(const Launch &) const = default;
};

/// The step binds `symbol` to dimension `dim` of its output number `output`.
struct BoundSymbol {
  uint32_t output = 0;
  uint32_t dim = 0;
  SymbolId symbol = 0;
  bool operator==(const BoundSymbol &) const = default;
};

/// Evaluates one ONNX node with the reference kernels. Absent optional inputs and unused outputs are `none`.
struct HostCall {
  std::string op;
  std::string domain;
  int64_t opset = 0;
  Attributes attributes;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<BoundSymbol> binds;
  std::string node; // ONNX node name, for messages
  GroupId group = none;
};

/// Writes size expressions as the elements of an i64 tensor: for shapes that are read as data.
struct WriteDims {
  ValueId value = none;
  std::vector<ExprId> elements;
  bool operator==(const WriteDims &) const = default;
};

/// Copies all bytes of `source` to `target`, which has the same size.
struct Copy {
  ValueId target = none;
  ValueId source = none;
  bool operator==(const Copy &) const = default;
};

enum class Relation : uint8_t { Equal = 0, NotEqual = 1, Less = 2, LessEqual = 3 };

/// Stops the run with `message` (Code::Malformed) unless `lhs relation rhs`.
struct Guard {
  Relation relation = Relation::Equal;
  ExprId lhs = none;
  ExprId rhs = none;
  std::string message;
  bool operator==(const Guard &) const = default;
};

/// How a step runs the plan `Plan::bodies[body]`: the body's first symbols are bound to `sizes`, its last inputs to
/// `captures`, the values of this plan that it reads.
struct BodyUse {
  uint32_t body = none;
  std::vector<ExprId> sizes;
  std::vector<ValueId> captures;
  bool operator==(const BodyUse &) const = default;
};

/// Runs one of two bodies, whose outputs become the step's outputs. `condition` is one bool.
struct Branch {
  ValueId condition = none;
  BodyUse onTrue, onFalse;
  std::vector<ValueId> outputs; // `none` for unused ones
  std::vector<BoundSymbol> binds;
  std::string node; // ONNX node name, for messages
  GroupId group = none;
  bool operator==(const Branch &) const = default;
};

/// Slices along the first dimension of `value`, one for each iteration of a loop; in reverse order if `reverse`.
struct Slices {
  ValueId value = none;
  bool reverse = false;
  bool operator==(const Slices &) const = default;
};

/// Runs a body repeatedly.
///
///   the body's inputs    [iteration (int64), condition (bool)] if `counted`, carried..., a slice of each of `scanned`,
///                        captures...
///   the body's outputs   [condition] if `conditional`, carried..., a slice of each of `collected`
///
/// It ends after `tripCount` iterations (one int64; without it, the number of slices of the first of `scanned`, or no
/// limit), or before an iteration whose condition is false. `finals` receive the carried values at the end, which are
/// `carried` if no iteration ran. A carried value may change its shape between iterations; collected slices must not.
struct Loop {
  ValueId tripCount = none;
  ValueId condition = none;
  bool counted = true;
  bool conditional = true; // false: the body returns no condition, and the initial one holds for all iterations
  std::vector<ValueId> carried;
  std::vector<Slices> scanned;
  BodyUse body;
  std::vector<ValueId> finals;    // `none` for unused ones
  std::vector<Slices> collected;  // likewise
  std::vector<BoundSymbol> binds; // outputs are numbered finals first, then collected
  std::string node;               // ONNX node name, for messages
  GroupId group = none;
  bool operator==(const Loop &) const = default;
};

/// The inverse of WriteDims: binds symbols to elements of a tensor, which must not be negative. `value` is an i64
/// vector of known length; a bind's `dim` is the element's index, its `output` 0.
struct ReadSizes {
  ValueId value = none;
  std::vector<BoundSymbol> binds;
  std::string node; // ONNX node name, for messages
  bool operator==(const ReadSizes &) const = default;
};

using Step = std::variant<Launch, HostCall, WriteDims, Copy, Guard, Branch, Loop, ReadSizes>;

/// The sizes of a contraction: `batch` products of m x k by k x n. A convolution counts as the product of its windows
/// and its filters.
struct Product {
  ExprId batch = none, m = none, n = none, k = none;
  DType type = DType::F32; // of the operands
  bool operator==(const Product &) const = default;
};

/// What a fusion group computes and costs, for `bench`, `inspect` and error messages; not needed to run.
struct Group {
  std::string name;
  std::string rootKind;             // "matmul", "row-reduction", "pointwise", ...
  std::vector<std::string> members; // ONNX node names
  ExprId bytesMoved = none;         // distinct bytes read and written, by access map
  ExprId flops = none;
  std::vector<std::string> reasons; // why it did not grow further
  std::vector<Product> products;    // its contractions, for comparison with a vendor's library
  bool operator==(const Group &) const = default;
};

/// A mode may have two plans. The first assumes that sizes which meet in a broadcast are equal, and that a rank which
/// depends on whether sizes are equal is the usual one. The plan of the mode with this suffix takes sizes that the
/// first refuses: sizes of 1 in such broadcasts, or else sizes that give the other rank.
inline constexpr std::string_view broadcastingSuffix = "+broadcast";

struct Plan {
  std::string target; // "host", "sm_90a", "gfx942", ...
  /// "all", "epilogue", "none" or "reference"; with broadcastingSuffix, for sizes that the bare mode's plan refuses.
  std::string mode;
  std::vector<std::string> requirements; // CPU features that host code needs; rows of CpuFeatures.h
  std::vector<Symbol> symbols;
  std::vector<Expr> exprs;
  std::vector<Value> values;
  std::vector<ValueId> inputs;  // in the model's order
  std::vector<ValueId> outputs; // in the model's order
  std::vector<Kernel> kernels;
  std::vector<Step> steps;
  std::vector<Group> groups;
  /// The sentences that a kernel's error word selects from (KernelAbi.h). Kernels of bodies select from those of the
  /// root plan.
  std::vector<std::string> faults;
  uint32_t givenSymbols = 0; // bodies: the number of leading symbols that the step which runs it binds
  std::vector<Plan> bodies;  // what Branch and Loop steps run; for the same target and mode
};

enum class CodeKind : uint8_t {
  HostX86 = 0, // flat position-independent bytes; symbols give the entries' offsets
  Ptx = 1,     // text; entries by name
  Cubin = 2,   // entries by name
  Hsaco = 3,   // AMD code object; entries by name
};

struct CodeSymbol {
  std::string name;
  uint64_t offset = 0;
  bool operator==(const CodeSymbol &) const = default;
};

/// Machine code. `bytes` is owned by the compiler while writing, by the mapping after loading.
struct CodeObject {
  CodeKind kind = CodeKind::HostX86;
  std::string target;              // as in Plan::target
  std::vector<CodeSymbol> symbols; // HostX86 only
  std::span<const std::byte> bytes;
};

struct Metadata {
  std::string modelName;
  std::string compilerVersion;
  std::vector<std::pair<std::string, std::string>> options; // as resolved, in a fixed order
  bool operator==(const Metadata &) const = default;
};

/// The contents of an artifact.
struct Contents {
  Metadata metadata;
  std::vector<Plan> plans;
  std::vector<CodeObject> code;
  std::vector<std::span<const std::byte>> constants;
  std::string report; // JSON of the compile report; may be empty
};

} // namespace tilewright::runtime
