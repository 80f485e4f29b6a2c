// SPDX-License-Identifier: Apache-2.0
#include "tests/backend/gpu/SimtMachine.h"
#include "backend/Dialects.h"
#include "backend/TemporaryFile.h"
#include "backend/amdgcn/LinkObject.h"
#include "backend/gpu/GenerateCode.h"
#include "tests/backend/gpu/SimtBlock.h"
#include "tests/backend/gpu/SimtDevice.h"
#include "tests/backend/gpu/SimtEngine.h"
#include "tests/backend/gpu/SimtTarget.h"
#include "tilegen/place/Place.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <dlfcn.h>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::test;

//===- Threads as fibers ------------------------------------------------------------------------------------------===//

RunningBlock *tilewright::test::block;

namespace {
//===- Verbs ------------------------------------------------------------------------------------------------------===//

int32_t threadId() { return block->current; }
int32_t blockId(int32_t dim) { return block->id[dim]; }

int32_t shuffle(int32_t word, int32_t mask) {
  block->self().word = word;
  block->meetWarp();
  int32_t other = block->inWarp(block->lane() ^ mask).word;
  block->meetWarp(); // nobody brings the next word before all have read this one
  return other;
}

void barrier() { block->meetBlock(); }
void awaitKernels() { block->self().hasAwaited = true; }
void fence() { device->fence(); }
int32_t countUpTo(int32_t *address, int32_t most) { return device->countUpTo(address, most); }

void copyAsync(std::byte *to, const std::byte *from, uint32_t bytes, uint32_t live) {
  std::memset(to, 0xff, bytes);
  block->self().groups.back().push_back({to, from, bytes, live});
}
void commitCopies() { block->self().groups.emplace_back(); }
void waitCopies(int32_t pending) {
  auto &groups = block->self().groups; // the last one is open
  while (groups.size() > static_cast<size_t>(pending) + 1) {
    for (const PendingCopy &copy : groups.front()) {
      std::memset(copy.to, 0, copy.bytes);
      std::memcpy(copy.to, copy.from, copy.live);
    }
    groups.pop_front();
  }
}

/// PTX ISA, ldmatrix .m8n8.x4: thread l gives the address of row l % 8 of matrix l / 8.
void readMatrices(const std::byte *address, int32_t transposed, uint32_t *words) {
  block->self().given[0] = address;
  block->meetWarp();
  unsigned lane = block->lane();
  for (unsigned matrix = 0; matrix < 4; ++matrix) {
    uint16_t pair[2];
    for (unsigned i = 0; i < 2; ++i) {
      unsigned row = lane / 4, column = lane % 4 * 2 + i;
      if (transposed)
        std::swap(row, column);
      auto *start = static_cast<const std::byte *>(block->inWarp(matrix * 8 + row).given[0]);
      std::memcpy(&pair[i], start + column * 2, 2);
    }
    std::memcpy(&words[matrix], pair, 4);
  }
  block->meetWarp();
}

float toFloat(uint16_t bits, bool isBrain) {
  return isBrain ? std::bit_cast<float>(uint32_t(bits) << 16) : float(std::bit_cast<_Float16>(bits));
}

struct Element {
  unsigned row, column;
};
/// Where element i of a lane's fragments is, from the manuals: A as row and k, B as k and column, C as row and column.
struct Instruction {
  unsigned m, n, k, perLane[3];
  Element (*a)(unsigned lane, unsigned i), (*b)(unsigned lane, unsigned i), (*c)(unsigned lane, unsigned i);
};
const std::map<int, Instruction> instructions = {
    {8, // mma.m16n8k16
     {16,
      8,
      16,
      {8, 4, 4},
      [](unsigned l, unsigned i) {
        return Element{l / 4 + (i % 4 >= 2 ? 8 : 0), l % 4 * 2 + i % 2 + (i >= 4 ? 8 : 0)};
      },
      [](unsigned l, unsigned i) { return Element{l % 4 * 2 + i % 2 + (i >= 2 ? 8 : 0), l / 4}; },
      [](unsigned l, unsigned i) { return Element{l / 4 + (i >= 2 ? 8 : 0), l % 4 * 2 + i % 2}; }}},
    {32, // v_mfma_f32_32x32x8
     {32,
      32,
      8,
      {4, 4, 16},
      [](unsigned l, unsigned i) { return Element{l % 32, 4 * (l / 32) + i}; },
      [](unsigned l, unsigned i) { return Element{4 * (l / 32) + i, l % 32}; },
      [](unsigned l, unsigned i) { return Element{8 * (i / 4) + 4 * (l / 32) + i % 4, l % 32}; }}},
    {16, // v_mfma_f32_16x16x16
     {16,
      16,
      16,
      {4, 4, 4},
      [](unsigned l, unsigned i) { return Element{l % 16, 4 * (l / 16) + i}; },
      [](unsigned l, unsigned i) { return Element{4 * (l / 16) + i, l % 16}; },
      [](unsigned l, unsigned i) { return Element{4 * (l / 16) + i, l % 16}; }}},
};

void multiply(int32_t which, int32_t isBrain, const uint16_t *a, const uint16_t *b, float *sums) {
  const Instruction &instruction = instructions.at(which);
  block->self().given[0] = a;
  block->self().given[1] = b;
  block->meetWarp();
  std::vector<float> lhs(instruction.m * instruction.k), rhs(instruction.k * instruction.n);
  for (unsigned l = 0; l < block->lanes; ++l) {
    auto *la = static_cast<const uint16_t *>(block->inWarp(l).given[0]),
         *lb = static_cast<const uint16_t *>(block->inWarp(l).given[1]);
    for (unsigned i = 0; i < instruction.perLane[0]; ++i)
      lhs[instruction.a(l, i).row * instruction.k + instruction.a(l, i).column] = toFloat(la[i], isBrain);
    for (unsigned i = 0; i < instruction.perLane[1]; ++i)
      rhs[instruction.b(l, i).row * instruction.n + instruction.b(l, i).column] = toFloat(lb[i], isBrain);
  }
  for (unsigned i = 0; i < instruction.perLane[2]; ++i) {
    Element c = instruction.c(block->lane(), i);
    for (unsigned k = 0; k < instruction.k; ++k)
      sums[i] += lhs[c.row * instruction.k + k] * rhs[k * instruction.n + c.column];
  }
  block->meetWarp();
}

int32_t toInteger(uint8_t byte, bool isUnsigned) { return isUnsigned ? byte : static_cast<int8_t>(byte); }

/// PTX ISA, "Matrix Fragments for mma.m16n8k32": each lane has four words of A, two of B and four sums.
void multiplyBytes(int32_t lhsUnsigned, int32_t rhsUnsigned, const uint8_t *a, const uint8_t *b, int32_t *sums) {
  block->self().given[0] = a;
  block->self().given[1] = b;
  block->meetWarp();
  int32_t lhs[16][32], rhs[32][8];
  for (unsigned l = 0; l < block->lanes; ++l) {
    auto *la = static_cast<const uint8_t *>(block->inWarp(l).given[0]),
         *lb = static_cast<const uint8_t *>(block->inWarp(l).given[1]);
    for (unsigned i = 0; i < 16; ++i)
      lhs[l / 4 + (i / 4 % 2 ? 8 : 0)][l % 4 * 4 + i % 4 + (i >= 8 ? 16 : 0)] = toInteger(la[i], lhsUnsigned);
    for (unsigned i = 0; i < 8; ++i)
      rhs[l % 4 * 4 + i % 4 + (i >= 4 ? 16 : 0)][l / 4] = toInteger(lb[i], rhsUnsigned);
  }
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned k = 0; k < 32; ++k)
      sums[i] += lhs[block->lane() / 4 + (i >= 2 ? 8 : 0)][k] * rhs[k][block->lane() % 4 * 2 + i % 2];
  block->meetWarp();
}

