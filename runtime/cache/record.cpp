#include "runtime/cache/record.h"

#include <cstdint>
#include <cstring>

#include "runtime/cache/checksum.h"

namespace tilewright::cache {
namespace {

constexpr std::string_view kMagic{"TWCACHE\n", 8};
constexpr std::uint32_t kFormat = 1;

/// Integers are little endian, as on every machine that this is built for.
struct Header {
  char magic[8];
  std::uint32_t format, sections;
  std::uint64_t body_bytes;
  std::uint8_t key[32];
  std::uint64_t checksum;  // of the header up to here, then of the body
};
static_assert(sizeof(Header) == 64);

std::uint64_t checksum_of(const Header& header, std::string_view body) {
  const std::string_view checked(reinterpret_cast<const char*>(&header), offsetof(Header, checksum));
  return checksum(body, checksum(checked));
}

void put(std::string& out, std::string_view bytes) {
  const std::uint64_t count = bytes.size();
  out.append(reinterpret_cast<const char*>(&count), sizeof count);
  out += bytes;
}

/// Takes a counted string off the front; false when it does not fit.
bool take(std::string_view& body, std::string& bytes) {
  std::uint64_t count = 0;
  if (body.size() < sizeof count) return false;
  std::memcpy(&count, body.data(), sizeof count);
  body.remove_prefix(sizeof count);
  if (count > body.size()) return false;
  bytes = body.substr(0, count);
  body.remove_prefix(count);
  return true;
}

}  // namespace

const std::string* Record::find(std::string_view name) const {
  for (const auto& [section, bytes] : sections_)
    if (section == name) return &bytes;
  return nullptr;
}

std::string encode(const Key& key, const Record& record) {
  std::string file(sizeof(Header), '\0');
  for (const auto& [name, bytes] : record.sections()) {
    put(file, name);
    put(file, bytes);
  }
  const std::string_view body = std::string_view(file).substr(sizeof(Header));
  Header header{};
  std::memcpy(header.magic, kMagic.data(), kMagic.size());
  header.format = kFormat;
  header.sections = static_cast<std::uint32_t>(record.sections().size());
  header.body_bytes = body.size();
  std::memcpy(header.key, key.bytes.data(), sizeof header.key);
  header.checksum = checksum_of(header, body);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

bool decode(std::string_view file, const Key& key, Record& record, std::string& why) {
  const auto wrong = [&](std::string text) {
    why = std::move(text);
    return false;
  };
  Header header;
  if (file.size() < sizeof header) return wrong("it has " + std::to_string(file.size()) + " bytes, fewer than a header");
  std::memcpy(&header, file.data(), sizeof header);
  if (std::string_view(header.magic, sizeof header.magic) != kMagic) return wrong("it does not begin as an entry does");
  if (header.format != kFormat)
    return wrong("its format is " + std::to_string(header.format) + ", expected " + std::to_string(kFormat));
  std::string_view body = file.substr(sizeof header);
  if (header.body_bytes != body.size())
    return wrong("it has " + std::to_string(body.size()) + " bytes after the header, expected " + std::to_string(header.body_bytes));
  if (header.checksum != checksum_of(header, body)) return wrong("its checksum differs");
  if (std::memcmp(header.key, key.bytes.data(), sizeof header.key) != 0) return wrong("it was written for another key");
  Record read;
  for (std::uint32_t i = 0; i < header.sections; ++i) {
    std::string name, bytes;
    if (!take(body, name) || !take(body, bytes)) return wrong("a section does not fit the file");
    read.add(std::move(name), std::move(bytes));
  }
  if (!body.empty()) return wrong("it goes on behind its last section");
  record = std::move(read);
  return true;
}

}  // namespace tilewright::cache
