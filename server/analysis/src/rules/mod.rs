//! What is wrong in cuTile code, and how to put it right: one file a rule.
//!
//! A rule sees the semantic model (kernels, launches, spaces, what each expression of device code
//! is), never raw text, and gives plain findings. Adding one is a file and a line in [`RULES`].

mod check;
mod context;
mod doc;
mod finding;
mod markdown;
mod rule;
pub mod suppress;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod tuning;

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
    tp102_empty_search_space,
    tp103_inplace_autotune_no_split,
    tp104_generator_search_space,
    tp105_search_space_too_large,
    tp106_cache_key_incomplete,
    tp107_hardcoded_occupancy_while_autotuning,
    tp108_deprecated_autotune_launch,
    tp109_disable_autotune_missing,
    tp110_search_on_hot_path,
}

/// The rule of a code or slug.
pub fn find(name: &str) -> Option<&'static Rule> {
    (RULES.iter().copied())
        .find(|r| r.code.eq_ignore_ascii_case(name) || r.slug.eq_ignore_ascii_case(name))
}
