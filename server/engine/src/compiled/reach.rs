//! Which files may import something from others, told by names alone: what looks like an import is one,
//! so that none is missed.

use crate::words::{has_word, module_word};
use crate::{DocId, Engine};

/// The files that may import something from these, directly or by others, and these.
pub(super) fn reach(engines: &[&Engine], docs: &[DocId]) -> Vec<DocId> {
    let mut reach: Vec<DocId> = docs.to_vec();
    let mut names: Vec<String> = docs.iter().filter_map(module_word).collect();
    let mut rest: Vec<(DocId, Vec<String>)> = Vec::new();
    for engine in engines {
        for doc in engine.shared.all_docs() {
            if docs.contains(&doc) || rest.iter().any(|(known, _)| *known == doc) {
                continue;
            }
            let texts = engines.iter().map(|engine| raw(engine, &doc));
            rest.push((doc.clone(), texts.collect()));
        }
    }
    loop {
        let is_user = |texts: &[String]| {
            let mut texts = texts.iter();
            texts.any(|text| names.iter().any(|name| has_word(text, name)))
        };
        let (users, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(_, t)| is_user(t));
        rest = others;
        if users.is_empty() {
            reach.sort();
            return reach;
        }
        for (doc, _) in users {
            names.extend(module_word(&doc).filter(|name| !names.contains(name)));
            reach.push(doc);
        }
    }
}

/// A file's text, open or on disk; nothing is parsed for it.
fn raw(engine: &Engine, doc: &DocId) -> String {
    if let Some((_, text)) = engine.text(doc) {
        return text.as_str().to_owned();
    }
    let bytes = doc.path().and_then(|path| std::fs::read(path).ok());
    bytes.map_or_else(String::new, |bytes| {
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
