//! The questions an editor asks, one file each. Answers are plain data with places in bytes.

mod compile_error;
mod definition;
mod failures;
mod hover;
mod inlays;
mod kernel_at;
mod lenses;
mod perf_target;
mod references;
mod symbols;
mod tests_of;

pub use failures::FailureAt;
pub use hover::HoverText;
pub use inlays::Inlay;
pub use lenses::Lens;
pub use perf_target::PerfTarget;
pub use symbols::WorkspaceSymbol;
