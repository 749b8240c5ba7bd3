//! What has to be known of TileIR bytecode: whether two texts compile to the same program, and where
//! each operation stands in the source.
//!
//! The layout is that of cuda-tile 1.7 (`_bytecode/writer.py`): a header, then sections, each with a
//! number, its length and perhaps an alignment. The debug section holds one location for each
//! operation, in the program's order. So if two bytecodes are equal without it, then the n-th
//! location of the one is the n-th of the other, wherever lines have moved to: that is how remarks
//! are kept over an edit above a kernel, or above a helper.

use sha2::{Digest, Sha256};

use crate::remarks::Site;

const MAGIC: &[u8] = b"\x7fTileIR\0";
const HEADER: usize = 12;
const STRINGS: u8 = 1;
const DEBUG: u8 = 3;
/// The sections' numbers have a bit for "an alignment follows".
const ALIGNED: u8 = 0x80;
const FILE: u8 = 2;
const LOCATION: u8 = 4;
const FUNCTION: u8 = 5;
const CALL_SITE: u8 = 6;
/// Calls within calls that a location is followed through.
const DEEPEST: usize = 64;

/// A hash of the program: of everything except its debug section, and except the names of files and
/// functions with lines in them (`row@kernels:4:1`) that only this section refers to.
///
/// What is not understood is hashed whole, which only costs a compile.
#[must_use]
pub fn program_hash(bytecode: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    match sections(bytecode) {
        Some(sections) => {
            hash.update(&bytecode[..HEADER]);
            let strings = strings_that_count(&sections);
            for (id, data) in sections.iter().filter(|(id, _)| *id != DEBUG) {
                let parts = match (&strings, *id) {
                    (Some(strings), STRINGS) => strings.as_slice(),
                    _ => std::slice::from_ref(data),
                };
                hash.update([*id]);
                hash.update((parts.len() as u64).to_le_bytes());
                for part in parts {
                    hash.update((part.len() as u64).to_le_bytes());
                    hash.update(part);
                }
            }
        }
        None => hash.update(bytecode),
    }
    hash.finalize().into()
}

/// Where the operations stand, in the program's order; for one in a helper, its own place and then
/// those of the calls. Empty if the bytecode is not understood or has no locations.
#[must_use]
pub fn places(bytecode: &[u8]) -> Vec<Site> {
    read_places(bytecode).unwrap_or_default()
}

/// The strings, those that only say where something stands empty.
fn strings_that_count<'a>(sections: &[(u8, &'a [u8])]) -> Option<Vec<&'a [u8]>> {
    let mut strings = Reader::new(section(STRINGS, sections)?).table()?;
    let (_, attributes) = debug(sections)?;
    for attribute in attributes {
        let (tag, rest) = attribute.split_first()?;
        let mut rest = Reader::new(rest);
        let named = match *tag {
            FILE => [rest.varint()?, rest.varint()?],
            LOCATION => {
                rest.varint()?;
                let file = rest.varint()?;
                [file, file]
            }
            FUNCTION => {
                rest.varint()?;
                rest.varint()?;
                [rest.varint()?, rest.varint()?]
            }
            _ => continue,
        };
        for string in named {
            // Plain names may be of use to the program too: that of the kernel is its symbol.
            let string = strings.get_mut(string)?;
            if string.iter().any(|byte| b"@/.".contains(byte)) {
                *string = &[];
            }
        }
    }
    Some(strings)
}

/// The number of each operation's attribute, and the attributes.
type Debug<'a> = (&'a [[u8; 8]], Vec<&'a [u8]>);

/// Reads the debug section.
fn debug<'a>(sections: &[(u8, &'a [u8])]) -> Option<Debug<'a>> {
    let mut debug = Reader::new(section(DEBUG, sections)?);
    let functions = debug.varint()?;
    debug.align(4)?;
    debug.take(functions.checked_mul(4)?)?;
    let operations = debug.varint()?;
    debug.align(8)?;
    let indices = debug.take(operations.checked_mul(8)?)?;
    Some((indices.as_chunks::<8>().0, debug.table()?))
}

fn section<'a>(wanted: u8, sections: &[(u8, &'a [u8])]) -> Option<&'a [u8]> {
    let found = sections.iter().find(|(id, _)| *id == wanted);
    found.map(|(_, data)| *data)
}

fn read_places(bytecode: &[u8]) -> Option<Vec<Site>> {
    let sections = sections(bytecode)?;
    let strings = Reader::new(section(STRINGS, &sections)?).table()?;
    let (indices, attributes) = debug(&sections)?;
    let mut places = Vec::new();
    for index in indices {
        let index = usize::try_from(u64::from_le_bytes(*index)).ok()?;
        follow(index, &attributes, &strings, &mut places, 0);
    }
    Some(places)
}

/// Adds the places that an attribute stands for. Attributes are counted from 1; 0 is none.
fn follow(
    index: usize,
    attributes: &[&[u8]],
    strings: &[&[u8]],
    places: &mut Vec<Site>,
    depth: usize,
) -> Option<()> {
    let attribute = attributes.get(index.checked_sub(1)?)?;
    let (tag, rest) = attribute.split_first()?;
    let mut rest = Reader::new(rest);
    match *tag {
        LOCATION => {
            rest.varint()?;
            let file = strings.get(rest.varint()?)?;
            places.push(Site {
                file: String::from_utf8_lossy(file).into_owned(),
                line: u32::try_from(rest.varint()?).ok()?,
                column: u32::try_from(rest.varint()?).ok()?,
            });
        }
        CALL_SITE if depth < DEEPEST => {
            let (callee, caller) = (rest.varint()?, rest.varint()?);
            follow(callee, attributes, strings, places, depth + 1);
            follow(caller, attributes, strings, places, depth + 1);
        }
        _ => {}
    }
    Some(())
}

