//! What a kernel may have been ported from.
//!
//! A port and its original mostly lie in files of one name, in folders or with endings that say which
//! is which: `ops/triton/softmax.py` and `ops/cutile/softmax.py`, `softmax_triton.py` beside
//! `softmax.py`. Which files a workspace has is not known here: whoever asks hands them in.

use std::sync::Arc;

use tileperf_syntax::ParsedFile;

use crate::eval::{Env, ModuleId};
use crate::model::FileModel;

/// A workspace, and the files in it that may hold a kernel's original.
#[derive(Clone, Copy)]
pub struct Originals<'w> {
    /// The workspace.
    pub env: &'w dyn Env,
    /// The kernel's file in it.
    pub own: ModuleId,
    /// Other files.
    pub files: &'w [Original],
}

/// A file that may hold an original.
pub struct Original {
    /// The file in the workspace.
    pub module: ModuleId,
    /// As it is shown: its path from the workspace's folder.
    pub name: String,
    /// Its items.
    pub parsed: Arc<ParsedFile>,
    /// What they mean.
    pub model: Arc<FileModel>,
    /// It is the kernel's file said of Triton; otherwise the kernel's name must say it too.
    pub beside: bool,
}

/// Looks for originals and shows them.
pub type Look<'w> = &'w dyn Fn(&mut dyn FnMut(&Originals<'_>));

/// What is left of a name without the words that say how something is written: `rms_norm` of
/// `rms_norm_triton` and of `_rms_norm_kernel`.
pub fn neutral(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let parts = lower.split(['_', '-']).filter(|part| {
        !matches!(
            *part,
            "" | "kernel"
                | "kernels"
                | "impl"
                | "triton"
                | "cutile"
                | "ct"
                | "tl"
                | "fwd"
                | "cuda"
                | "tile"
        )
    });
    parts.collect::<Vec<_>>().join("_")
}

/// How much two kernels' names say that they are the same: nothing, one says more than the other, or
/// all.
pub(super) fn kinship(one: &str, other: &str) -> u8 {
    let (one, other) = (neutral(one), neutral(other));
    if one == other {
        return u8::from(!one.is_empty()) * 2;
    }
    let within = |small: &str, large: &str| {
        let mut words = small.split('_').filter(|w| !w.is_empty()).peekable();
        words.peek().is_some() && words.all(|word| large.split('_').any(|w| w == word))
    };
    u8::from(within(&one, &other) || within(&other, &one))
}

#[cfg(test)]
mod tests {
    use super::{kinship, neutral};

    #[test]
    fn names_that_mean_the_same() {
        for (name, wanted) in [
            ("_matmul_kernel", "matmul"),
            ("triton_matmul", "matmul"),
            ("rms_norm_fwd_cutile", "rms_norm"),
            ("triton_kernel", ""),
        ] {
            assert_eq!(neutral(name), wanted, "{name}");
        }
        for (one, other, wanted) in [
            ("_matmul_kernel", "matmul_triton", 2),
            ("_dropout_kernel", "_seeded_dropout", 1),
            ("matmul_fp8", "matmul", 1),
            ("softmax", "matmul", 0),
            ("kernel", "triton_kernel", 0),
            ("kernel", "matmul", 0),
        ] {
            assert_eq!(kinship(one, other), wanted, "{one} {other}");
            assert_eq!(kinship(other, one), wanted, "{other} {one}");
        }
    }
}
