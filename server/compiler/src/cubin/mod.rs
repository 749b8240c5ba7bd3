//! What a kernel takes of the machine, read from the compiled file itself: no GPU, no other tool.
//!
//! A cubin is an ELF file of machine 190. NVIDIA documents neither its attributes nor where they
//! stand; what is used here was found by comparison with `cuobjdump -res-usage`
//! (docs/evidence/resources.md). The bytes may come from a user's cache or a half-written file, so
//! everything is checked: any input gives facts or an [`Error`].

mod attributes;
mod elf;
mod hints;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use attributes::Attribute;
use elf::{Elf, Section};
pub use hints::Hint;
pub use tileperf_analysis::compiled::Resources;
use tileperf_analysis::digest::hex;

/// A compiled file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cubin {
    /// The number after `sm_` that it was compiled for, known to cuTile or not.
    pub sm: u32,
    /// Its entry points, in the order of the symbol table. Never empty.
    pub kernels: Vec<Kernel>,
}

/// One entry point of a cubin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// The mangled name, see [`crate::symbol`].
    pub symbol: String,
    /// What it takes.
    pub resources: Resources,
    /// Equal for two kernels of one architecture exactly if machine code, constants, the code that
    /// makes tensor maps, and resources are equal. Names and lines do not count. 32 hex digits.
    pub code_hash: String,
    /// Bytes of machine code.
    pub code_bytes: u64,
    /// The hints that the kernel was compiled with, if the file says (`--lineinfo`).
    pub hints: Vec<Hint>,
}

/// Why bytes are not a cubin that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Something else, or for another machine.
    #[error("this is no cubin: {0}")]
    NotACubin(String),
    /// Cut short or overwritten.
    #[error("the cubin is damaged: {0}")]
    Damaged(String),
    /// Larger than any real one.
    #[error("the cubin is too large to be one: {0}")]
    TooLarge(String),
    /// A cubin without an entry point.
    #[error("the cubin has no kernel")]
    NoKernel,
}

/// Reads a cubin.
///
/// # Errors
/// The bytes are not a whole cubin with a kernel.
pub fn read(bytes: &[u8]) -> Result<Cubin, Error> {
    let elf = Elf::parse(bytes)?;
    let per_symbol = attributes::per_symbol(&elf)?;
    let texts: Vec<&str> = tile_ir_sections(&elf).collect();
    let mut kernels = Vec::new();
    for (index, symbol) in elf.entry_points() {
        let name = symbol.name;
        let code = elf.section(&format!(".text.{name}"));
        let code = code.ok_or_else(|| Error::Damaged(format!("no code for {name}")))?;
        let own = elf.section(&format!(".nv.info.{name}"));
        let own = attributes::all(own.map_or(&[], |section| section.data))?;
        let of_symbol = |attribute| per_symbol.get(&(attribute, index)).copied();
        let registers = of_symbol(Attribute::REGISTERS);
        let resources = Resources {
            registers: registers
                .ok_or_else(|| Error::Damaged(format!("no register count for {name}")))?,
            stack: of_symbol(Attribute::FRAME_SIZE).unwrap_or(0),
            shared: shared(&elf, name)?,
            threads: attributes::product(&own, Attribute::REQUIRED_THREADS)?,
            cluster: attributes::product(&own, Attribute::CLUSTER)?.unwrap_or(1),
        };
        kernels.push(Kernel {
            symbol: name.to_owned(),
            resources,
            code_hash: code_hash(&elf, name, code, &resources),
            code_bytes: code.data.len() as u64,
            hints: hints::of_entry(&texts, name),
        });
    }
    if kernels.is_empty() {
        return Err(Error::NoKernel);
    }
    Ok(Cubin {
        sm: elf.sm,
        kernels,
    })
}

/// The TileIR texts that a cubin compiled with `--lineinfo` carries, one after the other.
///
/// # Errors
/// The bytes are not a whole cubin.
pub fn tile_ir(bytes: &[u8]) -> Result<Option<String>, Error> {
    let elf = Elf::parse(bytes)?;
    let texts: Vec<&str> = tile_ir_sections(&elf).collect();
    Ok((!texts.is_empty()).then(|| texts.join("\n")))
}

fn tile_ir_sections<'a>(elf: &'a Elf<'a>) -> impl Iterator<Item = &'a str> {
    elf.sections_named(".nv.tileir.debug_txt")
        .filter_map(|section| {
            // Padding, and whatever follows a text, is not part of it.
            let text = section.data.split(|&byte| byte == 0).next()?;
            std::str::from_utf8(text).ok()
        })
}

fn shared(elf: &Elf<'_>, kernel: &str) -> Result<u32, Error> {
    let section = elf.section(&format!(".nv.shared.{kernel}"));
    let size = section.map_or(0, |section| section.size);
    u32::try_from(size).map_err(|_| Error::Damaged(format!("{size} bytes of shared memory")))
}

fn code_hash(elf: &Elf<'_>, kernel: &str, code: &Section<'_>, resources: &Resources) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(code.data);
    // Bank 0 is the parameters, which a launch fills; the other banks are the program's constants.
    for section in elf.sections_named(".nv.constant") {
        let bank = section.name.trim_start_matches(".nv.constant");
        let (bank, of) = bank.split_once('.').unwrap_or((bank, kernel));
        if bank != "0" && of == kernel {
            part(bank.as_bytes());
            part(section.data);
        }
    }
    // What the driver runs to make the tensor maps: a box of another shape can leave `.text` as is.
    for section in elf.sections_named(".nv.host") {
        part(section.data);
    }
    for number in [
        resources.registers,
        resources.stack,
        resources.shared,
        resources.threads.unwrap_or(0),
        resources.cluster,
    ] {
        part(&number.to_le_bytes());
    }
    hex(&hash.finalize()[..16])
}
