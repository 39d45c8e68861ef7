"""Writes the hardest register problem that the kernels pose, at the hopper level: the loop of a recurrent state.

Two warpgroups keep 64 x 128 each of a state S in registers and run four products an iteration, A operands
from registers, two batches in flight; a third makes a masked product P, a fourth loads. Register budgets are 208,
208, 72 and 24 of 4 x 128. A fragment is one llvm.alloca for each register, with static addresses only.

usage: chain.py > chain.mlir
"""

STAGES = 3
STAGE_BYTES = 57344  # K 0-63 | Q 0-63 | K 64-127 | Q 64-127 | V 0-63 | V 64-127 | T, 8 KiB each
K, Q, V, T = 0, 8192, 32768, 49152
HALF = 16384  # from the first 64 columns of K or Q to the second
P, STAGING, DECAY, BARRIERS = 172032, 188416, 222000, 224032
FULL, EMPTY, P_FULL, P_EMPTY, O_FULL = range(5)

FRAGMENTS = {  # name: (registers, type)
    "S": (64, "f32"), "Sb": (32, "i32"), "U": (32, "f32"), "O": (32, "f32"), "W": (16, "i32"), "Vt": (16, "i32"),
    "Vp": (16, "i32"), "Vd": (16, "i32"), "eb": (16, "f32"), "es": (8, "i32"), "ed": (8, "i32"),
    "stage": (1, "i32"), "phase": (1, "i32"), "pphase": (1, "i32"),
}

lines = []
names = 0


def emit(text):
    lines.append(text)


def values(count, text):
    """A statement with `count` results; returns their names."""
    global names
    names += 1
    emit(f"%t{names}:{count} = {text}")
    return [f"%t{names}#{i}" for i in range(count)]


def value(text):
    return values(1, text)[0]


def const(x):
    return value(f"arith.constant {x} : i32")


def arith(op, x, y):
    return value(f"arith.{op} {x}, {const(y) if isinstance(y, int) else y} : i32")


def mul(x, y):
    return value(f"arith.mulf {x}, {y} fastmath<contract> : f32")


def load(name, i=0):
    return value(f"llvm.load %{name}{i} : !llvm.ptr -> {FRAGMENTS[name][1]}")


def store(x, name, i=0):
    emit(f"llvm.store {x}, %{name}{i} : {FRAGMENTS[name][1]}, !llvm.ptr")


def shared(address, kind):
    pointer = value(f"llvm.inttoptr {address} : i32 to !llvm.ptr<3>")
    return value(f"llvm.load {pointer} : !llvm.ptr<3> -> {kind}")


def at(offset):
    return arith("addi", "%base", offset)


def barrier(kind):
    return at(BARRIERS + 8 * STAGES * kind)


def stage_barrier(kind):
    return arith("addi", barrier(kind), arith("muli", load("stage"), 8))


def stage(offset=0):
    return arith("addi", at(offset), arith("muli", load("stage"), STAGE_BYTES))


def advance():
    following = arith("addi", load("stage"), 1)
    wraps = value(f"arith.cmpi eq, {following}, {const(STAGES)} : i32")
    store(value(f"arith.select {wraps}, %c0, {following} : i32"), "stage")
    phase = load("phase")
    store(value(f"arith.select {wraps}, {arith('xori', phase, 1)}, {phase} : i32"), "phase")


def wait_barrier(address, phase):
    emit(f"hopper.mbarrier_wait {address}, {load(phase)}")


def arrive_by_lane(address):
    emit(f"scf.if %lane0 {{ hopper.mbarrier_arrive {address} }}")


def carry(op, fragments, attributes=""):
    """An op that all registers of the fragments pass through."""
    slots = [(f, i) for f in fragments for i in range(FRAGMENTS[f][0])]
    registers = ", ".join(load(f, i) for f, i in slots)
    types = ", ".join(FRAGMENTS[f][1] for f, _ in slots)
    for result, (f, i) in zip(values(len(slots), f"hopper.{op}({registers} : {types}){attributes}"), slots):
        store(result, f, i)


def fence(*fragments):
    carry("wgmma_fence", fragments)


def settle(pending, *fragments):
    carry("wgmma_wait", fragments, f" {{pending = {pending} : i32}}")


def low(address, leading=1):
    return arith("ori", arith("andi", arith("shrui", address, 4), 0x3FFF), leading << 16)


def descriptor(lower, offset):
    return value(f"hopper.matrix_descriptor {arith('addi', lower, offset)}")


def wgmma(acc, a, b, flags=""):
    registers = FRAGMENTS[acc][0]
    accumulators = ", ".join(load(acc, i) for i in range(registers))
    types = "i64" if len(a) == 1 else "i32, i32, i32, i32"
    results = values(registers, f"hopper.wgmma {accumulators} + {', '.join(a)} * {b} "
                                f"{{n = {2 * registers} : i32, element = \"bf16\"{flags}}} : {types}")
    for i in range(registers):
        store(results[i], acc, i)


