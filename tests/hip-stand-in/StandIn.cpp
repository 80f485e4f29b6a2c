// SPDX-License-Identifier: Apache-2.0
// A stand-in for libamdhip64.so, to test the HIP device's calls, their order and its errors on machines without a GPU.
// Has the functions that only HIP has; tests/gpu-stand-in has the others. Code objects are not executed, only searched
// for the names of their kernels, and rejected as HIP would:
//   STAND_IN_ARCHITECTURE  the device's; "gfx942:sramecc+:xnack-" by default
// It is HIP 6; with STAND_IN_HIP5 defined, HIP 5, which has only the old layout of the device properties and loads code
// objects up to version 4.
#include "tests/gpu-stand-in/StandIn.h"

#include "runtime/hip/HipDriver.h"

#include <cstdlib>
#include <cstring>
#include <elf.h>

using namespace tilewright::test::standin;
using namespace tilewright::runtime::hip;

static constexpr Result invalidImage = 200;

static constexpr struct {
  Result result;
  const char *name, *text;
} resultNames[] = {
    {invalidValue, "hipErrorInvalidValue", "invalid argument"},
    {outOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {invalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    {invalidImage, "hipErrorInvalidImage", "device kernel image is invalid"},
    {noBinary, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"},
    {notFound, "hipErrorNotFound", "named symbol not found"},
    {illegalAddress, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {captureUnsupported, "hipErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {unknown, "hipErrorUnknown", "unknown error"},
};

#ifdef STAND_IN_HIP5
static constexpr int version = 50221153, newestCodeObject = 4;
#else
static constexpr int version = 60342134, newestCodeObject = 5;
#endif
static std::string architecture() {
  const char *value = std::getenv("STAND_IN_ARCHITECTURE");
  return value ? value : "gfx942:sramecc+:xnack-";
}

static thread_local int current = 0;

Result tilewright::test::standin::deviceIsCurrent() {
  return current < static_cast<int>(setting("STAND_IN_DEVICES", 1)) ? success : invalidDevice;
}

std::set<std::string> tilewright::test::standin::kernelsOf(const void *image, Result &why, std::string &) {
  const auto *bytes = static_cast<const char *>(image);
  Elf64_Ehdr header;
  if (std::memcmp(bytes, ELFMAG, SELFMAG) != 0)
    return why = invalidImage, std::set<std::string>();
  std::memcpy(&header, bytes, sizeof header);
  int codeObject = header.e_ident[EI_ABIVERSION] + 2;
  constexpr unsigned machineGfx942 = 0x4c; // EF_AMDGPU_MACH_AMDGCN_GFX942
  bool forThisGpu = (header.e_flags & 0xff) == machineGfx942 || !architecture().starts_with("gfx942");
  if (header.e_machine != 224 /* EM_AMDGPU */ || codeObject > newestCodeObject || !forThisGpu)
    return why = noBinary, std::set<std::string>();
  std::set<std::string> names;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), bytes + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr &section : sections)
    for (size_t at = 0; section.sh_type == SHT_DYNSYM && at < section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, bytes + section.sh_offset + at, sizeof symbol);
      std::string name = bytes + sections[section.sh_link].sh_offset + symbol.st_name;
      if (name.ends_with(".kd"))
        names.insert(name.substr(0, name.size() - 3));
    }
  return names;
}

EXPORTED(Result) hipRuntimeGetVersion(int *found) {
  CALLED;
  return *found = version, success;
}
EXPORTED(const char *) hipGetErrorName(Result result) {
  for (const auto &row : resultNames)
    if (row.result == result)
      return row.name;
  return nullptr;
}
EXPORTED(const char *) hipGetErrorString(Result result) {
  for (const auto &row : resultNames)
    if (row.result == result)
      return row.text;
  return nullptr;
}

EXPORTED(Result) hipDeviceGetAttribute(int *value, int attribute, DeviceOrdinal) {
  CALLED;
  switch (attribute) {
  case MultiprocessorCount:
    return *value = 304, success;
  case MaxSharedPerBlock:
    return *value = 65536, success;
  default:
    return invalidValue;
  }
}

static Result writeProperties(const PropertiesLayout &layout, void *properties) {
  std::memset(properties, 0, layout.bytes);
  std::strcpy(static_cast<char *>(properties) + layout.architecture, architecture().c_str());
  return success;
}
#ifndef STAND_IN_HIP5
EXPORTED(Result) hipGetDevicePropertiesR0600(void *properties, int) {
  CALLED;
  return writeProperties(propertiesLayouts[0], properties);
}
#endif
EXPORTED(Result) hipGetDeviceProperties(void *properties, int) {
  CALLED;
  return writeProperties(propertiesLayouts[1], properties);
}

EXPORTED(Result) hipGetDevice(int *ordinal) {
  CALLED;
  return *ordinal = current, success;
}
EXPORTED(Result) hipSetDevice(int ordinal) {
  CALLED;
  if (ordinal < 0 || ordinal >= static_cast<int>(setting("STAND_IN_DEVICES", 1)))
    return invalidDevice;
  return current = ordinal, success;
}

EXPORTED(Result)
hipModuleLaunchKernel(FunctionHandle function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                      unsigned blockY, unsigned blockZ, unsigned sharedBytes, StreamHandle stream, void **parameters,
                      void **extra) {
  CALLED;
  unsigned grid[] = {gridX, gridY, gridZ}, block[] = {blockX, blockY, blockZ};
  for (size_t axis = 0; axis < 3; ++axis)
    if (uint64_t(grid[axis]) * block[axis] > UINT32_MAX)
      return invalidValue;
  if (extra || sharedBytes > 65536)
    return invalidValue;
  return launch(function, grid, block, stream, parameters);
}