/// The sections by number.
fn sections(bytecode: &[u8]) -> Option<Vec<(u8, &[u8])>> {
    if !bytecode.starts_with(MAGIC) {
        return None;
    }
    let mut reader = Reader::new(bytecode);
    reader.take(HEADER)?;
    let mut sections = Vec::new();
    loop {
        let id = *reader.take(1)?.first()?;
        if id == 0 {
            return Some(sections);
        }
        let length = reader.varint()?;
        if id & ALIGNED != 0 {
            let alignment = reader.varint()?;
            reader.align(alignment)?;
        }
        sections.push((id & !ALIGNED, reader.take(length)?));
    }
}

/// A place in bytes; alignment counts from their beginning.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    /// Seven bits a byte, the lowest first.
    fn varint(&mut self) -> Option<usize> {
        let mut value: u64 = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.take(1)?.first()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return usize::try_from(value).ok();
            }
        }
        None
    }

    fn align(&mut self, alignment: usize) -> Option<()> {
        let over = self.at.checked_rem(alignment)?;
        if over > 0 {
            self.take(alignment - over)?;
        }
        Some(())
    }

    /// A count, so many offsets (of eight bytes in tables of constants, of four in those used here),
    /// and the items.
    fn table(&mut self) -> Option<Vec<&'a [u8]>> {
        let count = self.varint()?;
        self.align(4)?;
        let offsets = self.take(count.checked_mul(4)?)?.as_chunks::<4>().0;
        let offsets: Vec<usize> = (offsets.iter())
            .map(|offset| usize::try_from(u32::from_le_bytes(*offset)).ok())
            .collect::<Option<_>>()?;
        let data = self.bytes.get(self.at..)?;
        let ends = offsets.iter().skip(1).copied().chain([data.len()]);
        offsets
            .iter()
            .zip(ends)
            .map(|(&from, to)| data.get(from..to))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn section(id: u8, data: &[u8], file: &mut Vec<u8>) {
        file.extend([id | ALIGNED, u8::try_from(data.len()).unwrap(), 8]);
        file.resize(file.len().next_multiple_of(8), 0xcb);
        file.extend(data);
    }

    fn table(items: &[&[u8]], data: &mut Vec<u8>) {
        data.push(u8::try_from(items.len()).unwrap());
        data.resize(data.len().next_multiple_of(4), 0xcb);
        let mut offset = 0_u32;
        for item in items {
            data.extend(offset.to_le_bytes());
            offset += u32::try_from(item.len()).unwrap();
        }
        items.iter().for_each(|item| data.extend(*item));
    }

    /// Two operations: one in a helper on `line`, called on line 9, and one without a place.
    fn bytecode(code: &[u8], line: u8) -> Vec<u8> {
        with_names(code, line, b"/a/k.py", b"k")
    }

    fn with_names(code: &[u8], line: u8, path: &[u8], name: &[u8]) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend([13, 4, 0, 0]);
        section(2, code, &mut file);
        let mut debug = vec![1, 0xcb, 0xcb, 0xcb, 0, 0, 0, 0, 2];
        debug.resize(16, 0xcb);
        debug.extend(3_u64.to_le_bytes());
        debug.extend(0_u64.to_le_bytes());
        let function = [5, 4, line, 0, 2, 4, line];
        let attributes: [&[u8]; 4] = [&[4, 1, 1, line, 4], &[4, 1, 1, 9, 0], &[6, 1, 2], &function];
        table(&attributes, &mut debug);
        section(DEBUG, &debug, &mut file);
        let mut strings = Vec::new();
        let linkage = format!("row@k:{line}:1");
        table(&[name, path, linkage.as_bytes()], &mut strings);
        section(STRINGS, &strings, &mut file);
        file.push(0);
        file
    }

    #[test]
    fn places_come_in_order_with_their_callers() {
        let places = places(&bytecode(b"code", 5));
        let shown: Vec<String> = (places.iter())
            .map(|site| format!("{}:{}:{}", site.file, site.line, site.column))
            .collect();
        assert_eq!(shown, ["/a/k.py:5:4", "/a/k.py:9:0"]);
    }

    #[test]
    fn lines_do_not_count_and_code_does() {
        let before = program_hash(&bytecode(b"code", 5));
        assert_eq!(program_hash(&bytecode(b"code", 6)), before);
        assert_eq!(
            program_hash(&with_names(b"code", 5, b"/b/other.py", b"k")),
            before
        );
        assert_ne!(
            program_hash(&with_names(b"code", 5, b"/a/k.py", b"m")),
            before
        );
        assert_ne!(program_hash(&bytecode(b"cope", 5)), before);
        assert_ne!(program_hash(b"no bytecode"), program_hash(b"none either"));
        assert_eq!(super::places(b"no bytecode"), []);
    }

    proptest! {
        #[test]
        fn no_damage_makes_it_panic(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut file = bytecode(b"code", 5);
            for (place, value) in changes {
                let place = place.index(file.len());
                file[place] = value;
            }
            let _ = (places(&file), program_hash(&file));
            file.truncate(cut.index(file.len()));
            let _ = (places(&file), program_hash(&file));
        }
    }
}
