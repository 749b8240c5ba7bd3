//! From what was written to a checked [`Value`], or what is wrong with it.

mod kernels;

use std::collections::BTreeMap;

use tileperf_analysis::arch::Arch;
use tileperf_analysis::rules::RULES;
use tileperf_analysis::target::Version;

use super::raw::{Entry, Raw, quoted};
use super::table::Kind;
use super::value::Value;

impl Kind {
    /// Reads a value of this kind. The error completes the sentence "`key` ...".
    pub(super) fn read(self, raw: &Raw) -> Result<Value, String> {
        match self {
            Kind::Flag => match raw {
                Raw::Flag(value) => Ok(Value::Flag(*value)),
                Raw::Bare(text) if text == "true" => Ok(Value::Flag(true)),
                Raw::Bare(text) if text == "false" => Ok(Value::Flag(false)),
                other => Err(expected("true or false", other)),
            },
            Kind::Number { min, max } => read_number(raw)
                .filter(|number| (min..=max).contains(number))
                .map(Value::Number)
                .ok_or_else(|| expected(&format!("a whole number from {min} to {max}"), raw)),
            Kind::Choice(words) => match raw {
                Raw::Text(text) | Raw::Bare(text) if words.contains(&text.as_str()) => {
                    Ok(Value::Text(Some(text.clone())))
                }
                other => Err(expected(&format!("one of {}", words.join(", ")), other)),
            },
            Kind::Text => match raw {
                Raw::Text(text) | Raw::Bare(text) if !text.trim().is_empty() => {
                    Ok(Value::Text(Some(text.clone())))
                }
                other => Err(expected("a string that is not empty", other)),
            },
            Kind::Version => read_version(raw),
            Kind::Archs => read_archs(raw),
            Kind::Globs => read_list("globs", raw, check_glob),
            Kind::TestPatterns => read_list("paths with {op}", raw, check_test_pattern),
            Kind::TestFiles => read_test_files(raw),
            Kind::Environment => read_environment(raw),
            Kind::Directories => read_list("folders", raw, check_directory),
            Kind::Command => read_command(raw).map(Value::List),
            Kind::Weights => read_weights(raw),
            Kind::Kernels => kernels::read(raw),
            Kind::Rules => read_list("rules", raw, check_rule),
            Kind::Severities => read_severities(raw),
        }
    }
}

/// A command is a list already: splitting a string would be guessing at quotes.
fn read_command(raw: &Raw) -> Result<Vec<String>, String> {
    let arguments = match raw {
        Raw::List(_) => texts("arguments", raw)?,
        other => return Err(expected("a list of arguments", other)),
    };
    match arguments.first() {
        Some(program) if !program.is_empty() => Ok(arguments),
        _ => Err("must name a program".to_owned()),
    }
}

fn read_weights(raw: &Raw) -> Result<Value, String> {
    let wanted = "a table of parts of ids, each with a positive number";
    let Raw::Table(entries) = raw else {
        return Err(expected(wanted, raw));
    };
    let mut weights = BTreeMap::new();
    for Entry { name, value, .. } in entries {
        let text = match value {
            Raw::Number(number) => number.to_string(),
            Raw::Float(text) | Raw::Bare(text) | Raw::Text(text) => text.clone(),
            other => return Err(expected(wanted, other)),
        };
        let is_weight = text.parse::<f64>().is_ok_and(|w| w.is_finite() && w > 0.0);
        if !is_weight || name.is_empty() {
            return Err(format!("must be {wanted}, but {name} is {text}"));
        }
        weights.insert(name.clone(), text);
    }
    Ok(Value::Texts(weights))
}

fn check_rule(name: &str) -> Result<(), String> {
    match RULES.iter().any(|rule| rule.is_called(name)) {
        true => Ok(()),
        false => Err(format!("names no rule with {}", quoted(name))),
    }
}

fn read_severities(raw: &Raw) -> Result<Value, String> {
    let wanted = "a table of rules, each error, warning or hint";
    let Raw::Table(entries) = raw else {
        return Err(expected(wanted, raw));
    };
    let mut severities = BTreeMap::new();
    for Entry { name, value, .. } in entries {
        check_rule(name)?;
        match value {
            Raw::Text(text) | Raw::Bare(text) if super::rules::severity(text).is_some() => {
                severities.insert(name.clone(), text.clone());
            }
            other => {
                let got = other.describe();
                return Err(format!("must be {wanted}, but {name} is {got}"));
            }
        }
    }
    Ok(Value::Texts(severities))
}

fn expected(wanted: &str, got: &Raw) -> String {
    format!("must be {wanted}, not {}", got.describe())
}

fn read_number(raw: &Raw) -> Option<u64> {
    match raw {
        Raw::Number(number) => u64::try_from(*number).ok(),
        Raw::Bare(text) => text.parse().ok(),
        _ => None,
    }
}

