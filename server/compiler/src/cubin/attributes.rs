//! The attributes of `.nv.info` and `.nv.info.<kernel>`: a byte for the form, one for the name, and
//! a value of two bytes or of as many as those two say.

use std::collections::HashMap;

use super::Error;
use super::elf::Elf;

/// The form of an attribute whose value has a length of its own.
const SIZED: u8 = 4;

/// The name of an attribute. NVIDIA's headers call them `EIATTR_...`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Attribute(u8);

impl Attribute {
    /// `REQNTID`: the block's three dimensions.
    pub(super) const REQUIRED_THREADS: Self = Self(0x10);
    /// `FRAME_SIZE`: symbol, bytes of stack.
    pub(super) const FRAME_SIZE: Self = Self(0x11);
    /// `REGCOUNT`: symbol, registers. Since sm_90 the section header has another number.
    pub(super) const REGISTERS: Self = Self(0x2f);
    /// `CTA_PER_CLUSTER`: the cluster's three dimensions.
    pub(super) const CLUSTER: Self = Self(0x3d);
}

/// The attributes of one section.
pub(super) fn all(mut data: &[u8]) -> Result<Vec<(Attribute, &[u8])>, Error> {
    let cut = || Error::Damaged("an attribute is cut short".to_owned());
    let mut found = Vec::new();
    while let [form, name, a, b, rest @ ..] = data {
        let value = match *form {
            SIZED => {
                let length = usize::from(u16::from_le_bytes([*a, *b]));
                let (value, after) = rest.split_at_checked(length).ok_or_else(cut)?;
                data = after;
                value
            }
            _ => {
                let value = &data[2..4];
                data = rest;
                value
            }
        };
        found.push((Attribute(*name), value));
    }
    // Up to three bytes of padding.
    if data.iter().any(|&byte| byte != 0) {
        return Err(cut());
    }
    Ok(found)
}

/// The attributes of the whole file that speak of one symbol: its number and a value.
pub(super) fn per_symbol(elf: &Elf<'_>) -> Result<HashMap<(Attribute, u32), u32>, Error> {
    let data = elf.section(".nv.info").map_or(&[][..], |s| s.data);
    let pairs = all(data)?.into_iter().filter_map(|(attribute, value)| {
        let [symbol, value] = words(value)?;
        Some(((attribute, symbol), value))
    });
    Ok(pairs.collect())
}

/// The product of an attribute's three dimensions.
pub(super) fn product(
    attributes: &[(Attribute, &[u8])],
    wanted: Attribute,
) -> Result<Option<u32>, Error> {
    let Some((_, value)) = attributes.iter().find(|(name, _)| *name == wanted) else {
        return Ok(None);
    };
    let [x, y, z] = words(value).ok_or_else(|| Error::Damaged("a size is cut short".to_owned()))?;
    let product = x.checked_mul(y).and_then(|xy| xy.checked_mul(z));
    let product = product.ok_or_else(|| Error::Damaged(format!("a size of {x} x {y} x {z}")))?;
    Ok(Some(product))
}

/// A value as exactly so many 32-bit words.
fn words<const N: usize>(value: &[u8]) -> Option<[u32; N]> {
    let (words, []) = value.as_chunks::<4>() else {
        return None;
    };
    let words: &[[u8; 4]; N] = words.try_into().ok()?;
    Some(words.map(u32::from_le_bytes))
}
