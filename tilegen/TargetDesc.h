// SPDX-License-Identifier: Apache-2.0
// What is true of each target, as rows of one table. Code that serves several targets asks for a fact, never for a
// name.
#pragma once

#include "runtime/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// Who runs one program of the grid.
enum class ProgramModel {
  Vector, // one thread with vector registers
  Block,  // a block of threads, in warps, with shared memory
};

/// Who makes the machine's code.
enum class Backend { Host, Nvptx, Amdgcn };

enum class MatrixType { F16, BF16, TF32, F32, F64, I8 };

/// One matrix instruction: m x n x k elements of `type`, accumulated in f32 (i32 for i8).
struct MatrixInstruction {
  std::string_view name;
  int m, n, k;
  MatrixType type;
  int warps = 1; // that issue it together
};

/// Options of kernels on targets with a copy engine, mostly of those whose warps have roles. Each may be turned off, to
/// measure what it brings.
struct RoleOptions {
  bool prefetchesMaps = false; // prefetch tensor maps before the first copy needs them
  bool constantsFirst = false; // copy constants before the wait for earlier kernels; in pipelines without roles, too
  int bulkStoresFrom = 0;      // from how many programs of a block on the engine stores results; 0: never
  int stepsAhead = 0;          // so many first steps of a product are asked for when blocks start; 0: none
  int neighbours = 1;          // so many consecutive blocks, one on each multiprocessor, share what they read
};

struct TargetDesc {
  std::string_view name; // as --target spells it
  std::string_view cpu;  // as LLVM spells it
  Backend backend;
  ProgramModel model;
  int vectorBits;      // Vector: a register; Block: the widest access of one thread
  int vectorRegisters; // Vector: how many; Block: 32-bit registers of one thread at most
  int warpWidth;       // 1 for Vector
  int maxThreads;      // of one block
  int units;           // multiprocessors or compute units; 1 for Vector (a thread pool decides)
  int64_t sharedBytes; // of one block at most
  double bandwidth;    // of memory, bytes a second; 0 unknown
  double peakF32;      // floating point operations a second without matrix instructions; 0 unknown
  double peakF16;      // with matrix instructions, f32 accumulators, dense; 0 unknown
  double peakI8;       // of bytes, with matrix instructions, i32 accumulators, dense; 0 unknown
  std::span<const MatrixInstruction> matrix;
  bool asyncCopies;               // from memory to shared memory beside the registers
  std::string_view features = {}; // beyond those of `cpu`, as LLVM spells them, with commas between
  bool bulkCopies = false;        // of whole tiles, by an engine that signals barriers in shared memory
  bool dependentLaunches = false; // a kernel may start before the one that it reads from ends, and wait by itself
  RoleOptions roles = {};         // where there are bulk copies
  int clusterBlocks = 0;          // that run together and can write to each other's shared memory, at most; 0: none
};

/// All rows of the table, those of the host from the least to the best.
std::span<const TargetDesc> targets();

/// What a machine must have to run the target's code: `cpu`, then each of `features`.
std::vector<std::string> requirementsOf(const TargetDesc &target);

/// The row named `name`, or an error that lists all names. "host" is the first row, which every supported host can run;
/// the driver picks the best row for its machine instead.
Expected<const TargetDesc *> findTarget(std::string_view name);

} // namespace tilewright
