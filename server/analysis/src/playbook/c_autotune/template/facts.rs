//! What is in a value of device code: products, exponentials of them, loads, numbers looked up.
//!
//! Names say nothing of what a kernel is; what flows into its matrix products does. Facts are sets of
//! places that only grow, so that a loop's body is walked until nothing is added.

use smol_str::SmolStr;
use tileperf_syntax::ast::Expr;

/// What went into a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Matrix products.
    pub(super) products: u64,
    /// Those of them that a maximum was taken of.
    pub(super) maxima: u64,
    /// Those of which an exponential was taken that something was subtracted for: a softmax.
    pub(super) softmax: u64,
    /// Tiles loaded.
    pub(super) tiles: u128,
    /// Numbers loaded.
    pub(super) lookups: u128,
    /// The axes of the grid whose block index is in it.
    pub(super) blocks: u8,
    pub(super) flags: u16,
}

/// Something that is or is not in a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Flag {
    /// The index of each element: its values are many.
    Offsets = 1,
    /// An array of a list that the kernel is passed.
    Listed = 2,
    /// Something loaded was subtracted from a product.
    Lowered = 4,
    /// An exponential.
    Exponential = 8,
    /// How many tiles there are along an extent.
    Count = 16,
    /// How many there are of a whole matrix.
    Area = 32,
    /// The number of a tile of a loop that hands them out.
    Handed = 64,
    /// How many blocks there are.
    Blocks = 128,
    /// It was made one of 8 bits: a float.
    Float8 = 256,
    /// It was made one of more bits.
    Wider = 512,
    /// Which matrix of several a block works on.
    Matrix = 1024,
    /// Which rows a block works on.
    Rows = 2048,
}

impl Facts {
    pub(super) fn of(flag: Flag) -> Facts {
        Facts {
            flags: flag as u16,
            ..Facts::default()
        }
    }

    pub(super) fn has(self, flag: Flag) -> bool {
        self.flags & flag as u16 != 0
    }

    pub(super) fn and(self, flag: Flag) -> Facts {
        Facts {
            flags: self.flags | flag as u16,
            ..self
        }
    }

    pub(super) fn without(self, flag: Flag) -> Facts {
        Facts {
            flags: self.flags & !(flag as u16),
            ..self
        }
    }

    /// Both went into it.
    pub(super) fn with(self, other: Facts) -> Facts {
        Facts {
            products: self.products | other.products,
            maxima: self.maxima | other.maxima,
            softmax: self.softmax | other.softmax,
            tiles: self.tiles | other.tiles,
            lookups: self.lookups | other.lookups,
            blocks: self.blocks | other.blocks,
            flags: self.flags | other.flags,
        }
    }

    /// Something of memory is in it.
    pub(super) fn is_read(self) -> bool {
        self.tiles | self.lookups != 0
    }

    /// It follows from which block runs.
    pub(super) fn is_of_block(self) -> bool {
        self.blocks != 0 || self.has(Flag::Handed)
    }
}

/// A place in the kernel, helpers that it calls told apart by where they are called.
pub(super) type Key = (u32, u32);

/// A loop around a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Loop {
    pub(super) key: Key,
    /// Its bounds.
    pub(super) bounds: Facts,
    /// It hands out tiles to blocks.
    pub(super) hands_out: bool,
}

/// A way taken at a condition: which one, which way.
pub(super) type Branch = (Key, usize);

/// Where something stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Where {
    pub(super) loops: Vec<Loop>,
    pub(super) branches: Vec<Branch>,
}

impl Where {
    /// Whether only one of both runs.
    pub(super) fn excludes(&self, other: &Where) -> bool {
        let mine = self.branches.iter();
        mine.clone().any(|(key, way)| {
            let mut theirs = other.branches.iter();
            theirs.any(|(k, w)| k == key && w != way)
        })
    }

    pub(super) fn innermost(&self) -> Option<Key> {
        self.loops.last().map(|l| l.key)
    }
}

/// A matrix product.
#[derive(Debug, Clone, Default)]
pub(super) struct Product {
    pub(super) x: Facts,
    pub(super) y: Facts,
    pub(super) acc: Facts,
    /// Scales that it takes itself.
    pub(super) scales: Option<Facts>,
    /// An operand is known to be an 8-bit float, or to be none.
    pub(super) is_float8: Option<bool>,
    pub(super) place: Where,
}

/// A load or gather.
#[derive(Debug, Clone, Default)]
pub(super) struct Load<'a> {
    /// Of the array.
    pub(super) array: Facts,
    /// The array's name where the load stands.
    pub(super) name: Option<SmolStr>,
    pub(super) index: Facts,
    /// The index and, of a load, the extents, as they are written.
    pub(super) written: Option<(&'a Expr, Option<&'a Expr>)>,
    /// Constants among the extents that it reads.
    pub(super) extents: Vec<SmolStr>,
    /// Along how many axes it reads more than one element, as far as its shape is known.
    pub(super) axes: usize,
    pub(super) place: Where,
}

/// A product times something of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scaling {
    pub(super) products: u64,
    pub(super) scales: Facts,
    /// The innermost loop around it.
    pub(super) within: Option<Key>,
}
