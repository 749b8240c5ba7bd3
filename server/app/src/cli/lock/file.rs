//! The lock file: TOML, one table a kernel, signature and architecture, in a stable order, so that a
//! change of one is a change of its lines.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use tileperf_analysis::arch::Arch;
use tileperf_analysis::compiled::Footprint;
use tileperf_engine::CompilerVersions;

/// Of the layout.
const VERSION: u32 = 1;

const HEAD: &str = "\
# What the compiler makes of each kernel. Written by `tileperf lock write`, compared by
# `tileperf lock check`; not to be edited.

";

/// A lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Lock {
    version: u32,
    pub(super) cuda_tile: String,
    pub(super) tileiras: String,
    #[serde(default, rename = "kernel")]
    pub(super) kernels: Vec<Entry>,
}

/// A kernel, compiled for a signature and an architecture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Entry {
    /// From the project's folder.
    pub(super) file: String,
    /// The qualified name.
    pub(super) name: String,
    /// Which of the kernels of that name in the file.
    #[serde(default, skip_serializing_if = "is_first")]
    pub(super) ordinal: u32,
    pub(super) arch: Arch,
    /// For people.
    pub(super) signature: String,
    pub(super) origin: String,
    /// All of the signature, in cuTile's own form, where that has a form for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) symbol: Option<String>,
    #[serde(flatten)]
    pub(super) footprint: Footprint,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_first(ordinal: &u32) -> bool {
    *ordinal == 0
}

impl Entry {
    /// What says for which signature it is to be compiled.
    pub(super) fn asked(&self) -> &str {
        self.symbol.as_deref().unwrap_or(&self.signature)
    }
}

impl Lock {
    /// One with nothing in it.
    pub(super) fn new(compiler: CompilerVersions) -> Self {
        Self {
            version: VERSION,
            cuda_tile: compiler.cuda_tile,
            tileiras: compiler.tileiras,
            kernels: Vec::new(),
        }
    }

    /// Reads one. `None` if there is none.
    ///
    /// # Errors
    /// It cannot be read, or is no lock file of this version.
    pub(super) fn read(path: &Path) -> anyhow::Result<Option<Lock>> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            text => text.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let whole: toml::Table =
            toml::from_str(&text).with_context(|| format!("{} is damaged", path.display()))?;
        let version = whole.get("version").and_then(toml::Value::as_integer);
        if version != Some(i64::from(VERSION)) {
            bail!(
                "{} is of another version of tileperf: write it again",
                path.display()
            );
        }
        let lock = whole.try_into();
        Ok(Some(lock.with_context(|| {
            format!("{} is damaged", path.display())
        })?))
    }

    /// Writes it, in its order.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn write(&mut self, path: &Path) -> anyhow::Result<()> {
        let of = |entry: &Entry| {
            let what = (entry.file.clone(), entry.name.clone(), entry.ordinal);
            (what, entry.asked().to_owned(), entry.arch)
        };
        self.kernels.sort_by_cached_key(of);
        self.kernels.dedup_by_key(|entry| of(entry));
        let text = format!("{HEAD}{}", toml::to_string(self)?);
        // Half a file would be read as a whole one.
        let written = path.with_extension("lock.new");
        fs::write(&written, text)
            .and_then(|()| fs::rename(&written, path))
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn entry(file: &str, name: &str, arch: Arch) -> Entry {
        Entry {
            file: file.to_owned(),
            name: name.to_owned(),
            ordinal: 0,
            arch,
            signature: "x: float16[2], N: 64".to_owned(),
            origin: "literals".to_owned(),
            symbol: Some("k_Kt1_A2f16_I64".to_owned()),
            footprint: Footprint {
                registers: 64,
                stack: 0,
                shared: 1024,
                threads: Some(128),
                cluster: 1,
                ctas_per_sm: Some(8),
                tma: Some(2),
                plain: Some(0),
                fma: None,
                tensor_cores: BTreeMap::from([("SM90".to_owned(), 1)]),
            },
        }
    }

    fn versions() -> CompilerVersions {
        CompilerVersions {
            cuda_tile: "1.7.0".to_owned(),
            tileiras: "13.4".to_owned(),
        }
    }

    #[test]
    fn it_is_read_as_it_was_written_in_a_stable_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(super::super::FILE);
        assert_eq!(Lock::read(&path).unwrap(), None);
        let mut plain = entry("b.py", "k", Arch::Sm80);
        plain.symbol = None;
        plain.footprint.tensor_cores.clear();
        plain.footprint.threads = None;
        plain.ordinal = 1;
        let all = [
            entry("a.py", "k", Arch::Sm80),
            entry("a.py", "k", Arch::Sm90),
            entry("a.py", "l", Arch::Sm80),
            plain,
        ];
        let mut lock = Lock::new(versions());
        lock.kernels = all.iter().rev().cloned().collect();
        lock.write(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let read = Lock::read(&path).unwrap().unwrap();
        assert_eq!(read.kernels, all);
        lock.kernels.rotate_left(2);
        lock.write(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        for line in ["arch = \"sm_90\"", "ctas-per-sm = 8", "SM90 = 1"] {
            assert!(text.contains(line), "{text}");
        }
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_lock_file_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("l");
        for (text, expected) in [
            ("version = 1", "is damaged"),
            ("version = 2\ncuda-tile = \"\"", "of another version"),
            ("", "of another version"),
            ("version = [", "is damaged"),
            (
                "version = 1\ncuda-tile = \"\"\ntileiras = \"\"\n[[kernel]]\nfile = \"a.py\"\n",
                "is damaged",
            ),
        ] {
            fs::write(&path, text).unwrap();
            let said = Lock::read(&path).unwrap_err().to_string();
            assert!(said.contains(expected), "{text}: {said}");
        }
    }
}
