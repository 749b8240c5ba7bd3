//! What is wrong in cuTile code, and how to put it right: one file a rule.
//!
//! A rule sees the semantic model (kernels, launches, spaces, what each expression of device code
//! is), never raw text, and gives plain findings. Adding one is a file and a line in [`RULES`].

mod bindings;
mod check;
mod compiled;
mod context;
mod doc;
pub(crate) mod eight_bit;
mod finding;
mod fixes;
mod flow;
mod host;
mod launch;
mod markdown;
mod names;
mod offsets;
mod ragged;
mod reduction;
mod rule;
pub mod suppress;
mod tensor_methods;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod tuned;
mod tuning;
mod waits;

pub use check::{Checked, RuleCache, check, check_links, unchecked};
pub use compiled::{CompiledContext, compiled};
pub(crate) use context::expression;
pub use context::{
    DeviceFacts, FileContext, InItem, ItemContext, KernelFacts, KernelUses, Links, SpaceFacts,
};
pub use doc::{Block, BlockKind, Doc};
pub use finding::{Claim, Described, Finding, Findings, Fix, Lowering, Safety};
pub use fixes::compatible;
pub use markdown::markdown;
pub use rule::{Check, DeviceContext, Rule, Severity};
pub(crate) use tp303_hardcoded_sm_count::ASK as SM_COUNT;
pub(crate) use tp404_mma_fp32_no_tf32::float32_operands;
pub(crate) use tp408_no_swizzle::in_plain_order;
pub(crate) use tuned::{is_occupancy, is_tile, listed, multiplies};
pub(crate) use tuning::search_call::{Given, SearchCall, is_test};

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
    tp111_original_config_missing,
    tp112_narrow_search_space,
    tp113_cache_key_identity,
    tp114_dict_search_space,
    tp115_tuned_hints_dropped,
    tp116_cold_process_timing,
    tp117_profiler_sees_search,
    tp118_tuning_result_attribute,
    tp201_launch_none,
    tp202_constant_str,
    tp203_constant_as_default_value,
    tp204_non_pow2_tile,
    tp205_index_is_element_offset,
    tp206_index_shape_rank_mismatch,
    tp207_unused_kernel_param,
    tp208_launch_arity,
    tp209_launch_grid,
    tp210_kernel_called_as_helper,
    tp211_wrong_import,
    tp212_tensor_method_on_tile,
    tp213_index_math_by_function,
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
    tp301_num_ctas_arch,
    tp302_tile_over_budget,
    tp303_hardcoded_sm_count,
    tp304_host_sync_in_launch,
    tp401_gather_contiguous,
    tp402_one_block_per_row_grid,
    tp403_no_autotune,
    tp404_mma_fp32_no_tf32,
    tp405_while_grid_stride,
    tp406_padding_blocks_tma,
    tp407_exact_math_hot,
    tp408_no_swizzle,
    tp409_loop_invariant_tile,
    tp410_cast_in_loop,
    tp501_compile_error,
    tp502_no_tma,
    tp503_no_tensor_cores,
    tp504_stack,
    tp505_hint_ignored,
    tp506_does_not_fit,
    tp507_occupancy_not_reached,
    tp508_inert_hint,
}

/// The rule of a code or slug.
pub fn find(name: &str) -> Option<&'static Rule> {
    (RULES.iter().copied())
        .find(|r| r.code.eq_ignore_ascii_case(name) || r.slug.eq_ignore_ascii_case(name))
}
