//! What compiling whole spaces showed, kept beside the compiled kernels: the playbook leaves out of a space
//! what is the same program twice.
//!
//! Compiling a space takes seconds to minutes, so it is done when asked for (`tileperf compile --space`)
//! and remembered. A record counts as long as every file that was compiled is what it was.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::{CompiledFacts, Outcome};
use tileperf_analysis::digest::sha256;
use tileperf_analysis::eval::Known;
use tileperf_analysis::playbook::{Code, Compiled};
use tileperf_analysis::signature::Constant;

use super::space::{SpaceBegun, SpaceRow};
use super::subject::Subject;
use crate::DocId;
use crate::engine::Shared;

/// No record is larger, in bytes.
const LARGEST: u64 = 4 << 20;

/// The spaces of a kernel.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    spaces: Vec<Space>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Space {
    arch: String,
    signature: String,
    /// Hashes of the files that were compiled.
    files: Vec<(PathBuf, String)>,
    configs: Vec<One>,
}

#[derive(Debug, Serialize, Deserialize)]
struct One {
    fields: Vec<(SmolStr, Value)>,
    /// Nothing if the compiler refuses it.
    code: Option<String>,
}

/// A field's value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
}

impl Shared {
    /// Remembers what became of a space. What cannot be written is only not known later.
    pub(super) fn keep_space(&self, subject: &Subject, begun: &SpaceBegun, rows: &[SpaceRow]) {
        let Some(path) = self.space_record(&subject.key.doc, &subject.key.qualified) else {
            return;
        };
        let Some(signature) = rows.iter().find_map(|row| {
            let signature = row.facts.machine().map(|_| &row.facts.signature);
            signature.map(|signature| signature.shown())
        }) else {
            return;
        };
        let files = subject.sources.iter().map(|source| {
            let path = source.doc.path()?;
            Some((path.to_owned(), sha256(source.text.as_str())))
        });
        let Some(files) = files.collect::<Option<Vec<_>>>() else {
            return;
        };
        let space = Space {
            arch: begun.arch.to_string(),
            signature,
            files,
            configs: rows.iter().filter_map(one).collect(),
        };
        let mut record = read(&path).unwrap_or_default();
        let again = |known: &Space| {
            let own = (&space.arch, &space.signature);
            (&known.arch, &known.signature) == own || known.files != space.files
        };
        record.spaces.retain(|known| !again(known));
        record.spaces.push(space);
        if let Err(error) = write(&path, &record) {
            tracing::warn!("{}: {error}", path.display());
        }
    }

    /// What is known of a kernel's space as it is now.
    pub(crate) fn compiled_spaces(&self, doc: &DocId, kernel: &str) -> Vec<Compiled> {
        let record = self.space_record(doc, kernel).and_then(|path| read(&path));
        let spaces = record.unwrap_or_default().spaces.into_iter();
        let is_now = |(path, then): &(PathBuf, String)| {
            let file = self.file(&DocId::file(path));
            file.is_some_and(|file| sha256(file.text.as_str()) == *then)
        };
        spaces
            .filter(|space| space.files.iter().all(is_now))
            .filter_map(|space| {
                Some(Compiled {
                    arch: space.arch.parse::<Arch>().ok()?,
                    signature: space.signature,
                    configs: space.configs.into_iter().map(One::known).collect(),
                })
            })
            .collect()
    }

    /// Where the record of a kernel is kept.
    fn space_record(&self, doc: &DocId, kernel: &str) -> Option<PathBuf> {
        let cache = self.compiled.cache.read().clone()?;
        let path = doc.path()?;
        let name = sha256(format!("{}\0{kernel}", path.display()));
        Some(cache.join("spaces").join(format!("{}.json", &name[..24])))
    }
}

impl One {
    fn known(self) -> (Vec<(SmolStr, Known)>, Code) {
        let fields = self.fields.into_iter().map(|(name, value)| {
            let value = match value {
                Value::None => Known::None,
                Value::Bool(value) => Known::Bool(value),
                Value::Int(value) => Known::Int(value),
                Value::Float(value) => Known::Float(value.to_bits()),
            };
            (name, value)
        });
        let code = self.code.map_or(Code::Refused, Code::Machine);
        (fields.collect(), code)
    }
}

fn one(row: &SpaceRow) -> Option<One> {
    let fields = row.config.iter().map(|(name, value)| {
        let value = match value {
            Constant::None => Value::None,
            Constant::Bool(value) => Value::Bool(*value),
            Constant::Int(value) => Value::Int(*value),
            Constant::Float(value) => Value::Float(*value),
        };
        (SmolStr::new(name), value)
    });
    Some(One {
        fields: fields.collect(),
        code: code(&row.facts)?,
    })
}

/// What tells programs apart; nothing within if the compiler refuses it, nothing at all if it could not be
/// asked.
#[allow(clippy::option_option)]
fn code(facts: &CompiledFacts) -> Option<Option<String>> {
    match &facts.outcome {
        Outcome::Machine(machine) => {
            let cluster = machine.resources.cluster;
            Some(Some(format!("{} {cluster}", machine.code_hash)))
        }
        Outcome::Refused(_) => Some(None),
        Outcome::Accepted | Outcome::Failed(_) => None,
    }
}

fn read(path: &Path) -> Option<Record> {
    let is_small = path.metadata().is_ok_and(|m| m.len() <= LARGEST);
    let text = is_small.then(|| std::fs::read(path))?.ok()?;
    serde_json::from_slice(&text).ok()
}

fn write(path: &Path, record: &Record) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec(record)?)?;
    file.persist(path)?;
    Ok(())
}
