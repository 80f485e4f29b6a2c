// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer: counts how often each n-gram of a pool occurs in a row. Items are positions in the pool.
#include "runtime/reference/Kernels.h"
#include "runtime/reference/Shapes.h"
#include "runtime/reference/ops/ml/Labels.h"

#include <algorithm>
#include <map>

namespace tilewright::reference {

namespace {

using Gram = std::vector<int64_t>;

struct GramPool {
  std::map<Gram, int64_t> places; // the output position of each n-gram
  int64_t columns = 0;

  explicit GramPool(Call &call, const std::vector<int64_t> &items) {
    auto counts = call.integers("ngram_counts").value_or(Gram{}),
         indices = call.integers("ngram_indexes").value_or(Gram{});
    size_t next = 0;
    for (size_t n = 1; n <= counts.size(); ++n) { // the n-grams of n items begin at counts[n - 1]
      int64_t first = counts[n - 1], end = n < counts.size() ? counts[n] : static_cast<int64_t>(items.size());
      require(0 <= first && first <= end && end <= static_cast<int64_t>(items.size()) &&
                  (end - first) % static_cast<int64_t>(n) == 0,
              "expected ngram_counts to cut a pool of {} items into n-grams, found {}", items.size(), counts);
      for (int64_t at = first; at < end; at += static_cast<int64_t>(n)) {
        require(next < indices.size(), "expected an index for each n-gram, found {}", indices.size());
        places[Gram(items.begin() + at, items.begin() + at + static_cast<int64_t>(n))] = indices[next++];
      }
    }
    for (int64_t index : indices) {
      require(0 <= index && index < int64_t{1} << 32, "expected ngram_indexes of 0 or more, found {}", index);
      columns = std::max(columns, index + 1);
    }
  }
};

/// Counts the n-grams of a row whose items are 1, 2, ... 1 + max_skip_count apart.
void countGrams(const GramPool &pool, std::span<const int64_t> row, int64_t least, int64_t most, int64_t skips,
                double *counts) {
  auto size = static_cast<int64_t>(row.size());
  for (int64_t n = least; n <= most; ++n)
    for (int64_t apart = 1; apart <= (n == 1 ? 1 : skips + 1) && (n - 1) * apart < size; ++apart)
      for (int64_t start = 0; start + (n - 1) * apart < size; ++start) {
        Gram gram;
        for (int64_t k = 0; k < n; ++k)
          gram.push_back(row[start + k * apart]);
        if (auto found = pool.places.find(gram); found != pool.places.end())
          ++counts[found->second];
      }
}

} // namespace

void tfIdfVectorizer(Call &call) {
  const Tensor &x = call.input(0);
  require(x.rank() == 1 || x.rank() == 2, "expected a row or rows of items, found shape {}", x.shape());
  std::string mode = call.text("mode", "");
  require(mode == "TF" || mode == "IDF" || mode == "TFIDF", "expected mode to be TF, IDF or TFIDF, found '{}'", mode);
  int64_t least = call.integer("min_gram_length", 1), most = call.integer("max_gram_length", 1),
          skips = call.integer("max_skip_count", 0);
  require(1 <= least && least <= most && most < 1024 && skips >= 0, "expected gram lengths from 1 on, found {} to {}",
          least, most);
  Labels known = Labels::either(call, "pool_int64s", "pool_strings");
  GramPool pool(call, known.positions(known.tensor()));
  int64_t rows = x.rank() == 2 ? x.shape()[0] : 1, length = x.shape().back();
  Shape shape = x.rank() == 2 ? Shape{rows, pool.columns} : Shape{pool.columns};
  checkSize(DType::F32, shape);
  std::vector<double> result(product(shape));
  std::vector<int64_t> items = known.positions(x);
  for (int64_t row = 0; row < rows; ++row)
    countGrams(pool, {items.data() + row * length, static_cast<size_t>(length)}, least, most, skips,
               result.data() + row * pool.columns);
  auto weights = call.reals("weights"); // in the order of the pool's n-grams
  std::vector<double> byColumn(pool.columns, 1);
  if (weights && mode != "TF") {
    auto indices = *call.integers("ngram_indexes");
    require(weights->size() == indices.size(), "expected {} weights, found {}", indices.size(), weights->size());
    for (size_t i = 0; i < indices.size(); ++i)
      byColumn[indices[i]] = (*weights)[i];
  }
  for (size_t i = 0; i < result.size(); ++i) {
    double count = mode == "IDF" ? result[i] > 0 : result[i];
    result[i] = count * byColumn[i % byColumn.size()];
  }
  call.give(0, DType::F32, shape, result);
}

} // namespace tilewright::reference
