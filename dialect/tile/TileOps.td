#ifndef TILEWRIGHT_DIALECT_TILE_OPS
#define TILEWRIGHT_DIALECT_TILE_OPS

include "dialect/tile/TileKernelOps.td"
include "dialect/tile/TileSyncOps.td"
include "dialect/tile/TileBarrierOps.td"
include "dialect/tile/TileAtomicOps.td"
include "dialect/tile/TileClusterOps.td"
include "dialect/tile/TileDebugOps.td"
include "dialect/tile/TileDataOps.td"
include "dialect/tile/TileCopyOps.td"
include "dialect/tile/TileComputeOps.td"
include "dialect/tile/TileVectorOps.td"
include "dialect/tile/TileCallOps.td"
include "dialect/tile/TileTraceOps.td"

#endif
