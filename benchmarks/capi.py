"""The C interface of libtilewright.so (include/tilewright/tilewright.h) through ctypes.

The library is TILEWRIGHT_LIBRARY if set, else build/release/bin or build/dev/bin of this checkout.
"""
import ctypes
import os
import pathlib
from ctypes import POINTER, c_char_p, c_float, c_int32, c_int64, c_uint64, c_void_p

DEVICE_SIM, DEVICE_AUTO = -1, -2
BF16, F16, F32, I32, I64 = range(5)


class Operand(ctypes.Structure):
    """tilewright_operand: an address, strides in elements (zeros: contiguous) and an element type."""

    _fields_ = [("data", c_void_p), ("strides", c_int64 * 4), ("dtype", c_int32), ("reserved", c_int32)]

    def __init__(self, data=None, dtype=BF16, strides=()):
        super().__init__(data=data, dtype=dtype, strides=(c_int64 * 4)(*strides))


def _fields(kind, names):
    return [(name, kind) for name in names.split()]


class GdnForwardArgs(ctypes.Structure):
    """tilewright_gdn_forward_args, field by field."""

    _fields_ = (
        _fields(c_uint64, "size flags")
        + _fields(c_int64, "T N batch")
        + _fields(c_int32, "hq hk hv dk dv")
        + [("scale", c_float)]
        + _fields(Operand, "q k v g beta")
        + _fields(c_int32, "gate_domain beta_domain")
        + [("beta_scale", c_float), ("l2norm", c_int32), ("l2norm_eps", c_float), ("cp", c_int32)]
        + _fields(Operand, "A_log dt_bias cu_seqlens prefix_lens initial_state read_slots final_state write_slots")
        + _fields(c_int64, "initial_rows final_rows")
        + _fields(Operand, "checkpoints checkpoint_starts checkpoint_slots")
        + _fields(c_int64, "checkpoint_rows checkpoint_count checkpoint_every")
        + _fields(c_int32, "state_v_first reserved")
        + _fields(Operand, "o save_T save_b")
        + [("workspace", c_void_p), ("workspace_bytes", c_uint64), ("stream", c_void_p)]
    )

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(GdnForwardArgs), **fields)


class Failed(RuntimeError):
    """A call returned a status other than OK; the text is the library's message."""


def library_path():
    given = os.environ.get("TILEWRIGHT_LIBRARY")
    if given:
        return given
    root = pathlib.Path(__file__).resolve().parent.parent
    places = [root / "build" / preset / "bin" / "libtilewright.so" for preset in ("release", "dev")]
    for place in places:
        if place.exists():
            return str(place)
    raise FileNotFoundError("libtilewright.so not found; set TILEWRIGHT_LIBRARY or build it: looked at "
                            + ", ".join(str(p) for p in places))


_lib = None


def library():
    """The loaded library, with the types of its functions declared."""
    global _lib
    if _lib is None:
        lib = ctypes.CDLL(library_path())
        args = POINTER(GdnForwardArgs)
        for name, types in {
            "tilewright_create": [c_int32, POINTER(c_void_p)],
            "tilewright_gdn_forward_workspace": [c_void_p, args, POINTER(c_uint64)],
            "tilewright_gdn_forward": [c_void_p, args],
            "tilewright_gemm_bf16": [c_void_p] * 4 + [c_int64] * 3 + [c_void_p],
        }.items():
            getattr(lib, name).argtypes = types
            getattr(lib, name).restype = c_int32
        lib.tilewright_destroy.argtypes, lib.tilewright_destroy.restype = [c_void_p], None
        for name in ("tilewright_version", "tilewright_last_error"):
            getattr(lib, name).argtypes, getattr(lib, name).restype = [], c_char_p
        _lib = lib
    return _lib


def version():
    return library().tilewright_version().decode()


def ok(status):
    if status != 0:
        raise Failed(f"status {status}: {library().tilewright_last_error().decode()}")


class Handle:
    """A device with the kernels loaded on it; freed with the object."""

    def __init__(self, device):
        self.raw = c_void_p()
        ok(library().tilewright_create(device, ctypes.byref(self.raw)))

    def __del__(self):
        if getattr(self, "raw", None):
            library().tilewright_destroy(self.raw)

    def gdn_forward_workspace(self, args):
        """Bytes of workspace that a call with these sizes needs."""
        size = c_uint64()
        ok(library().tilewright_gdn_forward_workspace(self.raw, ctypes.byref(args), ctypes.byref(size)))
        return size.value

    def gdn_forward(self, args):
        ok(library().tilewright_gdn_forward(self.raw, ctypes.byref(args)))

    def gemm_bf16(self, a, b, c, m, n, k, stream):
        """c[m, n] = a[m, k] b[n, k]^T; a, b, c are addresses."""
        ok(library().tilewright_gemm_bf16(self.raw, a, b, c, m, n, k, stream))