/// PTX ISA, cvt.rna.tf32: to nearest, ties away from zero; NaN and infinity stay.
float roundToTf32(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  return std::isfinite(value) ? std::bit_cast<float>((bits + 0x1000) & ~0x1fffu) : value;
}

/// What the instruction sees of a word: its last 13 bits are not read.
float asTf32(float value) { return std::bit_cast<float>(std::bit_cast<uint32_t>(value) & ~0x1fffu); }

/// Towards zero, as matrix units round what they add up.
float truncated(double exact) {
  auto nearest = static_cast<float>(exact);
  return std::abs(double(nearest)) > std::abs(exact) ? std::nextafter(nearest, 0.0f) : nearest;
}

/// PTX ISA, "Matrix Fragments for mma.m16n8k8": each lane has four words of A, two of B and four sums. How sums are
/// rounded: Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores", 2021.
void multiplyTf32(const float *a, const float *b, float *sums) {
  block->self().given[0] = a;
  block->self().given[1] = b;
  block->meetWarp();
  float lhs[16][8], rhs[8][8];
  for (unsigned l = 0; l < block->lanes; ++l) {
    auto *la = static_cast<const float *>(block->inWarp(l).given[0]),
         *lb = static_cast<const float *>(block->inWarp(l).given[1]);
    for (unsigned i = 0; i < 4; ++i)
      lhs[l / 4 + (i % 2 ? 8 : 0)][l % 4 + (i >= 2 ? 4 : 0)] = asTf32(la[i]);
    for (unsigned i = 0; i < 2; ++i)
      rhs[l % 4 + 4 * i][l / 4] = asTf32(lb[i]);
  }
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned half : {0, 4}) { // four products and the sum so far are added exactly
      double exact = sums[i];
      for (unsigned k = half; k < half + 4; ++k)
        exact += double(lhs[block->lane() / 4 + (i >= 2 ? 8 : 0)][k]) * rhs[k][block->lane() % 4 * 2 + i % 2];
      sums[i] = truncated(exact);
    }
  block->meetWarp();
}

