// SPDX-License-Identifier: Apache-2.0
// The flat linker: sections to offsets, relocations to bytes.
//
//   .text        0 ..                              calls and constants are reached relative to the program counter,
//   .rodata.*    next multiple of its alignment ..  so that only distances count
#include "backend/host/FlatLink.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"

#include <map>

using namespace llvm;
using namespace llvm::object;

namespace tilewright::host {

namespace {
struct RelocationRow {
  uint32_t type;
  unsigned bytes;
};
} // namespace

/// The relocations that are applied, with the bytes that each writes. The value of all of them is S + A - P (System V
/// ABI, AMD64 supplement, table 4.9).
static constexpr RelocationRow relocationRows[] = {
    {ELF::R_X86_64_PC32, 4},
    {ELF::R_X86_64_PLT32, 4},
    {ELF::R_X86_64_PC64, 8},
};

static Status broken(const Twine &what) {
  return Status(Code::Internal, ("host code cannot be linked: " + what).str());
}

static bool isLoaded(const ELF64LEObjectFile &file, const SectionRef &section) {
  const ELF64LE::Shdr *header = file.getSection(section.getRawDataRefImpl());
  return header->sh_flags & ELF::SHF_ALLOC && header->sh_type != ELF::SHT_X86_64_UNWIND;
}

static Status applyRelocation(const RelocationRef &relocation, uint64_t place, uint64_t target,
                              std::vector<char> &bytes) {
  const RelocationRow *row =
      find_if(relocationRows, [&](const RelocationRow &row) { return row.type == relocation.getType(); });
  if (row == std::end(relocationRows))
    return broken("relocation type " + Twine(relocation.getType()));
  llvm::Expected<int64_t> addend = ELFRelocationRef(relocation).getAddend();
  if (!addend)
    return broken(toString(addend.takeError()));
  int64_t value = static_cast<int64_t>(target) + *addend - static_cast<int64_t>(place);
  if (row->bytes == 4)
    support::endian::write32le(bytes.data() + place, static_cast<uint32_t>(value));
  else
    support::endian::write64le(bytes.data() + place, static_cast<uint64_t>(value));
  return Status();
}

Expected<FlatImage> linkFlat(MemoryBufferRef object) {
  auto parsed = ObjectFile::createELFObjectFile(object);
  if (!parsed)
    return broken(toString(parsed.takeError()));
  const auto &file = *cast<ELF64LEObjectFile>(parsed->get());

  FlatImage image;
  std::map<SectionRef, uint64_t> offsets;
  for (bool code : {true, false})
    for (const SectionRef &section : file.sections()) {
      if (!isLoaded(file, section) || section.isText() != code || section.getSize() == 0)
        continue;
      StringRef name = cantFail(section.getName());
      if (file.getSection(section.getRawDataRefImpl())->sh_flags & ELF::SHF_WRITE)
        return broken("writable section " + name);
      uint64_t offset = alignTo(image.bytes.size(), std::max(section.getAlignment().value(), imageAlignment));
      image.bytes.resize(offset);
      StringRef contents = cantFail(section.getContents());
      image.bytes.insert(image.bytes.end(), contents.begin(), contents.end());
      offsets[section] = offset;
    }

  auto addressOf = [&](const SymbolRef &symbol) -> std::optional<uint64_t> {
    auto found = offsets.find(*cantFail(symbol.getSection()));
    if (cantFail(symbol.getFlags()) & SymbolRef::SF_Undefined || found == offsets.end())
      return std::nullopt;
    return found->second + file.getSymbol(symbol.getRawDataRefImpl()).get()->st_value;
  };
  for (const SectionRef &section : file.sections()) {
    auto relocated = cantFail(section.getRelocatedSection());
    if (relocated == file.section_end() || !offsets.count(*relocated))
      continue;
    for (const RelocationRef &relocation : section.relocations()) {
      symbol_iterator symbol = relocation.getSymbol();
      if (symbol == file.symbol_end())
        return broken("a relocation without a symbol");
      std::optional<uint64_t> target = addressOf(*symbol);
      if (!target)
        return broken("'" + cantFail(symbol->getName()) + "' is not defined in it");
      if (Status status =
              applyRelocation(relocation, offsets[*relocated] + relocation.getOffset(), *target, image.bytes);
          !status)
        return status;
    }
  }
  for (const ELFSymbolRef &symbol : file.symbols())
    if (symbol.getELFType() == ELF::STT_FUNC)
      if (std::optional<uint64_t> address = addressOf(symbol))
        image.symbols[cantFail(symbol.getName())] = *address;
  return image;
}

} // namespace tilewright::host
