//! The sections and symbols of a cubin, within bounds.

use std::collections::HashMap;

use object::LittleEndian;
use object::elf::{EM_CUDA, FileHeader64, SHT_NOBITS, SHT_SYMTAB, STT_FUNC};
use object::read::elf::{FileHeader, SectionHeader, Sym};

use super::Error;

/// Marks a function that can be launched, in `st_other`.
const ENTRY: u8 = 0x10;
/// From this ABI version on the architecture stands in another byte of the flags.
const ABI_WITH_SHIFTED_ARCH: u8 = 8;
/// Real cubins have some thirty sections per kernel. A bound, so that a file which is made of
/// section headers with endless names does not keep the reader busy.
const MOST_SECTIONS: usize = 1 << 14;
const MOST_SYMBOLS: usize = 1 << 17;
const LONGEST_NAME: usize = 1 << 14;
const MOST_BYTES: usize = 1 << 29;

/// A parsed file.
pub(super) struct Elf<'a> {
    pub(super) sm: u32,
    sections: Vec<Section<'a>>,
    by_name: HashMap<&'a str, usize>,
    symbols: Vec<Symbol<'a>>,
}

pub(super) struct Section<'a> {
    pub(super) name: &'a str,
    /// Bytes in the file; none for memory that is only reserved.
    pub(super) data: &'a [u8],
    /// Bytes in memory.
    pub(super) size: u64,
}

pub(super) struct Symbol<'a> {
    pub(super) name: &'a str,
    is_entry: bool,
}

impl<'a> Elf<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        if bytes.len() > MOST_BYTES {
            return Err(Error::TooLarge(format!("{} bytes", bytes.len())));
        }
        let header = FileHeader64::<LittleEndian>::parse(bytes);
        let header = header.map_err(|error| Error::NotACubin(error.to_string()))?;
        let endian = header.endian();
        let endian = endian.map_err(|error| Error::NotACubin(error.to_string()))?;
        let machine = header.e_machine(endian);
        if machine != EM_CUDA {
            let what = format!("an ELF file for machine {}, not a GPU", machine.0);
            return Err(Error::NotACubin(what));
        }
        let table = header.sections(endian, bytes).map_err(damaged)?;
        within(table.len(), MOST_SECTIONS, "sections")?;
        let mut sections = Vec::with_capacity(table.len());
        let mut by_name = HashMap::new();
        for header in table.iter() {
            let name = text(table.section_name(endian, header).map_err(damaged)?)?;
            by_name.entry(name).or_insert(sections.len());
            sections.push(Section {
                name,
                data: match header.sh_type(endian) {
                    SHT_NOBITS => &[],
                    _ => header.data(endian, bytes).map_err(damaged)?,
                },
                size: header.sh_size(endian),
            });
        }
        let table = table.symbols(endian, bytes, SHT_SYMTAB).map_err(damaged)?;
        within(table.len(), MOST_SYMBOLS, "symbols")?;
        let mut symbols = Vec::with_capacity(table.len());
        for symbol in table.iter() {
            let name = symbol.name(endian, table.strings()).map_err(damaged)?;
            symbols.push(Symbol {
                name: text(name)?,
                is_entry: symbol.st_type() == STT_FUNC && symbol.st_other().0 & ENTRY != 0,
            });
        }
        let flags = header.e_flags(endian).0;
        let shift = match header.e_ident().abi_version >= ABI_WITH_SHIFTED_ARCH {
            true => 8,
            false => 0,
        };
        Ok(Self {
            sm: (flags >> shift) & 0xff,
            sections,
            by_name,
            symbols,
        })
    }

    /// The first section of this name.
    pub(super) fn section(&self, name: &str) -> Option<&Section<'a>> {
        self.sections.get(*self.by_name.get(name)?)
    }

    /// The sections whose names begin so.
    pub(super) fn sections_named(&self, start: &str) -> impl Iterator<Item = &Section<'a>> {
        (self.sections.iter()).filter(move |section| section.name.starts_with(start))
    }

    /// The kernels, with their numbers in the symbol table.
    pub(super) fn entry_points(&self) -> impl Iterator<Item = (u32, &Symbol<'a>)> {
        let numbered = (0..).zip(&self.symbols);
        numbered.filter(|(_, symbol)| symbol.is_entry)
    }
}

fn damaged(error: object::read::Error) -> Error {
    Error::Damaged(error.to_string())
}

fn within(count: usize, most: usize, what: &str) -> Result<(), Error> {
    if count > most {
        return Err(Error::TooLarge(format!("{count} {what}")));
    }
    Ok(())
}

fn text(name: &[u8]) -> Result<&str, Error> {
    within(name.len(), LONGEST_NAME, "bytes in a name")?;
    std::str::from_utf8(name).map_err(|_| Error::Damaged("a name that is no text".to_owned()))
}
