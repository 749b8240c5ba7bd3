//! What compiling whole spaces showed, kept beside the compiled kernels: the playbook leaves out of a space
//! what is the same program twice.
//!
//! Compiling a space takes seconds to minutes, so it is done when asked for (`tileperf compile --space`)
//! and remembered. A record counts as long as every file that was compiled is what it was, and so is what
//! it was compiled with: another compiler may make one program of two, or refuse what this one takes.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use tileperf_analysis::compiled::{CompiledFacts, Outcome};
use tileperf_analysis::digest::sha256;
use tileperf_analysis::eval::Known;
use tileperf_analysis::playbook::{Code, Compiled};
use tileperf_analysis::signature::Constant;

use super::space::{SpaceBegun, SpaceRow};
use super::subject::Subject;
use super::toolchain::CompilerVersions;
use crate::DocId;
use crate::engine::Shared;
use crate::runs::hash_of_text;
use crate::stamped::{Stamp, Stamped};

/// No record is larger, in bytes.
const LARGEST: u64 = 4 << 20;

/// The records as they were read last.
pub(super) type Spaces = Stamped<PathBuf, Arc<[Remembered]>>;

/// A space of a record.
#[derive(Debug)]
pub(super) struct Remembered {
    of: Of,
    compiled: Compiled,
}

/// What was compiled, and with what.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Of {
    compiler: CompilerVersions,
    /// Hashes of the files.
    files: Vec<(PathBuf, String)>,
}

/// The spaces of a kernel.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    spaces: Vec<Space>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Space {
    arch: String,
    signature: String,
    of: Of,
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
    pub(super) fn keep_space(
        &self,
        subject: &Subject,
        begun: &SpaceBegun,
        rows: &[SpaceRow],
        compiler: CompilerVersions,
    ) {
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
            let hash = hash_of_text(&path, source.text.as_str());
            Some((path, hash))
        });
        let Some(files) = files.collect::<Option<Vec<_>>>() else {
            return;
        };
        let space = Space {
            arch: begun.arch.to_string(),
            signature,
            of: Of { compiler, files },
            configs: rows.iter().filter_map(one).collect(),
        };
        let mut record = read(&path).unwrap_or_default();
        let again = |known: &Space| {
            let own = (&space.arch, &space.signature);
            (&known.arch, &known.signature) == own || known.of != space.of
        };
        record.spaces.retain(|known| !again(known));
        record.spaces.push(space);
        if let Err(error) = write(&path, &record) {
            tracing::warn!("{}: {error}", path.display());
        }
    }

    /// What is known of a kernel's space as it is now.
    pub(crate) fn compiled_spaces(&self, doc: &DocId, kernel: &str) -> Vec<Compiled> {
        let record = self.space_record(doc, kernel);
        let Some(record) = record.and_then(|path| Stamp::of(&path).ok()) else {
            return Vec::new();
        };
        let path = record.path.clone();
        let known = (self.compiled.spaces).get(path.clone(), vec![record], |_| {
            let spaces = read(&path).unwrap_or_default().spaces.into_iter();
            spaces.filter_map(Space::remembered).collect()
        });
        let compiler = self.installed_versions();
        let is_now = |(path, then): &(PathBuf, String)| {
            let now = self.hash_now(path);
            now.is_some_and(|now| *now == **then)
        };
        let now = known.iter().filter(|space| {
            compiler.as_ref() == Some(&space.of.compiler) && space.of.files.iter().all(is_now)
        });
        now.map(|space| space.compiled.clone()).collect()
    }

    /// Where the record of a kernel is kept.
    fn space_record(&self, doc: &DocId, kernel: &str) -> Option<PathBuf> {
        let cache = self.compiled.cache.read().clone()?;
        let path = doc.path()?;
        let name = sha256(format!("{}\0{kernel}", path.display()));
        Some(cache.join("spaces").join(format!("{}.json", &name[..24])))
    }
}

