//! What is wrong in cuTile code, and how to put it right: one file a rule.
//!
//! A rule sees the semantic model (kernels, launches, spaces, what each expression of device code
//! is), never raw text, and gives plain findings. Adding one is a file and a line in [`RULES`].

mod bindings;
mod check;
mod context;
mod doc;
mod edits;
mod eight_bit;
mod finding;
mod flow;
mod markdown;
mod offsets;
mod ragged;
mod reduction;
mod rule;
pub mod suppress;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use check::{Checked, RuleCache, check, check_links};
pub use context::{
    DeviceFacts, FileContext, InItem, ItemContext, KernelFacts, KernelUses, Links, SpaceFacts,
};
pub use doc::{Block, BlockKind, Doc};
pub use finding::{Claim, Described, Finding, Findings, Fix, Lowering, Safety};
pub use markdown::markdown;
pub use rule::{Check, DeviceContext, Rule, Severity};

/// Declares the modules of the rules and lists them.
macro_rules! rules {
    ($($module:ident,)*) => {
        $(mod $module;)*

        /// Every rule, by code.
        pub static RULES: &[&Rule] = &[$(&$module::RULE,)*];
    };
}

rules! {
    tp101_replace_hints_hot_path,
    tp214_unsupported_python,
    tp215_dynamic_tile_shape,
    tp216_padded_divisor,
    tp217_mask_by_multiply,
    tp218_fp8_div_operator,
    tp219_load_no_padding,
    tp220_half_precision_reduction,
    tp221_mma_missing_acc,
    tp222_undefined_on_branch,
    tp223_flat_view_strided,
    tp224_unmasked_gather_reduction,
    tp225_unmasked_scatter,
    tp226_hint_out_of_range,
    tp404_mma_fp32_no_tf32,
    tp406_padding_blocks_tma,
    tp407_exact_math_hot,
    tp409_loop_invariant_tile,
    tp410_cast_in_loop,
}

/// The rule of a code or slug.
pub fn find(name: &str) -> Option<&'static Rule> {
    (RULES.iter().copied())
        .find(|r| r.code.eq_ignore_ascii_case(name) || r.slug.eq_ignore_ascii_case(name))
}
