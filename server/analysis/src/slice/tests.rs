//! Slices of workspaces written as text.

mod texts;

use std::collections::HashMap;

use smol_str::SmolStr;
use tileperf_syntax::ParsedFile;

use super::{Slice, Source, Unsliceable, Workspace, slice};
use crate::eval::{Env, EnvItem, ModuleId};
use crate::model::{FileModel, ModelCache};

/// A workspace in a string: modules begin with a line `#- dotted.name`, `#- name/` for the
/// `__init__` of a package; text before the first such line is the module `pkg.main`.
pub(crate) struct Written {
    files: Vec<(String, String, String, ParsedFile)>,
    by_name: HashMap<String, u32>,
}

impl Written {
    pub(crate) fn new(text: &str) -> Self {
        let mut out = Self {
            files: Vec::new(),
            by_name: HashMap::new(),
        };
        let mut name = "pkg.main".to_owned();
        let mut body = String::new();
        for line in text.lines().chain(["#- end"]) {
            if let Some(next) = line.trim().strip_prefix("#- ") {
                out.add(&std::mem::replace(&mut name, next.to_owned()), &body);
                body.clear();
            } else {
                body.push_str(line);
                body.push('\n');
            }
        }
        out
    }

    fn add(&mut self, name: &str, text: &str) {
        let package = name.strip_suffix('/');
        let name = package.unwrap_or(name);
        let folder = name.replace('.', "/");
        let path = match package {
            Some(_) => format!("/w/{folder}/__init__.py"),
            None => format!("/w/{folder}.py"),
        };
        self.by_name
            .insert(name.to_owned(), self.files.len() as u32);
        let parsed = tileperf_syntax::parse(text);
        self.files
            .push((name.to_owned(), path, text.to_owned(), parsed));
    }

    pub(crate) fn model(&self) -> FileModel {
        let (_, _, text, file) = &self.files[0];
        FileModel::build(file, text, "", &mut ModelCache::default())
    }

    /// The slice of the kernel of the first module with that name, the last one if several have it.
    fn slice(&self, kernel: &str) -> Result<Slice, Unsliceable> {
        let model = self.model();
        let found = model.kernels.iter().rfind(|k| k.qualified == kernel);
        let found = found.unwrap_or_else(|| panic!("no kernel {kernel}"));
        slice(self, ModuleId(0), found)
    }
}

impl Env for Written {
    fn items(&self, module: ModuleId) -> Vec<EnvItem<'_>> {
        let items = self.files[module.0 as usize].3.items.iter().enumerate();
        items
            .map(|(i, item)| EnvItem {
                item: i as u32,
                body: &item.facts.body,
            })
            .collect()
    }

    fn import(&self, from: ModuleId, level: u32, dotted: &str) -> Option<ModuleId> {
        let (name, path, ..) = &self.files[from.0 as usize];
        let mut parts: Vec<&str> = Vec::new();
        if level > 0 {
            parts = name.split('.').collect();
            let gone = level as usize - usize::from(path.ends_with("__init__.py"));
            parts.truncate(parts.len().saturating_sub(gone));
        }
        parts.extend(dotted.split('.').filter(|p| !p.is_empty()));
        self.by_name.get(&parts.join(".")).map(|&id| ModuleId(id))
    }
}

impl Workspace for Written {
    fn source(&self, module: ModuleId) -> Option<Source<'_>> {
        let (name, path, text, file) = self.files.get(module.0 as usize)?;
        Some(Source {
            name: SmolStr::from(name.as_str()),
            path: SmolStr::from(path.as_str()),
            text,
            file,
        })
    }
}