constexpr size_t sharedAlignment = 1024;
std::byte *sharedMemory() { return block->memory(); }
void publishShared() { block->isPublishing = true; }

/// PTX ISA, "Strides" and "128-byte swizzling mode" of wgmma's matrices: an element's bytes from the matrix's start,
/// before chunks are exchanged. Rows of 64 elements come in groups of eight; where rows run across k, `panels` lie
/// between one row of 64 and the next 64 of the same k.
struct SharedOperand {
  const std::byte *start;
  uint32_t panels, alongK;

  /// Of bytes, whose rows of 128 run along k.
  uint8_t byteAt(unsigned across, unsigned k) const {
    size_t offset = start - sharedMemory() + across * 128 + k;
    return static_cast<uint8_t>(*block->asSeen(sharedMemory() + (offset ^ (offset >> 7 << 4 & 0x70))));
  }
  uint16_t at(unsigned across, unsigned k) const {
    unsigned row = alongK ? across : k, column = alongK ? k : across;
    size_t offset = start - sharedMemory() + column / 64 * panels + row * 128 + column % 64 * 2;
    offset ^= offset >> 7 << 4 & 0x70; // bits 7 to 9 onto bits 4 to 6
    uint16_t bits;
    std::memcpy(&bits, block->asSeen(sharedMemory() + offset), 2);
    return bits;
  }
};

/// What an instruction will read, for `waitProducts` to see whether somebody wrote there meanwhile: whole rows.
void noteReads(const SharedOperand &operand, unsigned across) {
  auto *from = sharedMemory() + (operand.start - sharedMemory()) / 1024 * 1024;
  unsigned panels = operand.alongK ? 1 : (across + 63) / 64, bytes = 128 * (operand.alongK ? across : 16);
  for (unsigned panel = 0; panel < panels; ++panel, from += operand.panels)
    block->self().products.back().push_back({from, {from, from + bytes}});
}

/// PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16" and k32, whose sums lie alike: the thread's own, for
/// which it needs nobody else.
template <typename Sum>
void addProducts(int32_t n, Sum *sums, unsigned depth, llvm::function_ref<Sum(unsigned, unsigned, unsigned)> product) {
  unsigned lane = block->lane(), warp = block->current / block->lanes % 4;
  for (int i = 0; i < n / 2; ++i) {
    unsigned row = warp * 16 + lane / 4 + (i % 4 >= 2 ? 8 : 0), column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    for (unsigned k = 0; k < depth; ++k)
      sums[i] += product(row, column, k);
  }
}
void multiplyShared(int32_t n, int32_t isBrain, float *sums, const std::byte *a, uint32_t aPanels, uint32_t aAlongK,
                    const std::byte *b, uint32_t bPanels, uint32_t bAlongK) {
  SharedOperand lhs{a, aPanels, aAlongK}, rhs{b, bPanels, bAlongK};
  noteReads(lhs, 64), noteReads(rhs, n);
  addProducts<float>(n, sums, 16, [&](unsigned row, unsigned column, unsigned k) {
    return toFloat(lhs.at(row, k), isBrain) * toFloat(rhs.at(column, k), isBrain);
  });
}
void multiplySharedBytes(int32_t n, int32_t isUnsigned, int32_t *sums, const std::byte *a, uint32_t aPanels,
                         uint32_t aAlongK, const std::byte *b, uint32_t bPanels, uint32_t bAlongK) {
  SharedOperand lhs{a, aPanels, aAlongK}, rhs{b, bPanels, bAlongK};
  noteReads(lhs, 64), noteReads(rhs, n);
  if (!aAlongK || !bAlongK) // the instruction would read something else
    return;
  addProducts<int32_t>(n, sums, 32, [&](unsigned row, unsigned column, unsigned k) {
    return toInteger(lhs.byteAt(row, k), isUnsigned & 1) * toInteger(rhs.byteAt(column, k), isUnsigned & 2);
  });
}
/// PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16": four lanes hold a row of the left side.
void multiplyHeld(int32_t n, int32_t isBrain, float *sums, const uint16_t *held, const std::byte *b, uint32_t bPanels,
                  uint32_t bAlongK) {
  SharedOperand rhs{b, bPanels, bAlongK};
  noteReads(rhs, n);
  block->self().given[0] = held;
  block->meetWarp();
  addProducts<float>(n, sums, 16, [&](unsigned row, unsigned column, unsigned k) {
    unsigned lane = row % 8 * 4 + k % 8 / 2, position = k % 2 + (row % 16 >= 8 ? 2 : 0) + (k >= 8 ? 4 : 0);
    auto *elements = static_cast<const uint16_t *>(block->inWarp(lane).given[0]);
    return toFloat(elements[position], isBrain) * toFloat(rhs.at(column, k), isBrain);
  });
  block->meetWarp();
}
void commitProducts() { block->self().products.emplace_back(); }
void waitProducts(int32_t pending) {
  auto &products = block->self().products; // the last one is open
  for (; products.size() > static_cast<size_t>(pending) + 1; products.pop_front())
    for (const PendingRead &read : products.front())
      block->overwritten |= std::memcmp(read.from, read.bytes.data(), read.bytes.size()) != 0;
  block->meetWarp(); // .sync.aligned: no lane goes on, and releases what was read, before all have waited
}
float exp2Native(float x) { return std::exp2(x); }
float log2Native(float x) { return std::log2(x); }

void fiberMain() {
  block->body();
  block->self().done = true;
  block->yield();
}
} // namespace

//===- Programs ---------------------------------------------------------------------------------------------------===//

extern "C" {
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86Target();
void LLVMInitializeX86TargetMC();
void LLVMInitializeX86AsmPrinter();
void LLVMInitializeX86AsmParser();
}

bool SimtProgram::sharesTiles(const std::string &kernel) const {
  auto arrives = [](tile::PartArriveOp) { return WalkResult::interrupt(); };
  return module_.get().lookupSymbol<tile::KernelOp>(kernel).walk(arrives).wasInterrupted();
}

