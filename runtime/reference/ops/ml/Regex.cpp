// SPDX-License-Identifier: Apache-2.0
// Operators by regular expressions, on the code points of strings.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/ops/ml/Strings.h"

#include <regex>

#include <locale.h>
#include <wchar.h>

namespace tilewright::reference {

namespace {

/// A string as code points, and the byte at which each begins; then where the last one ends.
struct CodePoints {
  std::wstring points;
  std::vector<size_t> bytes;
};

CodePoints codePointsOf(const std::string &text) {
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (!unicode)
    unsupported("this system has no locale C.UTF-8 to read strings with");
  CodePoints result;
  locale_t before = uselocale(unicode);
  mbstate_t state{};
  size_t at = 0, length = 0;
  for (; at < text.size(); at += length) {
    wchar_t point = 0;
    length = std::max<size_t>(mbrtowc(&point, text.data() + at, text.size() - at, &state), 1); // 0: the character NUL
    if (length > text.size())
      break;
    result.points += point;
    result.bytes.push_back(at);
  }
  uselocale(before);
  require(at >= text.size(), "expected strings of UTF-8, found one with other bytes at {}", at);
  result.bytes.push_back(text.size());
  return result;
}

/// __polynomial makes the library follow all states of the automaton at once; without it, some patterns take time
/// exponential in the text's length. A consequence is that of several matching alternatives the longest counts, while
/// RE2, which ONNX names, takes the first. Debian's RE2 cannot be used: its archive is not position-independent, so it
/// cannot be linked into a shared library.
constexpr auto syntax = std::regex::ECMAScript | std::regex_constants::__polynomial;

[[noreturn]] void refuse(const std::string &pattern, const std::regex_error &error) {
  malformed(fmt::format("the pattern '{}' is no regular expression: {}", pattern.substr(0, 80), error.what()));
}

std::wregex compile(const std::string &pattern) {
  constexpr size_t longest = 1000; // the library recurses for each bracket and each state
  if (pattern.size() > longest)
    unsupported(fmt::format("a pattern of {} characters is not supported, {} are", pattern.size(), longest));
  try {
    return std::wregex(codePointsOf(pattern).points, syntax);
  } catch (const std::regex_error &error) {
    refuse(pattern, error);
  }
}

} // namespace

void regexFullMatch(Call &call) {
  const Tensor &x = stringInput(call, 0);
  std::string pattern = call.text("pattern", "");
  std::wregex expression = compile(pattern);
  std::vector<uint64_t> matches;
  try {
    for (int64_t i = 0; i < x.count(); ++i)
      matches.push_back(std::regex_match(codePointsOf(x.data<std::string>()[i]).points, expression));
  } catch (const std::regex_error &error) {
    refuse(pattern, error);
  }
  call.give(0, DType::Bool, x.shape(), matches);
}

//===- Tokenizer --------------------------------------------------------------------------------------------------===//

namespace {

/// Code points from `begin` up to `end`.
struct Piece {
  size_t begin, end;
  size_t size() const { return end - begin; }
};

/// The first match in `piece`; nullopt if there is none.
std::optional<Piece> findIn(const std::wstring &text, Piece piece, const std::wregex &expression) {
  std::wsmatch match;
  auto flags = piece.begin > 0 ? std::regex_constants::match_prev_avail : std::regex_constants::match_default;
  auto at = [&](size_t i) { return text.begin() + static_cast<ptrdiff_t>(i); };
  if (!std::regex_search(at(piece.begin), at(piece.end), match, expression, flags))
    return std::nullopt;
  size_t begin = piece.begin + static_cast<size_t>(match.position());
  return Piece{begin, begin + static_cast<size_t>(match.length())};
}

/// The matches of at least `least` code points. After a shorter match the search continues at its second code point.
std::vector<Piece> matchesIn(const std::wstring &text, const std::wregex &expression, size_t least) {
  std::vector<Piece> matches;
  for (size_t at = 0; at <= text.size();) {
    std::optional<Piece> match = findIn(text, {at, text.size()}, expression);
    if (!match)
      break;
    if (match->size() >= least)
      matches.push_back(*match);
    at = match->size() >= least ? match->end : match->begin + 1;
  }
  return matches;
}

/// Splits the text at matches of the first separator, the parts at those of the second, and so on. Keeps parts of at
/// least `least` code points.
std::vector<Piece> split(const std::wstring &text, const std::vector<std::wregex> &separators, size_t least) {
  std::vector<Piece> pieces{{0, text.size()}};
  for (const std::wregex &separator : separators) {
    std::vector<Piece> parts;
    auto keep = [&](size_t begin, size_t end) {
      if (end - begin >= std::max<size_t>(least, 1))
        parts.push_back({begin, end});
    };
    for (Piece piece : pieces) {
      size_t begin = piece.begin;
      for (size_t at = begin; at < piece.end;) {
        std::optional<Piece> match = findIn(text, {at, piece.end}, separator);
        if (!match)
          break;
        at = std::max(match->end, match->begin + 1);
        if (match->size() > 0)
          keep(begin, match->begin), begin = match->end;
      }
      keep(begin, piece.end);
    }
    pieces = std::move(parts);
  }
  return pieces;
}

std::vector<Piece> everyPoint(const std::wstring &text) {
  std::vector<Piece> points;
  for (size_t i = 0; i < text.size(); ++i)
    points.push_back({i, i + 1});
  return points;
}

} // namespace

/// [n...] to [n..., the most tokens of any string], padded. If `mark` is set and there are tokens at all, each string's
/// tokens are put between tokens of the characters 2 and 3. Details that the documentation leaves open are as in ONNX
/// Runtime.
void tokenizer(Call &call) {
  const Tensor &x = stringInput(call, 0);
  require(x.rank() == 1 || x.rank() == 2, "expected strings of shape [n] or [n, m], found {}", x.shape());
  int64_t least = call.integer("mincharnum", 1);
  require(least >= 1, "expected mincharnum to be at least 1, found {}", least);
  std::string tokenexp = call.text("tokenexp", "");
  Texts separators = call.texts("separators").value_or(Texts());
  require(tokenexp.empty() != separators.empty(), "expected either tokenexp or separators, found {}",
          tokenexp.empty() ? "neither" : "both");
  bool byPoint = separators == Texts{""};
  std::optional<std::wregex> expression;
  std::vector<std::wregex> compiled;
  if (!tokenexp.empty())
    expression = compile(tokenexp);
  for (const std::string &separator : separators)
    compiled.push_back(compile(separator));

  std::vector<Texts> rows;
  size_t longest = 0;
  try {
    for (int64_t i = 0; i < x.count(); ++i) {
      const std::string &text = x.data<std::string>()[i];
      CodePoints code = codePointsOf(text);
      auto minimum = static_cast<size_t>(least);
      std::vector<Piece> pieces = byPoint      ? everyPoint(code.points)
                                  : expression ? matchesIn(code.points, *expression, minimum)
                                               : split(code.points, compiled, minimum);
      rows.emplace_back();
      for (Piece piece : pieces)
        rows.back().push_back(text.substr(code.bytes[piece.begin], code.bytes[piece.end] - code.bytes[piece.begin]));
      longest = std::max(longest, pieces.size());
    }
  } catch (const std::regex_error &error) {
    refuse(tokenexp.empty() ? separators.front() : tokenexp, error);
  }
  if (longest > 0 && call.integer("mark", 0) != 0) {
    longest += 2;
    for (Texts &row : rows)
      row.insert(row.begin(), "\x02"), row.emplace_back("\x03");
  }
  Shape shape = x.shape();
  shape.push_back(static_cast<int64_t>(longest));
  std::string *result = call.make(0, DType::String, shape).data<std::string>();
  for (Texts &row : rows) {
    row.resize(longest, call.text("pad_value", ""));
    result = std::ranges::move(row, result).out;
  }
}

} // namespace tilewright::reference
