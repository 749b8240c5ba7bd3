//! A symbol as text.

use std::fmt::{self, Display, Formatter};

use super::{Array, Axis, Index, Param, Symbol};

impl Display for Symbol {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}_K{}", self.function, self.convention)?;
        self.params
            .iter()
            .try_for_each(|param| write!(f, "_{param}"))
    }
}

impl Display for Param {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(array) => write!(f, "A{array}"),
            Self::List {
                alias_groups,
                elements_alias,
                element,
            } => {
                f.write_str("L")?;
                groups(alias_groups, f)?;
                f.write_str(if *elements_alias { "i" } else { "" })?;
                write!(f, "A{element}")
            }
            Self::Tuple { items } => {
                write!(f, "T{}", items.len())?;
                items.iter().try_for_each(|item| write!(f, "{item}"))
            }
            Self::Scalar { dtype } => write!(f, "S{}", dtype.code()),
            Self::Bool { value } => write!(f, "B{}", u8::from(*value)),
            Self::Int { value } => write!(f, "I{}", value.replace('-', "_")),
            Self::Float { bits } => write!(f, "F{bits:016x}"),
        }
    }
}

impl Display for Array {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.axes.len(), self.dtype.code())?;
        for (mask, predicates) in by_mask(&self.axes) {
            write!(f, "_{mask:x}{predicates}")?;
        }
        let known = self.base_divisor != 1 || !self.alias_groups.is_empty();
        if !known && !self.overlaps && self.index == Index::Int32 {
            return Ok(());
        }
        f.write_str("_")?;
        if self.base_divisor != 1 {
            write!(f, "p{}", int(self.base_divisor))?;
        }
        groups(&self.alias_groups, f)?;
        f.write_str(if self.overlaps { "i" } else { "" })?;
        f.write_str(match self.index {
            Index::Int32 => "",
            Index::Uint32 => "u",
            Index::Int64 => "w",
        })
    }
}

fn groups(groups: &[u32], f: &mut Formatter<'_>) -> fmt::Result {
    groups.iter().try_for_each(|group| write!(f, "g{group:x}"))
}

fn int(value: i64) -> String {
    value.to_string().replace('-', "_")
}

/// What is known of an axis in one respect: a letter and a number.
type Known = fn(&Axis) -> Option<(char, i64)>;

/// The predicates, those that are true of the same axes together, by the axes' mask. Among them, the
/// order is by letter, then by the first axis: that of cuTile.
fn by_mask(axes: &[Axis]) -> Vec<(u128, String)> {
    let mut predicates: Vec<(String, u128)> = Vec::new();
    let of: [Known; 5] = [
        |axis| axis.shape.map(|n| ('s', n)),
        |axis| (axis.shape_divisor != 1).then_some(('i', axis.shape_divisor)),
        |axis| axis.stride.map(|n| ('t', n)),
        |axis| (axis.stride_divisor != 1).then_some(('v', axis.stride_divisor)),
        |axis| axis.stride_min.map(|n| ('l', n)),
    ];
    for of in of {
        for (bit, axis) in axes.iter().enumerate() {
            let Some((letter, value)) = of(axis) else {
                continue;
            };
            let text = format!("{letter}{}", int(value));
            let mask = 1_u128
                .checked_shl(u32::try_from(bit).unwrap_or(u32::MAX))
                .unwrap_or(0);
            match predicates.iter_mut().find(|(known, _)| *known == text) {
                Some((_, known)) => *known |= mask,
                None => predicates.push((text, mask)),
            }
        }
    }
    let mut by_mask: Vec<(u128, String)> = Vec::new();
    for (text, mask) in predicates {
        match by_mask.iter_mut().find(|(known, _)| *known == mask) {
            Some((_, all)) => all.push_str(&text),
            None => by_mask.push((mask, text)),
        }
    }
    by_mask.sort();
    by_mask
}