/// A virtual machine's processor may have more than the one whose name it bears, and tests ask for what it has.
static std::string featuresHere() {
  llvm::SubtargetFeatures features;
  for (const auto &[name, isThere] : llvm::sys::getHostCPUFeatures())
    features.AddFeature(name, isThere);
  return features.getString();
}

Expected<std::unique_ptr<SimtProgram>> SimtProgram::compile(const std::string &text, const TargetDesc &target,
                                                            InjectedFaults faults) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeX86AsmParser();
  DialectRegistry registry;
  registerDialects(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  loadDialects(*context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context.get());
  TargetDesc small = target;
  small.units = 2; // so that blocks take several programs of a small case
  if (!module || failed(tile::placeTiles(*module, small)))
    return Status(Code::Internal, "placing failed");
  SimtTarget simt(target.warpWidth, target.warpWidth == 32);
  auto distributed = distribute(*module, simt, faults);
  if (failed(distributed) || failed(convertToLlvm(**distributed, simt)))
    return Status(Code::Internal, "lowering failed");
  Machine machine = {"x86_64-unknown-linux-gnu",
                     llvm::sys::getHostCPUName().str(),
                     featuresHere(),
                     llvm::CodeGenFileType::ObjectFile,
                     {}};
  Expected<std::string> object = generateCode(**distributed, machine);
  if (!object)
    return object.status();
  Expected<std::string> library = linkObject(*object);
  if (!library)
    return library.status();
  Expected<TemporaryFile> file = TemporaryFile::create("so");
  TILEWRIGHT_TRY(file);
  TILEWRIGHT_TRY(file->write(*library));
  std::unique_ptr<SimtProgram> program(new SimtProgram());
  program->library_ = dlopen(file->path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!program->library_)
    return Status(Code::Internal, dlerror());
  const void *verbs[VerbCount] = {};
  auto set = [&](Verb verb, auto *function) { verbs[verb] = reinterpret_cast<const void *>(function); };
  set(ThreadId, threadId), set(BlockId, blockId), set(Shuffle, shuffle), set(Barrier, barrier), set(Copy, copyAsync);
  set(CommitCopies, commitCopies), set(WaitCopies, waitCopies), set(ReadMatrices, readMatrices),
      set(Multiply, multiply);
  set(MultiplyBytes, multiplyBytes), set(MultiplySharedBytes, multiplySharedBytes);
  set(RoundToTf32, roundToTf32), set(MultiplyTf32, multiplyTf32);
  set(MultiplyShared, multiplyShared), set(MultiplyHeld, multiplyHeld), set(CommitProducts, commitProducts),
      set(WaitProducts, waitProducts);
  set(AwaitKernels, awaitKernels), set(Fence, fence), set(CountUpTo, countUpTo);
  set(Exp2, exp2Native), set(Log2, log2Native);
  set(SharedMemory, sharedMemory), set(PublishShared, publishShared);
  std::memcpy(dlsym(program->library_, "simt_verbs"), verbs, sizeof verbs);
  if (void *engine = dlsym(program->library_, "simt_engine"))
    std::memcpy(engine, engineVerbs().data(), sizeof engineVerbs());
  program->lanes_ = target.warpWidth;
  for (auto &[name, facts] : placedFacts(*module))
    program->kernels_[name] = {facts.block[0], facts.dynamicSharedBytes};
  program->context_ = std::move(context);
  program->module_ = std::move(module);
  return program;
}

