//! What kind of kernel it is, for the space that its search gets: told by what flows into its matrix
//! products, not by names.

mod calls;
mod facts;
mod persistent;
pub(super) mod rows;
mod scales;
#[cfg(test)]
mod tests;
mod values;
mod walk;

use self::facts::{Facts, Flag, Load, Product};
pub(in crate::playbook::c_autotune) use self::scales::follow_rows;
use self::walk::Walk;
use super::effects::Effects;
use crate::body::Device;
use crate::rules::FileContext;

/// A kind of kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::playbook) enum Template {
    /// Every element alone.
    Elementwise,
    /// Rows that are summed up, or the like.
    Reduction,
    /// It writes over what it reads.
    InPlace,
    /// One matrix product.
    Matmul,
    /// One whose tiles are handed out to blocks by a loop.
    PersistentMatmul,
    /// A softmax between two.
    Attention,
    /// Operands of 8 bits with scales.
    Fp8Matmul,
    /// Which matrix a tile is of is looked up.
    GroupedGemm,
    /// Attention on sequences whose lengths are looked up.
    VariableLengthAttention,
    /// Two products of one operand.
    DualGemm,
    /// Several products, one after the other.
    FusedMatmul,
}

impl Template {
    /// In a title.
    pub(in crate::playbook) fn name(self) -> &'static str {
        match self {
            Template::Elementwise => "elementwise",
            Template::Reduction => "reduction",
            Template::InPlace => "in-place",
            Template::Matmul => "matmul",
            Template::PersistentMatmul => "persistent matmul",
            Template::Attention => "attention",
            Template::Fp8Matmul => "FP8 matmul",
            Template::GroupedGemm => "grouped GEMM",
            Template::VariableLengthAttention => "variable-length attention",
            Template::DualGemm => "dual GEMM",
            Template::FusedMatmul => "fused matmul",
        }
    }
}

/// A kernel's kind, and what its tiles rest on.
#[derive(Debug, Clone)]
pub(in crate::playbook) struct Kind {
    pub(in crate::playbook) template: Template,
    /// Its tiles of columns and the sum are those of scales.
    pub(in crate::playbook) scaled: bool,
    /// The axes of the grid by whose block index numbers are looked up in arrays.
    lookups: u8,
    /// Numbers are looked up by the number of a tile that a loop hands out.
    by_tile: bool,
}

impl Kind {
    pub(in crate::playbook) fn of(file: &FileContext<'_>, device: &Device<'_>) -> Kind {
        let walk = Walk::of(file, device);
        let in_place = Effects::of(file, device).is_ok_and(|effects| {
            let mut params = device.def.params.iter();
            params.any(|param| effects.changes(&param.name.name))
        });
        let loads = || walk.loads.iter();
        let loops = walk.products.iter().flat_map(|p| &p.place.loops);
        let used = loads()
            .flat_map(|load| [load.index, load.array])
            .chain(loops.map(|l| l.bounds))
            .fold(Facts::default(), Facts::with);
        let tables = loads().enumerate().filter(|(n, _)| bit(used.lookups, *n));
        let tables = tables.fold(Facts::default(), |all, (_, load)| all.with(load.index));
        let found = Found { walk: &walk };
        let template = found.template(in_place);
        Kind {
            template,
            scaled: template == Template::Fp8Matmul || found.has_block_scales(),
            lookups: tables.blocks,
            by_tile: tables.has(Flag::Handed),
        }
    }

    /// Whether a number that is looked up may stand for another tile, where the grid follows from a
    /// tile along these axes: what the table holds is then of as many rows or columns as today.
    pub(in crate::playbook) fn looks_up_tiles(&self, axes: u8) -> bool {
        self.by_tile || self.lookups & axes != 0
    }
}

/// Whether a set has a place.
fn bit(set: u128, number: usize) -> bool {
    set >> number.min(127) & 1 == 1
}

/// What the walk found, to be judged.
struct Found<'f, 'w, 'a> {
    walk: &'f Walk<'w, 'a>,
}

