// SPDX-License-Identifier: Apache-2.0
// Loads of elements a few apart, up to the last element before memory that may not be read.
#include "backend/host/emit/SpacedLoads.h"

#include "tests/backend/host/HostKernels.h"

#include <sys/mman.h>

using namespace tilewright;
using namespace tilewright::test;

namespace {

/// Floats whose last lies directly before a page that no access may touch.
class BeforeAWall {
public:
  explicit BeforeAWall(size_t count) {
    size_t page = 4096, bytes = (count * sizeof(float) + page - 1) / page * page;
    size = bytes + page;
    memory = static_cast<char *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory + bytes, page, PROT_NONE);
    first = reinterpret_cast<float *>(memory + bytes) - count;
    for (size_t i = 0; i < count; ++i)
      first[i] = static_cast<float>(i);
  }
  ~BeforeAWall() { munmap(memory, size); }
  BeforeAWall(const BeforeAWall &) = delete;
  float *data() { return first; }

private:
  char *memory;
  size_t size;
  float *first;
};

using SpacedLoads = HostKernels;
HOST_LEVELS(SpacedLoads);

TEST_P(SpacedLoads, ReadEveryFewthElementAndNothingBehindTheLast) {
  for (int64_t step = 2; step <= host::mostSpacing + 1; ++step) // one more than is permuted: a gather
    for (int64_t count : {16, 64, 71, 5}) {
      Runner runner(fill(R"(
tile.kernel @f(%x: !tile.buffer<f32, () -> (%SIZE%)>, %y: !tile.buffer<f32, () -> (%COUNT%)>) attributes {grid = affine_map<() -> (1, 1, 1)>} {
  %c0 = arith.constant 0 : index
  %v = tile.load %x[%c0] bounds () -> (%COUNT%) map (d0) -> (d0 * %STEP%) : !tile.buffer<f32, () -> (%SIZE%)> -> tensor<%COUNT%xf32>
  tile.store %v, %y[%c0] bounds () -> (%COUNT%) map (d0) -> (d0) : tensor<%COUNT%xf32> -> !tile.buffer<f32, () -> (%COUNT%)>
  tile.return
})",
                         {{"SIZE", (count - 1) * step + 1}, {"COUNT", count}, {"STEP", step}}),
                    GetParam());
      ASSERT_EQ(runner.error(), "");
      BeforeAWall x((count - 1) * step + 1);
      Guarded y(count);
      runner.run("f", {x.data(), y.data()}, {}, {1, 1, 1});
      std::vector<double> want;
      for (int64_t i = 0; i < count; ++i)
        want.push_back(static_cast<double>(i * step));
      expectClose(y, want, 0);
    }
}

} // namespace
