# Hints out of range: refused where the kernel is made. Above each kernel: what is expected of it, and its arguments.
import cuda.tile as ct

# expect: error occupancy
# args: float32[1]
@ct.kernel(occupancy=0)
def k(x):
    ct.store(x, (0,), ct.zeros((8,), dtype=ct.float32))


# expect: error occupancy
# args: float32[1]
@ct.kernel(occupancy=33)
def k(x):
    ct.store(x, (0,), ct.zeros((8,), dtype=ct.float32))


# expect: error num_ctas
# args: float32[1]
@ct.kernel(num_ctas=0)
def k(x):
    ct.store(x, (0,), ct.zeros((8,), dtype=ct.float32))


# expect: error num_ctas
# args: float32[1]
@ct.kernel(num_ctas=3)
def k(x):
    ct.store(x, (0,), ct.zeros((8,), dtype=ct.float32))


# expect: error num_ctas
# args: float32[1]
@ct.kernel(num_ctas=32)
def k(x):
    ct.store(x, (0,), ct.zeros((8,), dtype=ct.float32))


# expect: error opt_level
# args: float32[1]
@ct.kernel(opt_level=4)
def k(x):
    ct.store(x, (0,), ct.zeros((8,), dtype=ct.float32))


# expect: error opt_level
# args: float32[1]
@ct.kernel(opt_level=-1)
def k(x):
    ct.store(x, (0,), ct.zeros((8,), dtype=ct.float32))


# expect: error num_worker_warps
# args: float32[1]
@ct.kernel(num_worker_warps=3)
def k(x):
    ct.store(x, (0,), ct.zeros((8,), dtype=ct.float32))


# expect: error num_worker_warps
# args: float32[1]
@ct.kernel(num_worker_warps=64)
def k(x):
    ct.store(x, (0,), ct.zeros((8,), dtype=ct.float32))


# expect: error occupancy
# args: float32[1]
@ct.kernel(occupancy=ct.ByTarget(sm_90=64, default=1))
def k(x):
    ct.store(x, (0,), ct.zeros((8,), dtype=ct.float32))


# expect: ok
# args: float32[1]
@ct.kernel(occupancy=32)
def k(x):
    ct.store(x, (0,), ct.zeros((8,), dtype=ct.float32))


# expect: ok
# args: float32[1]
@ct.kernel(num_ctas=16)
def k(x):
    ct.store(x, (0,), ct.zeros((8,), dtype=ct.float32))


# expect: ok
# args: float32[1]
@ct.kernel(opt_level=0)
def k(x):
    ct.store(x, (0,), ct.zeros((8,), dtype=ct.float32))


# expect: ok
# args: float32[1]
@ct.kernel(num_worker_warps=8)
def k(x):
    ct.store(x, (0,), ct.zeros((8,), dtype=ct.float32))


