// SPDX-License-Identifier: Apache-2.0
// A recursive-descent parser of dimension expressions, with a limit on nesting.
//
//   sum = product { (+|-) product }      product = atom { (*|/|//|%) atom }      atom = integer | name | ( sum )
#include "frontend/onnx/DimExpression.h"

#include <cctype>
#include <charconv>

using namespace mlir;

namespace tilewright {
namespace {

bool isNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool isNamePart(char c) {
  return isNameStart(c) || std::isdigit(static_cast<unsigned char>(c)) || c == '.' || c == ':';
}

class Parser {
public:
  Parser(MLIRContext *context, std::string_view text, const std::function<AffineExpr(std::string_view)> &symbol)
      : context(context), rest(text), symbol(symbol) {}

  AffineExpr parse() {
    AffineExpr expr = sum(0);
    skipSpace();
    return rest.empty() ? expr : AffineExpr();
  }

private:
  static constexpr int maxDepth = 32;

  void skipSpace() {
    while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.front())))
      rest.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skipSpace();
    if (!rest.starts_with(token))
      return false;
    rest.remove_prefix(token.size());
    return true;
  }

  AffineExpr sum(int depth) {
    AffineExpr left = product(depth);
    while (left) {
      bool plus = take("+");
      if (!plus && !take("-"))
        break;
      AffineExpr right = product(depth);
      left = right ? (plus ? left + right : left - right) : AffineExpr();
    }
    return left;
  }

  AffineExpr product(int depth) {
    AffineExpr left = atom(depth);
    while (left) {
      char op = take("//") || take("/") ? '/' : take("*") ? '*' : take("%") ? '%' : 0;
      if (!op)
        break;
      AffineExpr right = atom(depth);
      auto constant = llvm::dyn_cast_if_present<AffineConstantExpr>(right);
      if (!right || (op != '*' && constant && constant.getValue() <= 0))
        return {};
      left = op == '*' ? left * right : op == '/' ? left.floorDiv(right) : left % right;
    }
    return left;
  }

  AffineExpr atom(int depth) {
    if (depth > maxDepth)
      return {};
    if (take("(")) {
      AffineExpr inner = sum(depth + 1);
      return take(")") ? inner : AffineExpr();
    }
    skipSpace();
    size_t length = 0;
    if (!rest.empty() && isNameStart(rest.front())) {
      while (length < rest.size() && isNamePart(rest[length]))
        ++length;
      AffineExpr expr = symbol(rest.substr(0, length));
      rest.remove_prefix(length);
      return expr;
    }
    int64_t value = 0;
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc() || end == rest.data())
      return {};
    rest.remove_prefix(end - rest.data());
    return getAffineConstantExpr(value, context);
  }

  MLIRContext *context;
  std::string_view rest;
  const std::function<AffineExpr(std::string_view)> &symbol;
};

} // namespace

AffineExpr parseDimExpression(MLIRContext *context, std::string_view text,
                              const std::function<AffineExpr(std::string_view)> &symbol) {
  return Parser(context, text, symbol).parse();
}

bool isDimName(std::string_view text) {
  return !text.empty() && isNameStart(text.front()) && std::ranges::all_of(text, isNamePart);
}

} // namespace tilewright