def product(acc, a, lower, offsets, clear=False, flags=""):
    """acc (+)= a * b over k-steps of 16: A from the fragment, B at the descriptor offsets; one batch."""
    for step, offset in enumerate(offsets):
        registers = [load(a, 4 * step + i) for i in range(4)]
        wgmma(acc, registers, descriptor(lower, offset), flags + (", zero" if clear and step == 0 else ""))
    emit("hopper.wgmma_commit")


def pack(source, target):
    for i in range(FRAGMENTS[target][0]):
        store(value(f"hopper.pack_bf16 {load(source, 2 * i)}, {load(source, 2 * i + 1)}"), target, i)


K128 = [2 * (k % 4) + (HALF >> 4) * (k // 4) for k in range(8)]
K64 = [2 * k for k in range(4)]
TRANSPOSED = [128 * k for k in range(4)]


def load_v():
    address = arith("addi", stage(V), arith("muli", "%lane", 128))
    for j in range(4):
        r = values(4, f"hopper.ldmatrix {arith('addi', address, 2048 * j)} {{count = 4 : i32, trans}}")
        for i in range(4):
            store(r[i], "Vt", 4 * j + i)


def load_decay():
    row = arith("addi", at(DECAY), arith("muli", arith("andi", "%lane", 3), 80))
    for i in range(16):
        store(shared(arith("addi", row, 4 * i), "f32"), "eb", i)
    for i in range(8):
        store(shared(arith("addi", row, 640 + 4 * i), "i32"), "ed", i)


def halves(x):
    """Two bf16 of a register as f32."""
    return [value(f"llvm.bitcast {h} : i32 to f32") for h in (arith("shli", x, 16), arith("andi", x, -65536))]


def loader():
    emit("hopper.setmaxnreg {count = 24 : i32}")
    warp0 = value(f"arith.cmpi ult, {arith('andi', '%tid', 127)}, {const(32)} : i32")
    emit(f"scf.if {warp0} {{\n%one_lane = hopper.elect\nscf.if %one_lane {{")
    store("%c0", "stage")
    store("%c1", "phase")
    emit("scf.for %chunk = %c0 to %chunks step %c1 : i32 {")
    wait_barrier(stage_barrier(EMPTY), "phase")
    full = stage_barrier(FULL)
    emit(f"hopper.mbarrier_expect {full} {{bytes = {STAGE_BYTES} : i32}}")
    row = arith("muli", "%chunk", 64)
    boxes = [("k", 0, K), ("q", 0, Q), ("k", 64, K + HALF), ("q", 64, Q + HALF), ("v", 0, V), ("v", 64, V + 8192),
             ("k", 128, T)]
    for tensor, column, offset in boxes:
        emit(f"hopper.tma_load %{tensor}, {stage(offset)}, {full}, {const(column)}, {row}, %cta")
    advance()
    emit("}\n}\n}")


def auxiliary():
    emit("hopper.setmaxnreg {count = 72 : i32}")
    store("%c0", "stage")
    store("%c0", "phase")
    emit("scf.for %chunk = %c0 to %chunks step %c1 : i32 {")
    wait_barrier(stage_barrier(FULL), "phase")
    q, k = low(stage(Q)), low(stage(K))
    fence("U")
    for step, offset in enumerate(K128):
        wgmma("U", [descriptor(q, offset)], descriptor(k, offset), ", zero" if step == 0 else "")
    emit("hopper.wgmma_commit")
    settle(0, "U")
    row = arith("addi", at(P), arith("muli", "%lane", 128))
    for j in range(4):
        packed = []
        for h in range(4):
            e = value(f"hopper.exp2 {shared(arith('addi', row, 4 * h), 'f32')}")
            x, y = (mul(load("U", 8 * j + 2 * h + i), e) for i in range(2))
            packed.append(value(f"hopper.pack_bf16 {x}, {y}"))
        emit(f"hopper.stmatrix {arith('addi', row, 32 * j)}, {', '.join(packed)}")
    emit("hopper.fence_proxy_async")
    emit(f"hopper.mbarrier_arrive {barrier(P_FULL)}")
    arrive_by_lane(stage_barrier(EMPTY))
    advance()
    emit("}")


def consumer():
    emit("hopper.setmaxnreg {count = 208 : i32, increase}")
    for name in ("stage", "phase", "pphase"):
        store("%c0", name)
    zero = value("arith.constant 0.0 : f32")
    for name in ("S", "U", "O"):
        for i in range(FRAGMENTS[name][0]):
            store(zero, name, i)
    for i in range(32):
        store("%c0", "Sb", i)
    wait_barrier(stage_barrier(FULL), "phase")
    load_v()
    load_decay()
    last = shared(at(DECAY), "f32")
    emit("scf.for %chunk = %c0 to %chunks step %c1 : i32 {")
    # W = V - eb U, as A operand.
    for i in range(16):
        column = 2 * ((i // 2) % 8)
        w = [value(f"arith.subf {v}, {mul(load('eb', column + h), load('U', 2 * i + h))} fastmath<contract> : f32")
             for h, v in enumerate(halves(load("Vt", i)))]
        store(value(f"hopper.pack_bf16 {w[0]}, {w[1]}"), "W", i)
    t, q, k, p = low(stage(T)), low(stage(Q)), low(stage(K), HALF >> 4), low(at(P))
    # V' = W T into U's registers, O = S Q: both in flight while S decays.
    fence("W", "Sb", "U", "O")
    product("U", "W", t, K64, clear=True)
    product("O", "Sb", q, K128, clear=True)
    settle(1, "U", "W")
    for i in range(64):
        store(mul(load("S", i), last), "S", i)
    pack("U", "Vp")
    for i in range(16):
        store(value(f"hopper.mul_bf16x2 {load('Vp', i)}, {load('ed', (i // 2) % 8)}"), "Vd", i)
    # S += Vd K, then O += Vp P.
    fence("Vd", "S")
    product("S", "Vd", k, TRANSPOSED, flags=", trans_b")
    settle(1, "O", "Sb")
    row = arith("addi", at(DECAY), arith("muli", arith("andi", "%lane", 3), 80))
    for i in range(8):
        store(shared(arith("addi", row, 320 + 4 * i), "i32"), "es", i)
    for i in range(8):
        for h, e in enumerate(halves(load("es", i))):
            for register in (4 * i + h, 4 * i + 2 + h):
                store(mul(load("O", register), e), "O", register)
    fence("Vp", "O")
    product("O", "Vp", p, K64)
    emit(f"hopper.mbarrier_arrive {barrier(O_FULL)}")
    # The next chunk: U = S K.
    release = stage_barrier(EMPTY)
    advance()
    wait_barrier(stage_barrier(FULL), "phase")
    settle(1, "S", "Vd")
    arrive_by_lane(release)
    pack("S", "Sb")
    fence("Sb", "U")
    product("U", "Sb", low(stage(K)), K128, clear=True)
    load_v()
    settle(1, "O", "Vp")
    emit(f"hopper.mbarrier_arrive {barrier(P_EMPTY)}")
    row = arith("addi", at(STAGING), arith("muli", "%tid", 32))
    for j in range(4):
        packed = [value(f"hopper.pack_bf16 {load('O', 8 * j + 2 * h)}, {load('O', 8 * j + 2 * h + 1)}")
                  for h in range(4)]
        emit(f"hopper.stmatrix {arith('addi', row, 2048 * j)}, {', '.join(packed)} {{trans}}")
    emit("hopper.fence_proxy_async")
    wait_barrier(barrier(P_FULL), "pphase")
    store(arith("xori", load("pphase"), 1), "pphase")
    load_decay()
    settle(0, "U", "Sb")
    emit("}")
    for i in range(64):
        index = arith("addi", "%tid", 512 * i)
        pointer = value(f"llvm.getelementptr %out[{index}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32")
        emit(f"llvm.store {load('S', i)}, {pointer} : f32, !llvm.ptr<1>")


def kernel():
    tensor_map = "!llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}"
    emit(f"llvm.func @chain(%k: {tensor_map}, %q: {tensor_map}, %v: {tensor_map}, %out: !llvm.ptr<1>, %chunks: i32) "
         "attributes {nvvm.kernel, nvvm.reqntid = array<i32: 512>, nvvm.minctasm = 1 : i32} {")
    emit("%base = hopper.shared_base\n%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
         "%one = llvm.mlir.constant(1 : i32) : i32\n%tid = hopper.thread_id\n%cta = hopper.cta_id {dim = 0 : i32}")
    for name, (registers, kind) in FRAGMENTS.items():
        for i in range(registers):
            emit(f"%{name}{i} = llvm.alloca %one x {kind} : (i32) -> !llvm.ptr")
    emit(f"%lane = arith.andi %tid, {const(31)} : i32\n%lane0 = arith.cmpi eq, %lane, %c0 : i32")
    group = value(f"hopper.uniform {arith('shrui', '%tid', 7)}")
    first = value("arith.cmpi eq, %tid, %c0 : i32")
    emit(f"scf.if {first} {{")
    for kind in range(5):
        for i in range(STAGES):
            count = 1 if kind == FULL else 8
            emit(f"hopper.mbarrier_init {arith('addi', barrier(kind), 8 * i)} {{count = {count} : i32}}")
    emit("hopper.fence_mbarrier_init\nhopper.fence_proxy_async\n}\nhopper.cta_barrier")
    for number, role in ((3, loader), (2, auxiliary)):
        emit(f"scf.if {value(f'arith.cmpi eq, {group}, {const(number)} : i32')} {{")
        role()
        emit("} else {")
    consumer()
    emit("}\n}\nllvm.return\n}")


kernel()
print("\n".join(lines))
