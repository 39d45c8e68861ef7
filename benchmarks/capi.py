"""The C interface of libtilewright.so (include/tilewright/tilewright.h) through ctypes.

The library is TILEWRIGHT_LIBRARY if set, else build/release/bin or build/dev/bin of this checkout.
"""
import ctypes
import os
import pathlib
from ctypes import POINTER, c_char_p, c_float, c_int32, c_int64, c_uint64, c_void_p

DEVICE_SIM, DEVICE_AUTO = -1, -2
BF16, F16 = 0, 1


class GdnForwardArgs(ctypes.Structure):
    """tilewright_gdn_forward_args, field by field."""

    _fields_ = (
        [("size", c_uint64)]
        + [(n, c_void_p) for n in ("q", "k", "v", "g", "beta", "cu_seqlens", "initial_state", "o", "final_state")]
        + [(n, c_int64) for n in ("T", "N", "batch")]
        + [(n, c_int32) for n in ("hk", "hv", "dk", "dv", "dtype")]
        + [("scale", c_float)]
        + [(n, c_int32) for n in ("cu_seqlens_is_int64", "state_v_first")]
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
