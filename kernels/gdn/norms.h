// The l2 norm of queries and keys, taken where the tiles are: the products use what the caller gave, and the scalings that follow them
// anyway carry the norms. So nothing is rounded twice, and no tensor is written.
#pragma once
#include "kernels/gdn/config.h"

namespace tilewright::gdn {

/// `to`[0, i] = 1 / sqrt(sum of squares of row i + eps), in fp32; 0 for a row of zeros. `tile` is [kChunk, width]; the role has one warpgroup, whose threads
/// see the result after a sync.
template <Half T>
void inverse_norms(Kernel& k, const Shared<T>& tile, int width, Real eps, const Shared<f32>& to) {
  constexpr int step = 16;
  auto squares = k.frag<f32>({kChunk, step}, "squares");
  fill(squares, 0.0);
  for (int column = 0; column < width; column += step) {
    auto part = k.frag<T>({kChunk, step});
    load(part, tile.view(0, column, {kChunk, step}));
    map_to(squares, [](Real sum, Real x) { return sum + x * x; }, squares, part);
  }
  // A row of zeros stays one with any factor; that of eps alone may be beyond fp16 when values are multiplied by it.
  store(to.t(), map<f32>([&](Real sum) { return select(sum > 0.0, exp2(log2(sum + eps) * -0.5), 0.0); }, row_sum(squares)));
}

}  // namespace tilewright::gdn
