//! Whether other files may mean something of a file by its name.
//!
//! Launches, searches and remade kernels are linked across files. A kernel can be used in other ways:
//! handed to a function, kept in a table, imported and launched under a name that nobody follows. So
//! texts are searched, and in doubt the answer is yes.

use tileperf_syntax::Text;

use crate::DocId;
use crate::engine::Shared;
use crate::words::{has_word, module_word};

impl Shared {
    /// Whether a file other than `doc` and `but` may mean something of `doc` by `name`: it has the word,
    /// and the module's name, a `from ... import` of that word or an import of everything. Looks at the
    /// files that mention cuTile; nothing while they are still being read.
    pub(super) fn is_named_elsewhere(&self, doc: &DocId, name: &str, but: &[&DocId]) -> bool {
        let module = module_word(doc);
        let files = self.relevant_files();
        let mut others = files
            .iter()
            .filter(|file| file.doc != *doc && !but.contains(&&file.doc));
        others.any(|file| may_mean(&file.text, name, module.as_deref()))
    }
}

/// Whether a text may mean by a word something of another module.
fn may_mean(text: &Text, name: &str, module: Option<&str>) -> bool {
    let text = text.as_str();
    if !has_word(text, name) {
        return false;
    }
    // Without a name of its own nothing tells that it is not imported.
    let Some(module) = module else {
        return true;
    };
    has_word(text, module) || text.contains("import *") || imports(text, name)
}

/// Whether a `from ... import` names a word: on its line, or within its brackets.
fn imports(text: &str, name: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find("import") {
        rest = &rest[at + "import".len()..];
        let line = rest.split('\n').next().unwrap_or("");
        let listed = match line.trim_start().starts_with('(') {
            true => rest.split(')').next().unwrap_or(""),
            // A backslash goes on.
            false if line.trim_end().ends_with('\\') => rest,
            false => line,
        };
        if has_word(listed, name) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_may_be_of_another_module() {
        for (text, may) in [
            ("from kernels import scale\n", true),
            ("from .. import kernels\nkernels.scale\n", true),
            ("importlib.import_module('kernels').scale\n", true),
            ("from pkg import (\n    other,\n    scale as s,\n)\n", true),
            ("from pkg import other, \\\n    scale\n", true),
            ("from pkg import *\nscale(1)\n", true),
            ("KNOWN = {'kernels': ['scale']}\n", true),
            ("# see scale in kernels\n", true),
            // A name of its own, or another word.
            ("def scale(x):\n    return x\n", false),
            ("from kernels import scaled\nrescale = 1\n", false),
            ("import kernels\nkernels.other()\n", false),
            ("import math\nscale = 2\n", false),
            ("", false),
        ] {
            let given = Text::new(text);
            assert_eq!(may_mean(&given, "scale", Some("kernels")), may, "{text}");
        }
        assert!(may_mean(&Text::new("scale = 1"), "scale", None));
    }
}