impl<'f, 'a> Found<'f, '_, 'a> {
    fn template(&self, in_place: bool) -> Template {
        let products = &self.walk.products;
        if products.is_empty() {
            return match self.walk.reduces {
                _ if in_place => Template::InPlace,
                true => Template::Reduction,
                false => Template::Elementwise,
            };
        }
        if products.iter().any(|p| p.x.with(p.y).softmax != 0) {
            let mut loops = products.iter().flat_map(|p| &p.place.loops);
            return match loops.any(|l| self.is_looked_up(l.bounds)) {
                true => Template::VariableLengthAttention,
                false => Template::Attention,
            };
        }
        let fed = products
            .iter()
            .fold(0, |all, p| all | p.x.with(p.y).products);
        let several = products
            .iter()
            .enumerate()
            .any(|(n, p)| (products[..n].iter()).any(|other| !p.place.excludes(&other.place)));
        if fed == 0 && self.is_fp8() {
            return Template::Fp8Matmul;
        }
        if fed == 0 && products.iter().any(|p| self.is_grouped(p)) {
            return Template::GroupedGemm;
        }
        if several && fed == 0 && self.is_dual() {
            return Template::DualGemm;
        }
        let accumulates = |(n, p): (usize, &Product)| {
            let mut others = products.iter().enumerate().filter(|(m, _)| *m != n);
            others.all(|(m, other)| {
                p.place.excludes(&other.place)
                    || p.acc.products >> m.min(63) & 1 == 1
                    || other.acc.products >> n.min(63) & 1 == 1
            })
        };
        // Parts of one sum are one product.
        if fed != 0 || several && !products.iter().enumerate().all(accumulates) {
            return Template::FusedMatmul;
        }
        let mut loops = products.iter().flat_map(|p| &p.place.loops);
        match loops.any(|l| l.hands_out) {
            true => Template::PersistentMatmul,
            false => Template::Matmul,
        }
    }

    /// Whether a number of a table is in it: of one number there is no table.
    fn is_looked_up(&self, of: Facts) -> bool {
        let numbers = Facts { tiles: 0, ..of };
        self.loads(numbers)
            .any(|load| load.index != Facts::default())
    }

    fn loads(&self, of: Facts) -> impl Iterator<Item = &'f Load<'a>> {
        let all = self.walk.loads.iter().enumerate();
        all.filter(move |(n, _)| bit(of.tiles | of.lookups, *n))
            .map(|(_, load)| load)
    }

    /// Whether the matrix that an operand is of is looked up, not within the sum: that would be which
    /// parts of one are not zero.
    fn is_grouped(&self, product: &Product) -> bool {
        let own = |n: usize| product.acc.products >> n.min(63) & 1 == 1;
        let sums = (self.walk.products.iter().enumerate())
            .any(|(n, p)| std::ptr::eq(p, product) && own(n));
        let sum = product.place.innermost().filter(|_| sums);
        self.loads(product.x.with(product.y)).any(|operand| {
            let of = operand.index.with(operand.array);
            let outside = |load: &Load<'_>| {
                sum.is_none_or(|sum| load.place.loops.iter().all(|l| l.key != sum))
            };
            // Rows may be gathered by a list of which a part is the matrix's.
            let lists = self.loads(Facts { lookups: 0, ..of });
            let of = lists.fold(of, |of, list| of.with(list.index));
            let tables = Facts { tiles: 0, ..of };
            operand.array.has(Flag::Listed) || self.loads(tables).any(outside)
        })
    }

    /// All products have one operand in common, and each an accumulator of its own.
    fn is_dual(&self) -> bool {
        let products = &self.walk.products;
        let shares = |operand: fn(&Product) -> Facts| {
            let first = products.first().map(|p| operand(p).tiles);
            let same = |p: &Product| Some(operand(p).tiles) == first;
            first.is_some_and(|tiles| tiles != 0) && products.iter().all(same)
        };
        let alone = products.iter().enumerate().all(|(n, p)| {
            let others = !(1u64 << n.min(63));
            p.acc.products & others == 0
        });
        let differs = |operand: fn(&Product) -> Facts| {
            let mut all = products.windows(2);
            all.all(|w| operand(&w[0]).tiles != operand(&w[1]).tiles)
        };
        alone && (shares(|p| p.x) && differs(|p| p.y) || shares(|p| p.y) && differs(|p| p.x))
    }
}
