// SPDX-License-Identifier: Apache-2.0
#include "tests/backend/gpu/SimtMachine.h"
#include "backend/Dialects.h"
#include "backend/TemporaryFile.h"
#include "backend/amdgcn/LinkObject.h"
#include "backend/gpu/GenerateCode.h"
#include "tests/backend/gpu/SimtBlock.h"
#include "tests/backend/gpu/SimtDevice.h"
#include "tests/backend/gpu/SimtEngine.h"
#include "tests/backend/gpu/SimtProducts.h"
#include "tests/backend/gpu/SimtTarget.h"
#include "tilegen/emit/EmitTiles.h"
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
  block->self().given = address;
  block->meetWarp();
  unsigned lane = block->lane();
  for (unsigned matrix = 0; matrix < 4; ++matrix) {
    uint16_t pair[2];
    for (unsigned i = 0; i < 2; ++i) {
      unsigned row = lane / 4, column = lane % 4 * 2 + i;
      if (transposed)
        std::swap(row, column);
      auto *start = static_cast<const std::byte *>(block->inWarp(matrix * 8 + row).given);
      std::memcpy(&pair[i], start + column * 2, 2);
    }
    std::memcpy(&words[matrix], pair, 4);
  }
  block->meetWarp();
}

void arriveInCluster() { block->arriveInCluster(); }
void waitForCluster() { block->waitForCluster(); }
std::byte *inBlock(const std::byte *here, uint32_t number) {
  RunningBlock &other = *block->cluster.at(number);
  block->overwritten |= other.isUnreachable();
  return other.memory() + (here - block->memory());
}

constexpr size_t sharedAlignment = 1024;
std::byte *sharedMemory() { return block->memory(); }
void publishShared() { block->isPublishing = true; }
float exp2Native(float x) { return std::exp2(x); }
float addSingles(float own, float received) { return own + received; }
double addDoubles(double own, double received) { return own + received; }
float log2Native(float x) { return std::log2(x); }

/// A thread that has ended becomes one of the next block.
void fiberMain() {
  for (;;) {
    block->body();
    block->self().done = true;
    block->yield();
  }
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
  if (!module || failed(emitTiles(*module, small)) || failed(tile::placeTiles(*module, small)))
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
  machine.effort = llvm::CodeGenOptLevel::None; // small cases take longer to compile than to run
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
  set(CommitCopies, commitCopies), set(WaitCopies, waitCopies), set(ReadMatrices, readMatrices);
  setProductVerbs(verbs);
  set(AwaitKernels, awaitKernels), set(Fence, fence), set(CountUpTo, countUpTo);
  set(Exp2, exp2Native), set(Log2, log2Native), set(AddSingles, addSingles), set(AddDoubles, addDoubles);
  set(SharedMemory, sharedMemory), set(PublishShared, publishShared);
  set(ArriveInCluster, arriveInCluster), set(WaitForCluster, waitForCluster), set(InBlock, inBlock);
  std::memcpy(dlsym(program->library_, "simt_verbs"), verbs, sizeof verbs);
  if (void *engine = dlsym(program->library_, "simt_engine"))
    std::memcpy(engine, engineVerbs().data(), sizeof engineVerbs());
  program->lanes_ = target.warpWidth;
  for (auto &[name, facts] : placedFacts(*module))
    program->kernels_[name] = {facts.block[0], facts.dynamicSharedBytes, facts.cluster[0]};
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
    map.rounded = placed.rounded;
    map.arePixels = !placed.lower.empty();
    llvm::copy(placed.lower, map.lower.begin());
    llvm::copy(placed.upper, map.upper.begin());
    llvm::copy(placed.steps, map.steps.begin());
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
    if (!fiber->done) // it is new, or hangs
      fiber->context.start(fiberMain);
    fiber->done = fiber->hasAwaited = false;
    fiber->warpVisits = fiber->blockVisits = fiber->clusterVisits = 0;
    fiber->groups.assign(1, {});
    fiber->products.assign(1, {});
    fiber->stores.assign(1, {});
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
  bool ended =
      memory.runBlocks(grid, facts.clusterBlocks, make, [&](RunningBlock &state) { start(state, facts.sharedBytes); });
  block = nullptr, device = nullptr;
  asked_ = memory.asked();
  return !ended ? hung : memory.isBroken() ? ~uint64_t(0) : errorWord;
}
