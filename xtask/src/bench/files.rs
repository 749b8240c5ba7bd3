//! What the servers are measured on: a real file of kernels, the same eight times over, and the
//! package that it comes from.
//!
//! Nothing of it is part of the repository; it is fetched from PyPI like the oracle's corpora.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::repo::Repo;

/// Copies of the small file in the large one.
const COPIES: usize = 8;

/// A Python file without cuTile, in which the server is to cost next to nothing.
const PLAIN: &str = "\"\"\"A file that has nothing to do with kernels.\"\"\"\n\n\n\
    def add(left: int, right: int) -> int:\n    return left + right\n";

/// A file alone in its folder, which is the workspace it is opened in.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) folder: PathBuf,
    pub(super) path: PathBuf,
    pub(super) text: String,
}

impl Sample {
    fn write(folder: PathBuf, text: String) -> anyhow::Result<Self> {
        std::fs::create_dir_all(&folder)?;
        let path = folder.join("attention.py");
        std::fs::write(&path, &text).with_context(|| format!("writing {}", path.display()))?;
        Ok(Self { folder, path, text })
    }

    pub(super) fn lines(&self) -> usize {
        self.text.lines().count()
    }

    pub(super) fn uri(&self) -> String {
        format!("file://{}", self.path.display())
    }
}

/// Everything to measure on.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) small: Sample,
    pub(super) large: Sample,
    pub(super) plain: Sample,
    /// A package of kernels, with one of its files to open.
    pub(super) package: Sample,
    /// Python files in the package.
    pub(super) package_files: usize,
}

/// Fetches and writes the files.
///
/// # Errors
/// The package cannot be fetched or has changed beyond recognition.
pub(super) fn prepare(repo: &Repo) -> anyhow::Result<Files> {
    let corpora = repo.cache.join("corpora");
    repo.tool("python3")
        .arg("tests/oracle/fetch_corpora.py")
        .arg(&corpora)
        .downloads()
        .read()?;
    let folder = corpora.join("tilegym");
    let path = folder.join("tilegym/ops/cutile/attention.py");
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let samples = repo.cache.join("bench/files");
    Ok(Files {
        small: Sample::write(samples.join("small"), text.clone())?,
        large: Sample::write(samples.join("large"), repeated(&text, COPIES))?,
        plain: Sample::write(samples.join("plain"), PLAIN.to_owned())?,
        package_files: python_files(&folder)?,
        package: Sample { folder, path, text },
    })
}

fn python_files(folder: &Path) -> anyhow::Result<usize> {
    let mut count = 0;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            count += python_files(&path)?;
        } else {
            count += usize::from(path.extension().is_some_and(|e| e == "py"));
        }
    }
    Ok(count)
}

/// A text whose definitions occur `copies` times under different names: the imports at its head
/// once, what follows again and again with every name that it binds numbered.
fn repeated(text: &str, copies: usize) -> String {
    let head = text
        .split_inclusive('\n')
        .take_while(|line| !line.starts_with(['@', '_']) && bound(line).is_none())
        .map(str::len)
        .sum();
    let (head, body) = text.split_at(head);
    let names: BTreeSet<&str> = body.lines().filter_map(bound).collect();
    let mut out = format!("{head}{body}");
    for copy in 1..copies {
        out.push_str("\n\n");
        out.push_str(&renamed(body, &names, copy));
    }
    out
}

/// The name that a line without indentation defines or assigns.
fn bound(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("def ")
        .or_else(|| line.strip_prefix("class "));
    let text = rest.unwrap_or(line);
    let end = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    let (name, after) = text.split_at(end);
    let assigned = after.starts_with(" = ") || after.starts_with(": ");
    (!name.is_empty() && (rest.is_some() || assigned)).then_some(name)
}

fn renamed(text: &str, names: &BTreeSet<&str>, copy: usize) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for part in text.split_inclusive(|c: char| !is_word(c)) {
        let word = part.trim_end_matches(|c: char| !is_word(c));
        out.push_str(word);
        if names.contains(word) {
            let _ = write!(out, "_{copy}");
        }
        out.push_str(&part[word.len()..]);
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_bind_names_of_their_own() {
        let text = "import m\n\n_cache: dict = {}\n\ndef f(x):\n    return _cache, x.f, f2\n";
        assert_eq!(
            repeated(text, 2),
            format!(
                "{text}\n\n_cache_1: dict = {{}}\n\ndef f_1(x):\n    return _cache_1, x.f_1, f2\n"
            ),
        );
    }
}
