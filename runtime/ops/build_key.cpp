#include "runtime/ops/build_key.h"

#include "compiler/compile.h"

namespace tilewright::ops {
namespace {

constexpr std::uint64_t kForm = 1;  // of what stored_kernel.cpp writes

cache::Key key_of(const assemble::ToolFile& file) {
  return cache::KeyBuilder()
      .add("version of", file.path.string())
      .add("bytes", file.bytes)
      .add("changed", static_cast<std::uint64_t>(file.changed))
      .finish();
}

}  // namespace

std::optional<Assembler> find_assembler(const BuildOptions& options, cache::DiskCache& disk) {
  if (!options.assemble) return std::nullopt;
  std::filesystem::path path = options.ptxas;
  if (path.empty()) {
    const auto found = assemble::find_tool(assemble::Tool::ptxas);
    if (!found) return std::nullopt;
    path = found->path;
  }
  Assembler assembler{assemble::file_of(std::filesystem::absolute(path)), {}};
  if (auto version = assemble::remembered_version(assembler.file)) {
    assembler.version = *version;
    return assembler;
  }
  const cache::Key key = key_of(assembler.file);
  if (const auto record = disk.load(key); record && record->find("version") != nullptr) {
    assembler.version = *record->find("version");
    assemble::remember_version(assembler.file, assembler.version);
    return assembler;
  }
  assembler.version = assemble::version_of(assembler.file.path);
  cache::Record record;
  record.add("version", assembler.version);
  disk.store(key, record);
  return assembler;
}

std::optional<cache::Key> key_of(const char* part, const std::string& value, const BuildOptions& options,
                                 const std::optional<Assembler>& assembler) {
  if (compiler::identity().empty() || options.trace) return std::nullopt;
  cache::KeyBuilder key;
  key.add("form", kForm).add("compiler", compiler::identity()).add(part, value);
  if (!options.assemble) key.add("assembler", "none");
  else if (!assembler) key.add("assembler", "driver");
  else {
    key.add("assembler", assembler->file.path.string())
        .add("bytes", assembler->file.bytes)
        .add("changed", static_cast<std::uint64_t>(assembler->file.changed))
        .add("version", assembler->version);
    for (const std::string& flag : assemble::ptxas_flags({})) key.add("flag", flag);
  }
  return key.finish();
}

}  // namespace tilewright::ops
