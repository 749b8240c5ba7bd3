//! What compiled code shows of a kernel, as plain data.
//!
//! The compiler crate finds it out, the engine ties it to the texts of the moment; here it is judged
//! against what rules claim, and put into words. Nothing here compiles, reads or waits.

mod difference;
mod footprint;
mod judge;
mod kernel;
mod knob;
pub mod occupancy;
mod remark;
mod resources;
#[cfg(test)]
pub(crate) mod testing;
mod trial;

use tileperf_syntax::Span;

use crate::arch::Arch;
use crate::signature::Signature;

pub use difference::{Difference, difference};
pub use footprint::{Drift, Footprint};
pub(crate) use judge::head;
pub use judge::{Evidence, Judgements, judge};
pub use kernel::CompiledKernel;
pub use knob::{Knob, knobs};
pub use occupancy::{Limit, Occupancy};
pub use remark::{Access, HintState, Kind, Remark, Remarks, Site};
pub use resources::Resources;
pub use trial::Trial;

/// A kernel compiled for one signature on one architecture, at the places of the present text.
#[derive(Debug, Clone, PartialEq)]
pub struct CompiledFacts {
    /// For which architecture.
    pub arch: Arch,
    /// What it was compiled for. Says where that comes from.
    pub signature: Signature,
    /// What became of it.
    pub outcome: Outcome,
    /// The kernel, or something that it needs, was edited since.
    pub stale: bool,
}

/// What became of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// cuTile's frontend takes it. There is no machine code as yet.
    Accepted,
    /// There is machine code.
    Machine(Machine),
    /// It does not compile, and that is the code's fault.
    Refused(Refusal),
    /// It could not be compiled, and that is not the code's fault: no time or memory, a compiler
    /// that crashed. In words.
    Failed(String),
}

/// Machine code.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// What a block takes.
    pub resources: Resources,
    /// Equal for two compiles on one architecture exactly if the code is.
    pub code_hash: String,
    /// What the compiler says of it; `None` from a release that says nothing.
    pub remarks: Option<Vec<Placed>>,
    /// How long compiling took, seconds.
    pub seconds: f64,
}

/// A remark in the present text.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// The operation in the kernel's file, a call mostly. `None` if it stands in another file, or
    /// its line was edited.
    pub span: Option<Span>,
    /// What is said. Its site is that of the text that was compiled.
    pub remark: Remark,
}

/// Why a kernel does not compile.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The compiler's own words.
    pub message: String,
    /// Where in the kernel's file: in another file's helper, the call that leads there. `None` if
    /// nothing is said, or the line was edited.
    pub span: Option<Span>,
    /// The calls that led there, innermost first; the innermost is where the error is, if that is
    /// in another place than `span`.
    pub chain: Vec<Called>,
}

/// A link in a chain of calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Called {
    /// The place, in the text that was compiled.
    pub site: Site,
    /// The function that the place is in.
    pub function: Option<String>,
}
