//! The playbook: what may make a kernel faster, as edits, one file an optimization.
//!
//! An optimization sees the semantic model, says where it applies and proposes [`Action`]s: an edit,
//! what compiled code will show if it does what is hoped, and what its correctness rests on. Whether it
//! did is told by [`present`] from two compiles; whether it is faster only a measurement tells. Adding
//! one is a file and a line in [`OPTIMIZATIONS`].

mod action;
mod alone;
mod context;
mod elsewhere;
mod evidence;
mod host;
mod markdown;
mod next;
mod offer;
mod optimization;
mod order;
mod originals;
mod present;
mod remade;
mod site;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use action::{Action, Actions, Effect};
pub(crate) use context::own_uses;
pub use context::{KernelContext, Mixed, Naming, Surroundings};
pub use elsewhere::{EditsElsewhere, Elsewhere, Launched};
pub use evidence::{Code, Compiled, Search, Timed};
pub use markdown::markdown;
pub use offer::{actions, kind};
pub use optimization::{Gain, Numerics, Optimization, Principle};
pub use originals::{Look, Original, Originals, neutral};
pub use present::{Proof, present};
pub use remade::Remade;

/// Declares the modules of the optimizations and lists them.
macro_rules! optimizations {
    ($($module:ident,)*) => {
        $(mod $module;)*

        /// Every optimization, by letter.
        pub static OPTIMIZATIONS: &[&Optimization] = &[$(&$module::OPTIMIZATION,)*];
    };
}

optimizations! {
    a_block_access,
    b_persistent_grid,
    c_autotune,
    d_tfloat32_operands,
    e_latency_hints,
    f_no_tma_stores,
    g_tile_sizes,
    h_cheaper_math,
    i_block_swizzle,
    k_batch_copies,
    m_static_bounds,
    n_divisibility,
    o_shape_gate,
    p_masked_gather,
}
