//! Names in texts of files that nobody follows: in doubt, a word that stands by itself is one.

use crate::DocId;

/// The last word of the name by which a file is imported: of a package, that of its folder.
pub(crate) fn module_word(doc: &DocId) -> Option<String> {
    let path = doc.path()?;
    let stem = path.file_stem()?.to_str()?;
    let name = match stem {
        "__init__" => path.parent()?.file_name()?.to_str()?,
        stem => stem,
    };
    Some(name.to_owned())
}

/// Whether a text has a name that stands by itself.
pub(crate) fn has_word(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_by_itself() {
        for (text, found) in [
            ("row(x)", true),
            ("a.row", true),
            ("'row'", true),
            ("rows", false),
            ("a_row", false),
            ("érow", false),
            ("rows row", true),
            ("", false),
        ] {
            assert_eq!(has_word(text, "row"), found, "{text}");
        }
    }
}