bool SimtProgram::hasRoles() {
  return module_->walk([](tile::RolesOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

SimtProgram::~SimtProgram() {
  if (library_)
    dlclose(library_);
}

/// The kernel's tensor maps with the addresses and sizes of `arguments`.
std::vector<SimtTensorMap> SimtProgram::mapsOf(tile::KernelOp kernel, const std::vector<uint64_t> &arguments,
                                               const PlacedLaunch &launch) {
  std::vector<SimtTensorMap> maps;
  for (const PlacedTensorMap &placed : launch.maps) {
    auto buffer = cast<tile::BufferType>(kernel.getArgumentTypes()[placed.buffer]);
    auto bytes = buffer.getElementType().getIntOrFloatBitWidth() / 8;
    SimtTensorMap &map = maps.emplace_back();
    map.start = reinterpret_cast<const std::byte *>(arguments[placed.buffer]) + placed.start * bytes;
    map.elementBytes = bytes;
    map.isConstant = tile::isConstant(kernel.getBody().getArgument(placed.buffer));
    map.rank = placed.sizes.size();
    llvm::copy(placed.sizes, map.sizes.begin());
    llvm::copy(placed.strides, map.strides.begin());
    llvm::copy(placed.box, map.box.begin());
  }
  return maps;
}

/// The block as it is before its first instruction.
static void start(RunningBlock &state, unsigned sharedBytes) {
  state.shared.assign(sharedBytes + sharedAlignment, std::byte{0xff});
  state.seen = state.shared;
  state.sharedStart = -reinterpret_cast<uintptr_t>(state.shared.data()) & (sharedAlignment - 1);
  state.isPublishing = false;
  for (auto &fiber : state.fibers) {
    fiber->done = fiber->hasAwaited = false;
    fiber->warpVisits = fiber->blockVisits = 0;
    fiber->groups.assign(1, {});
    fiber->products.assign(1, {});
    fiber->stores.assign(1, {});
    getcontext(&fiber->context);
    fiber->context.uc_stack = {fiber->stack.data(), 0, stackBytes}; // ss_sp, ss_flags, ss_size
    fiber->context.uc_link = nullptr;
    makecontext(&fiber->context, fiberMain, 0);
  }
  state.barriers.clear();
  state.meetings.clear();
}

/// More arguments than a function takes do no harm in the System V calling convention.
constexpr size_t mostArguments = 16;
template <size_t... I> static void call(void *function, std::vector<uint64_t> arguments, std::index_sequence<I...>) {
  if (arguments.size() > mostArguments)
    llvm::report_fatal_error("an imitated kernel has more arguments than it can be called with");
  arguments.resize(mostArguments);
  reinterpret_cast<void (*)(decltype(uint64_t(I))...)>(function)(arguments[I]...);
}

uint64_t SimtProgram::run(const std::string &kernel, std::vector<uint64_t> arguments, std::array<int64_t, 3> grid,
                          BlockOrder order) {
  void *function = dlsym(library_, kernel.c_str());
  uint64_t errorWord = 0;
  auto op = module_->lookupSymbol<tile::KernelOp>(kernel);
  PlacedLaunch launch = launchOf(op, {arguments.begin() + op.getNumBuffers(), arguments.end()});
  if (launch.hasOwnGrid())
    grid = launch.grid;
  std::vector<SimtTensorMap> maps = mapsOf(op, arguments, launch);
  SimtDevice memory(launch, order);
  std::vector<uint64_t> workspaces = memory.arguments();
  arguments.insert(arguments.begin() + op.getNumBuffers(), workspaces.begin(), workspaces.end());
  arguments.push_back(reinterpret_cast<uint64_t>(&errorWord));
  for (const SimtTensorMap &map : maps)
    arguments.push_back(reinterpret_cast<uint64_t>(&map));
  Facts facts = kernels_.at(kernel);
  auto body = [&] { call(function, arguments, std::make_index_sequence<mostArguments>()); };
  auto make = [&] {
    auto state = std::make_unique<RunningBlock>();
    state->lanes = lanes_;
    state->body = body;
    for (unsigned t = 0; t < facts.threads; ++t)
      state->fibers.push_back(std::make_unique<Fiber>());
    return state;
  };
  device = &memory;
  bool ended = memory.runBlocks(grid, make, [&](RunningBlock &state) { start(state, facts.sharedBytes); });
  block = nullptr, device = nullptr;
  return !ended ? hung : memory.isBroken() ? ~uint64_t(0) : errorWord;
}