/// The lines of a slice that have something, module by module.
fn shown(slice: &Slice) -> String {
    let mut out = String::new();
    for (number, module) in slice.modules.iter().enumerate() {
        if number > 0 {
            out.push_str(&format!("#- {}\n", module.name));
        }
        for line in module.text.lines().filter(|l| !l.trim().is_empty()) {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    out
}

/// What is kept stands where it stood, byte for byte; only placeholders are new.
fn assert_in_place(workspace: &Written, slice: &Slice) {
    for module in &slice.modules {
        let file = workspace.files.iter().find(|f| f.1 == module.path);
        let original: Vec<&str> = file.unwrap().2.lines().collect();
        for (number, line) in module.text.lines().enumerate() {
            let differs: Vec<u8> = (line.bytes())
                .zip(original[number].bytes().chain(std::iter::repeat(b'\n')))
                .filter(|(now, was)| now != was && *now != b' ')
                .map(|(now, _)| now)
                .collect();
            let new = String::from_utf8_lossy(&differs).into_owned();
            assert!(
                new.bytes().all(|byte| b"if1:0,".contains(&byte)),
                "line {number} of {} has {new:?}:\n{line}",
                module.name
            );
        }
    }
}

/// Removes the indentation that a text has in these tests.
fn plain(text: &str) -> String {
    let lines = text.lines().skip_while(|l| l.trim().is_empty());
    let first = lines.clone().next().unwrap_or("");
    let indent = first.len() - first.trim_start().len();
    let cut = |line: &str| line.get(indent..).unwrap_or("").to_owned() + "\n";
    lines.map(cut).collect::<String>().trim_end().to_owned() + "\n"
}

#[test]
fn slices_have_what_kernels_need() {
    let mut wrong = String::new();
    for (title, text, kernel, expected) in texts::CASES {
        let workspace = Written::new(&plain(text));
        let slice = workspace
            .slice(kernel)
            .unwrap_or_else(|e| panic!("{title}: {e}"));
        let (found, expected) = (shown(&slice), plain(expected));
        if found != expected {
            wrong.push_str(&format!("{title}: expected\n{expected}found\n{found}\n"));
        }
        assert_in_place(&workspace, &slice);
        for module in &slice.modules {
            assert!(
                tileperf_syntax::parse(&module.text).is_clean(),
                "{title}: {} does not parse:\n{}",
                module.name,
                module.text
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_functions_around_would_have_given_is_captured() {
    for (title, text, expected) in texts::CAPTURED {
        let slice = Written::new(&plain(text)).slice("make.<locals>.k").unwrap();
        assert_eq!(slice.captured, *expected, "{title}");
    }
}

#[test]
fn slices_say_what_they_run() {
    for (line, expected) in texts::RUNS {
        let text = format!("{line}\n{}", plain(texts::USES_X));
        let slice = Written::new(&text).slice("k").unwrap();
        let said: Vec<&str> = slice.runs.iter().map(|r| r.what.as_str()).collect();
        assert_eq!(said, *expected, "{line}");
        assert_eq!(slice.is_plain(), expected.is_empty(), "{line}");
    }
}

#[test]
fn nothing_of_a_half_typed_line_is_kept() {
    let kernel = plain(texts::USES_X);
    for line in texts::HALF_TYPED {
        for text in [
            format!("import shutil, os\nX = 1\n{line}\n{kernel}"),
            format!("import shutil, os\nX = 1\n{kernel}{line}\n"),
            format!(
                "import shutil, os\nif os:\n    {line}\n    X = 1\nelse:\n    {line}\n{kernel}"
            ),
        ] {
            match Written::new(&text).slice("k") {
                Ok(slice) => {
                    let all = slice
                        .modules
                        .iter()
                        .map(|m| m.text.as_str())
                        .collect::<String>();
                    assert!(!all.contains("rmtree") && !all.contains("remove"), "{all}");
                }
                // The line swallows the kernel, or a part that it needs.
                Err(Unsliceable::Broken { .. }) => {}
                Err(other) => panic!("{other}: {text}"),
            }
        }
    }
}

#[test]
fn the_fingerprint_is_that_of_what_is_kept() {
    let kernel = plain(texts::USES_X);
    let print = |before: &str, kernel: &str| {
        let text = format!("{before}X = 1\n\n{kernel}");
        Written::new(&text).slice("k").unwrap().fingerprint
    };
    let first = print("", &kernel);
    assert_eq!(print("# more\n\nimport torch\nY = 2\n", &kernel), first);
    assert_ne!(print("", &kernel.replace("X", "X + 1")), first);
    assert_ne!(print("", &kernel.replace("def", "def ")), first);
    assert_ne!(print("X = 0\n", &kernel), first);
}

#[test]
fn a_kernel_that_does_not_parse_has_no_slice() {
    let text = "import cuda.tile as ct\n@ct.kernel\ndef k(x):\n    ct.load(x, (0,\n\nX = 1\n";
    let workspace = Written::new(text);
    let model = workspace.model();
    let found = model
        .kernels
        .first()
        .map(|k| slice(&workspace, ModuleId(0), k));
    assert!(
        matches!(
            found,
            None | Some(Err(Unsliceable::Broken { .. } | Unsliceable::Gone))
        ),
        "{found:?}"
    );
}