fn read_version(raw: &Raw) -> Result<Value, String> {
    match raw {
        Raw::Text(text) | Raw::Bare(text) => match text.parse::<Version>() {
            Ok(version) => Ok(Value::Version(Some(version))),
            Err(_) => Err(expected("a version such as \"1.6\"", raw)),
        },
        Raw::Number(_) | Raw::Float(_) => Err(format!(
            "must be a version in quotes, such as \"1.6\", not {}",
            raw.describe()
        )),
        other => Err(expected("a version such as \"1.6\"", other)),
    }
}

fn read_archs(raw: &Raw) -> Result<Value, String> {
    let mut archs = Vec::new();
    for text in texts("architectures", raw)? {
        let arch: Arch = text
            .parse()
            .map_err(|unknown| format!("names an unknown architecture: {unknown}"))?;
        archs.push(arch);
    }
    if archs.is_empty() {
        return Err("must name at least one architecture".to_owned());
    }
    archs.sort_unstable();
    archs.dedup();
    Ok(Value::Archs(archs))
}

/// A list of texts that all pass `check`, whose error completes "`key` ...".
fn read_list(
    what: &str,
    raw: &Raw,
    check: fn(&str) -> Result<(), String>,
) -> Result<Value, String> {
    let items = texts(what, raw)?;
    items.iter().try_for_each(|item| check(item))?;
    Ok(Value::List(items))
}

/// A list of texts. On the command line, where there are no lists, commas divide it.
fn texts(what: &str, raw: &Raw) -> Result<Vec<String>, String> {
    let wrong = |got: &Raw| expected(&format!("a list of {what}"), got);
    match raw {
        Raw::List(items) => items
            .iter()
            .map(|item| match item {
                Raw::Text(text) => Ok(text.clone()),
                other => Err(format!(
                    "must be a list of {what}, but one of them is {}",
                    other.describe()
                )),
            })
            .collect(),
        Raw::Bare(text) => Ok(text
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(str::to_owned)
            .collect()),
        other => Err(wrong(other)),
    }
}

fn check_glob(glob: &str) -> Result<(), String> {
    match globset::Glob::new(glob) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("has a glob that cannot be read: {error}")),
    }
}

fn check_test_pattern(pattern: &str) -> Result<(), String> {
    check_relative(pattern)?;
    if !pattern.contains("{op}") {
        return Err(format!("needs {{op}} in {}", quoted(pattern)));
    }
    let rest = pattern.replace("{op}", "").replace("{suite}", "");
    if rest.contains(['{', '}']) {
        return Err(format!(
            "knows {{op}} and {{suite}}, but {} has another placeholder",
            quoted(pattern)
        ));
    }
    Ok(())
}

/// Tests are part of the workspace; a path that leaves it is a mistake or worse.
fn check_relative(path: &str) -> Result<(), String> {
    let leaves = path.is_empty()
        || path.starts_with(['/', '\\', '~'])
        || path.as_bytes().get(1) == Some(&b':')
        || path.split(['/', '\\']).any(|part| part == "..");
    if leaves {
        return Err(format!(
            "must stay inside the workspace folder, which {} does not",
            quoted(path)
        ));
    }
    Ok(())
}

fn check_directory(path: &str) -> Result<(), String> {
    let home = path == "~" || path.starts_with("~/");
    let drive = path.as_bytes().get(1) == Some(&b':');
    if home || drive || path.starts_with('/') {
        return Ok(());
    }
    Err(format!(
        "must list absolute folders or ones below ~, which {} is not",
        quoted(path)
    ))
}

fn read_test_files(raw: &Raw) -> Result<Value, String> {
    let Raw::Table(entries) = raw else {
        return Err(expected(
            "a table of operations, each with a test file or a list of them",
            raw,
        ));
    };
    let mut files = BTreeMap::new();
    for Entry { name, value, .. } in entries {
        let paths = match value {
            Raw::Text(path) => vec![path.clone()],
            other => texts("test files", other)
                .map_err(|error| format!("{error} (at {})", quoted(name)))?,
        };
        paths.iter().try_for_each(|path| check_relative(path))?;
        files.insert(name.clone(), paths);
    }
    Ok(Value::Lists(files))
}

fn read_environment(raw: &Raw) -> Result<Value, String> {
    let Raw::Table(entries) = raw else {
        return Err(expected("a table of variables with string values", raw));
    };
    let mut variables = BTreeMap::new();
    for Entry { name, value, .. } in entries {
        let Raw::Text(text) = value else {
            return Err(format!(
                "must be a table of variables with string values, but {name} is {}",
                value.describe()
            ));
        };
        // The operating system refuses these, with an error that names no setting.
        if name.is_empty() || name.contains(['=', '\0']) || text.contains('\0') {
            return Err(format!(
                "has a variable that cannot be set: {}",
                quoted(name)
            ));
        }
        variables.insert(name.clone(), text.clone());
    }
    Ok(Value::Texts(variables))
}