impl Space {
    fn remembered(self) -> Option<Remembered> {
        Some(Remembered {
            of: self.of,
            compiled: Compiled {
                arch: self.arch.parse().ok()?,
                signature: self.signature,
                configs: self.configs.into_iter().map(One::known).collect(),
            },
        })
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

#[cfg(test)]
mod tests {
    use std::fs;

    use tileperf_compiler::environment::{Compiler, Environment, Origin, Package};
    use tileperf_syntax::Encoding;

    use super::*;
    use crate::{Change, Engine};

    const RELEASE: &str = "Cuda compilation tools, release 13.4, V13.4.92\n";

    /// An engine whose kernels would be compiled with this cuda-tile and a tileiras of `folder`.
    fn with(engine: &Engine, folder: &Path, cuda_tile: &str) {
        let environment = Environment {
            python: folder.join("python"),
            origin: "a test".to_owned(),
            cuda_tile: Some(Package {
                name: "cuda-tile".to_owned(),
                version: cuda_tile.to_owned(),
                folder: folder.to_owned(),
            }),
            tools: Vec::new(),
            compiler: Some(Compiler::at(folder.join("tileiras"), Origin::Path)),
            can_make_environments: None,
        };
        engine.shared.compiled.installed.is(environment);
    }

    fn space(compiler: &CompilerVersions, file: &Path) -> Space {
        let text = fs::read_to_string(file).unwrap();
        Space {
            arch: "sm_90".to_owned(),
            signature: "x: float32[1]".to_owned(),
            of: Of {
                compiler: compiler.clone(),
                files: vec![(file.to_owned(), hash_of_text(file, &text))],
            },
            configs: vec![One {
                fields: vec![("tile".into(), Value::Int(48))],
                code: None,
            }],
        }
    }

    #[test]
    fn a_record_counts_while_code_and_compiler_are_what_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let (file, tileiras) = (folder.path().join("a.py"), folder.path().join("tileiras"));
        // With the mark that an editor leaves out of the text.
        fs::write(&file, "\u{feff}x = 1\n").unwrap();
        fs::write(&tileiras, RELEASE).unwrap();
        let engine = Engine::new();
        engine.keep_compiled_in(folder.path().join("cache"));
        let doc = DocId::file(&file);
        let known = || engine.shared.compiled_spaces(&doc, "k").len();
        with(&engine, folder.path(), "1.6.0");
        assert_eq!(known(), 0);
        let compiler = engine.shared.installed_versions().unwrap();
        assert_eq!(compiler.tileiras, "13.4.92");
        let spaces = vec![space(&compiler, &file)];
        let path = engine.shared.space_record(&doc, "k").unwrap();
        write(&path, &Record { spaces }).unwrap();
        assert_eq!(known(), 1);

        // Another cuda-tile, another tileiras in the same place, none.
        with(&engine, folder.path(), "1.7.0");
        assert_eq!(known(), 0);
        with(&engine, folder.path(), "1.6.0");
        fs::write(&tileiras, RELEASE.replace("13.4", "13.5")).unwrap();
        assert_eq!(known(), 0);
        fs::remove_file(&tileiras).unwrap();
        assert_eq!(known(), 0);
        fs::write(&tileiras, RELEASE).unwrap();
        assert_eq!(known(), 1);

        // An edit that is not saved, one that is, and back.
        engine.open(doc.clone(), 1, "x = 1\n".to_owned());
        assert_eq!(known(), 1);
        let change = |text: &str| {
            let change = Change {
                range: None,
                text: text.to_owned(),
            };
            let changed = engine.change(&doc, 2, vec![change], Encoding::Utf8);
            changed.unwrap();
        };
        change("x = 2\n");
        assert_eq!(known(), 0);
        change("x = 1\n");
        assert_eq!(known(), 1);
        engine.close(&doc);
        fs::write(&file, "x = 2\n").unwrap();
        assert_eq!(known(), 0);

        // A record of before, which does not say what it was compiled with.
        fs::write(&file, "\u{feff}x = 1\n").unwrap();
        assert_eq!(known(), 1);
        let text = fs::read_to_string(&path).unwrap();
        let mut old: serde_json::Value = serde_json::from_str(&text).unwrap();
        let of = old["spaces"][0]["of"].take();
        old["spaces"][0]["files"] = of["files"].clone();
        fs::write(&path, old.to_string()).unwrap();
        assert_eq!(known(), 0);
    }
}
