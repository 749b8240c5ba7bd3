//! Public names that have no entry, and why: the completeness test accepts nothing else.

pub(super) struct Omitted {
    /// A name of `names.txt`, or with a final `*` the beginning of several.
    pub(super) name: &'static str,
    /// Why nobody would look it up while writing or tuning a kernel.
    pub(super) reason: &'static str,
}

const fn omitted(name: &'static str, reason: &'static str) -> Omitted {
    Omitted { name, reason }
}

const AHEAD_OF_TIME: &str =
    "detail of ahead-of-time compilation; the entry of its owner explains it";

pub(super) const OMITTED: &[Omitted] = &[
    omitted("compilation.ArrayConstraint.*", AHEAD_OF_TIME),
    omitted("compilation.CallingConvention.*", AHEAD_OF_TIME),
    omitted("compilation.ConstantConstraint.*", AHEAD_OF_TIME),
    omitted("compilation.ConstantValue", "a type alias for annotations"),
    omitted(
        "compilation.KernelSignature.calling_convention",
        AHEAD_OF_TIME,
    ),
    omitted(
        "compilation.KernelSignature.from_kernel_args(*",
        AHEAD_OF_TIME,
    ),
    omitted("compilation.KernelSignature.parameters", AHEAD_OF_TIME),
    omitted("compilation.KernelSignature.symbol", AHEAD_OF_TIME),
    omitted("compilation.KernelSignature.with_*", AHEAD_OF_TIME),
    omitted("compilation.ListConstraint.*", AHEAD_OF_TIME),
    omitted(
        "compilation.ParameterConstraint",
        "a type alias for annotations",
    ),
    omitted("compilation.ScalarConstraint.*", AHEAD_OF_TIME),
    omitted("compilation.TupleConstraint.*", AHEAD_OF_TIME),
    omitted("compilation.demangle_kernel_name(*", AHEAD_OF_TIME),
    omitted("compilation.export_kernel(kernel)", AHEAD_OF_TIME),
    omitted("compilation.export_kernel(output_file)", AHEAD_OF_TIME),
    omitted("compilation.export_kernel(signatures)", AHEAD_OF_TIME),
    omitted("compilation.mangle_kernel_name(*", AHEAD_OF_TIME),
    omitted(
        "Array.from_foreign(*",
        "named like the properties of an array",
    ),
    omitted("ByTarget(**value_by_target)", "any name of an architecture"),
    omitted(
        "foreign_pointer_dtype(*",
        "its only argument, positional in practice",
    ),
    omitted(
        "kernel.replace_hints(**hints)",
        "any hint of `kernel`, and those have entries",
    ),
];
