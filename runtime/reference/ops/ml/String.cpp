// SPDX-License-Identifier: Apache-2.0
// Operators on strings, which are UTF-8.
#include "runtime/reference/Shapes.h"
#include "runtime/reference/ops/ml/Strings.h"

#include <algorithm>
#include <cwctype>
#include <locale.h>
#include <set>

namespace tilewright::reference {

const Tensor &stringInput(Call &call, int64_t i) {
  const Tensor &input = call.input(i);
  require(input.type() == DType::String, "expected input {} of string, found {}", i, name(input.type()));
  return input;
}

void stringConcat(Call &call) {
  const Tensor &a = stringInput(call, 0), &b = stringInput(call, 1);
  Shape shape = broadcast(a.shape(), b.shape());
  std::string *result = call.make(0, DType::String, shape).data<std::string>();
  walk(shape, std::array{broadcastStrides(a.shape(), shape), broadcastStrides(b.shape(), shape)},
       [&](const auto &offsets) { *result++ = a.data<std::string>()[offsets[0]] + b.data<std::string>()[offsets[1]]; });
}

//===- StringSplit ------------------------------------------------------------------------------------------------===//

/// Splits at delimiters into at most `most` + 1 parts; the last is the rest.
static std::vector<std::string> splitAt(std::string_view text, std::string_view delimiter, size_t most) {
  std::vector<std::string> parts;
  for (size_t at = 0; parts.size() < most && (at = text.find(delimiter)) != text.npos;
       text.remove_prefix(at + delimiter.size()))
    parts.emplace_back(text.substr(0, at));
  parts.emplace_back(text);
  return parts;
}

/// Splits at runs of white space; parts are not empty.
static std::vector<std::string> splitAtSpace(std::string_view text, size_t most) {
  constexpr std::string_view space = " \t\n\r\v\f";
  auto skipSpace = [&] { text.remove_prefix(std::min(text.find_first_not_of(space), text.size())); };
  std::vector<std::string> parts;
  for (skipSpace(); !text.empty(); skipSpace()) {
    if (parts.size() == most) {
      parts.emplace_back(text.substr(0, text.find_last_not_of(space) + 1));
      break;
    }
    size_t length = std::min(text.find_first_of(space), text.size());
    parts.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return parts;
}

void stringSplit(Call &call) {
  const Tensor &x = stringInput(call, 0);
  std::string delimiter = call.text("delimiter", "");
  int64_t limit = call.hasAttribute("maxsplit") ? call.integer("maxsplit", 0) : -1;
  size_t most = limit < 0 ? SIZE_MAX : static_cast<size_t>(limit), longest = 0;
  std::vector<std::vector<std::string>> all;
  std::vector<int64_t> counts;
  for (int64_t i = 0; i < x.count(); ++i) {
    const std::string &text = x.data<std::string>()[i];
    all.push_back(text.empty()        ? std::vector<std::string>()
                  : delimiter.empty() ? splitAtSpace(text, most)
                                      : splitAt(text, delimiter, most));
    counts.push_back(static_cast<int64_t>(all.back().size()));
    longest = std::max(longest, all.back().size());
  }
  Shape shape = x.shape();
  shape.push_back(static_cast<int64_t>(longest));
  std::string *row = call.make(0, DType::String, shape).data<std::string>();
  for (std::vector<std::string> &parts : all) {
    std::ranges::move(parts, row);
    row += longest;
  }
  call.give(1, DType::I64, x.shape(), counts);
}

//===- StringNormalizer -------------------------------------------------------------------------------------------===//

/// Applies `change` (towupper_l or towlower_l) to each code point; bytes that are not UTF-8 stay as they are.
static std::string changeCase(const std::string &text, wint_t (*change)(wint_t, locale_t)) {
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (!unicode)
    unsupported("this system has no locale C.UTF-8 to change the case of strings with");
  locale_t before = uselocale(unicode);
  std::string result;
  mbstate_t in{}, out{};
  for (size_t at = 0; at < text.size();) {
    wchar_t point = 0;
    size_t length = mbrtowc(&point, text.data() + at, text.size() - at, &in);
    char bytes[16];
    size_t written = length == 0 || length > text.size()
                         ? SIZE_MAX
                         : wcrtomb(bytes, static_cast<wchar_t>(change(point, unicode)), &out);
    if (written == SIZE_MAX) {
      result += text[at++];
      in = {}, out = {};
      continue;
    }
    result.append(bytes, written);
    at += length;
  }
  uselocale(before);
  return result;
}

void stringNormalizer(Call &call) {
  const Tensor &x = stringInput(call, 0);
  require(x.rank() == 1 || (x.rank() == 2 && x.shape()[0] == 1), "expected strings of shape [n] or [1, n], found {}",
          x.shape());
  std::string action = call.text("case_change_action", "NONE");
  require(action == "NONE" || action == "LOWER" || action == "UPPER",
          "expected case_change_action to be LOWER, UPPER or NONE, found '{}'", action);
  bool sensitive = call.integer("is_case_sensitive", 0) != 0;
  auto key = [&](const std::string &text) { return sensitive ? text : changeCase(text, towlower_l); };
  std::set<std::string> stopwords;
  for (const std::string &word : call.texts("stopwords").value_or(std::vector<std::string>()))
    stopwords.insert(key(word));
  std::vector<std::string> kept;
  for (int64_t i = 0; i < x.count(); ++i)
    if (const std::string &text = x.data<std::string>()[i]; stopwords.empty() || !stopwords.contains(key(text)))
      kept.push_back(action == "NONE" ? text : changeCase(text, action == "LOWER" ? towlower_l : towupper_l));
  if (kept.empty())
    kept.emplace_back();
  Shape shape = x.shape();
  shape.back() = static_cast<int64_t>(kept.size());
  std::ranges::move(kept, call.make(0, DType::String, shape).data<std::string>());
}

} // namespace tilewright::reference
