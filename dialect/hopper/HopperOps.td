#ifndef TILEWRIGHT_HOPPER_OPS
#define TILEWRIGHT_HOPPER_OPS
include "dialect/hopper/ControlOps.td"
include "dialect/hopper/BarrierOps.td"
include "dialect/hopper/CopyOps.td"
include "dialect/hopper/MatrixOps.td"
include "dialect/hopper/MathOps.td"
include "dialect/hopper/MemoryOps.td"
include "dialect/hopper/ClusterOps.td"
include "dialect/hopper/CallOps.td"
include "dialect/hopper/TraceOps.td"
#endif
