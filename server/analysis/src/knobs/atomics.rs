//! Atomic operations, memory orders and scopes.

use super::Area;
use super::knob::{change, class, function, keyword, member, method};

const ATOMICS: &[&str] = &[
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_xchg",
    "atomic_xor",
];

pub(super) static AREA: Area = Area {
    title: "Atomics and memory order",
    source: "`_stub.py`, `_memory_model.py`, `_ir/ops.py`, `_passes/check_dtype_support.py`",
    knobs: &[
        function(
            "atomic_add",
            "ct.atomic_add(array, indices, update, check_bounds=True, memory_order=..., \
             memory_scope=...)",
            "Adds to each element at the indices and returns the old values",
        )
        .changes(&[change(1, 4, "bfloat16, on sm_90 and later")])
        .caveat("Where the old values are not needed `TiledView.atomic_store_add` is the cheaper one, says the manual"),
        function(
            "atomic_max",
            "ct.atomic_max(array, indices, update, ...)",
            "Replaces each element at the indices by the larger of it and the update, returns the \
             old values",
        ),
        function(
            "atomic_min",
            "ct.atomic_min(array, indices, update, ...)",
            "Replaces each element at the indices by the smaller of it and the update, returns the \
             old values",
        ),
        function(
            "atomic_and",
            "ct.atomic_and(array, indices, update, ...)",
            "Joins bits of each element at the indices by and, returns the old values",
        ),
        function(
            "atomic_or",
            "ct.atomic_or(array, indices, update, ...)",
            "Joins bits of each element at the indices by or, returns the old values",
        ),
        function(
            "atomic_xor",
            "ct.atomic_xor(array, indices, update, ...)",
            "Joins bits of each element at the indices by exclusive or, returns the old values",
        ),
        function(
            "atomic_xchg",
            "ct.atomic_xchg(array, indices, update, ...)",
            "Replaces each element at the indices and returns the old values",
        ),
        function(
            "atomic_cas",
            "ct.atomic_cas(array, indices, expected, desired, ...)",
            "Replaces each element at the indices that has the expected value, returns the old \
             values",
        ),
        keyword(
            ATOMICS,
            "check_bounds",
            "Whether indices are compared with the array's shape; False promises that all are inside",
        )
        .range("True or False, constant")
        .default("True")
        .caveat("A broken promise is undefined behaviour"),
        keyword(ATOMICS, "memory_order", "Ordering of the operation among blocks")
            .range("RELAXED, ACQUIRE, RELEASE or ACQ_REL")
            .default("MemoryOrder.ACQ_REL")
            .caveat("A counter or sum that nothing else is ordered by needs only RELAXED"),
        keyword(ATOMICS, "memory_scope", "Which threads see the ordering")
            .range("BLOCK, DEVICE or SYS")
            .default("MemoryScope.DEVICE"),
        method(
            "TiledView.atomic_store_add",
            "view.atomic_store_add(index, update)",
            "Adds a tile to the array, element by element, without returning old values",
        )
        .since(1, 4)
        .tileiras(13, 3),
        method(
            "TiledView.atomic_store_max",
            "view.atomic_store_max(index, update)",
            "Keeps the larger of array and tile in the array, element by element",
        )
        .since(1, 4)
        .tileiras(13, 3),
        method(
            "TiledView.atomic_store_min",
            "view.atomic_store_min(index, update)",
            "Keeps the smaller of array and tile in the array, element by element",
        )
        .since(1, 4)
        .tileiras(13, 3),
        method(
            "TiledView.atomic_store_and",
            "view.atomic_store_and(index, update)",
            "Joins the bits of array and tile by and; both have one type",
        )
        .since(1, 4)
        .tileiras(13, 3),
        method(
            "TiledView.atomic_store_or",
            "view.atomic_store_or(index, update)",
            "Joins the bits of array and tile by or; both have one type",
        )
        .since(1, 4)
        .tileiras(13, 3),
        method(
            "TiledView.atomic_store_xor",
            "view.atomic_store_xor(index, update)",
            "Joins the bits of array and tile by exclusive or; both have one type",
        )
        .since(1, 4)
        .tileiras(13, 3),
        class(
            "MemoryOrder",
            "",
            "How an access is ordered with others",
        ),
        member(
            "MemoryOrder.WEAK",
            "No ordering and not atomic; for load and store, where it is the default",
        )
        .since(1, 3),
        member(
            "MemoryOrder.RELAXED",
            "Atomic, but orders nothing else",
        ),
        member(
            "MemoryOrder.ACQUIRE",
            "What another block wrote before its release is visible to what follows here",
        ),
        member(
            "MemoryOrder.RELEASE",
            "What was written before is visible to a block that acquires this",
        ),
        member("MemoryOrder.ACQ_REL", "Acquire and release in one"),
        class(
            "MemoryScope",
            "",
            "Among which threads an order holds",
        ),
        member(
            "MemoryScope.NONE",
            "None; the only one that goes with WEAK",
        )
        .since(1, 3),
        member("MemoryScope.BLOCK", "The threads of the block"),
        member(
            "MemoryScope.CLUSTER",
            "The threads of the cluster",
        )
        .since(1, 5)
        .caveat("For cuda.lang; cuda.tile refuses it")
        .measured(),
        member("MemoryScope.DEVICE", "All threads of the GPU"),
        member(
            "MemoryScope.SYS",
            "All threads of all GPUs, and the host",
        ),
    ],
};
