// Which files hold the compiler in this process.
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <cstring>

#include "compiler/compile.h"
#include "mlir/IR/Verifier.h"

extern "C" void LLVMInitializeNVPTXTarget();

namespace tilewright::compiler {
namespace {

/// What dl_iterate_phdr looks for, and what it found.
struct Search {
  std::uintptr_t address;
  std::string found;
};

std::string hex(const unsigned char* bytes, std::size_t count) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
  return text;
}

/// The build id among the notes of one segment; empty when there is none.
std::string build_id_in(const char* notes, std::size_t bytes, std::size_t alignment) {
  const auto padded = [&](std::size_t count) { return (count + alignment - 1) / alignment * alignment; };
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof note);
    const std::size_t size = sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
    if (size > bytes) break;
    const char* name = notes + sizeof note;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
      return hex(reinterpret_cast<const unsigned char*>(name + padded(note.n_namesz)), note.n_descsz);
    notes += size;
    bytes -= size;
  }
  return {};
}

int visit(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const auto segments = [&](ElfW(Word) type, auto&& use) {
    for (unsigned i = 0; i < object->dlpi_phnum; ++i)
      if (object->dlpi_phdr[i].p_type == type) use(object->dlpi_phdr[i]);
  };
  bool here = false;
  segments(PT_LOAD, [&](const ElfW(Phdr)& s) { here = here || search.address - (object->dlpi_addr + s.p_vaddr) < s.p_memsz; });
  if (!here) return 0;
  segments(PT_NOTE, [&](const ElfW(Phdr)& s) {
    if (search.found.empty())
      search.found = build_id_in(reinterpret_cast<const char*>(object->dlpi_addr + s.p_vaddr), s.p_memsz, s.p_align == 8 ? 8 : 4);
  });
  if (search.found.empty()) {
    const std::string path = *object->dlpi_name != '\0' ? object->dlpi_name : "/proc/self/exe";
    struct stat status {};
    if (stat(path.c_str(), &status) == 0)
      search.found = path + " " + std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) + "." +
                     std::to_string(status.st_mtim.tv_nsec);
  }
  return 1;
}

/// Names the file that an address lies in. Empty when nothing tells it from another.
template <class F>
std::string file_of(F* function) {
  Search search{reinterpret_cast<std::uintptr_t>(function), {}};
  dl_iterate_phdr(visit, &search);
  return search.found;
}

}  // namespace

const std::string& identity() {
  static const std::string text = [] {
    const std::string own = file_of(&identity), mlir = file_of(&mlir::verify), llvm = file_of(&LLVMInitializeNVPTXTarget);
    std::string all = own;
    if (mlir != own) all += "+" + mlir;
    if (llvm != own && llvm != mlir) all += "+" + llvm;
    return all;
  }();
  return text;
}

}  // namespace tilewright::compiler
