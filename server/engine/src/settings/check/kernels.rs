//! The settings of single kernels: a table in a table, each key checked.

use std::collections::BTreeMap;

use super::{check_relative, expected, read_command, texts};
use crate::settings::raw::{Entry, Raw, quoted};
use crate::settings::value::{KernelPerf, Value};

const KEYS: [&str; 5] = ["test-file", "correctness", "benchmark", "files", "goal"];

pub(super) fn read(raw: &Raw) -> Result<Value, String> {
    let Raw::Table(entries) = raw else {
        return Err(expected(
            "a table of kernels, each with a table of settings",
            raw,
        ));
    };
    let mut kernels: BTreeMap<String, KernelPerf> = BTreeMap::new();
    for Entry { name, value, .. } in entries {
        let Raw::Table(settings) = value else {
            // TOML's dotted keys arrive as `kernel.key`.
            let Some((kernel, key)) = name.rsplit_once('.') else {
                return Err(format!(
                    "must be a table of kernels, but {} is {}",
                    quoted(name),
                    value.describe()
                ));
            };
            set(kernels.entry(kernel.to_owned()).or_default(), key, value)
                .map_err(|error| format!("{error} (at {})", quoted(kernel)))?;
            continue;
        };
        let kernel = kernels.entry(name.clone()).or_default();
        for setting in settings {
            set(kernel, &setting.name, &setting.value)
                .map_err(|error| format!("{error} (at {})", quoted(name)))?;
        }
    }
    Ok(Value::Kernels(kernels))
}

fn set(kernel: &mut KernelPerf, key: &str, value: &Raw) -> Result<(), String> {
    // An editor's camelCase.
    let key = match key {
        "testFile" => "test-file",
        key => key,
    };
    let text = |value: &Raw| match value {
        Raw::Text(text) | Raw::Bare(text) if !text.is_empty() => Ok(text.clone()),
        other => Err(expected("a string that is not empty", other)),
    };
    match key {
        "test-file" => {
            let path = text(value)?;
            check_relative(&path)?;
            kernel.test_file = Some(path);
        }
        "correctness" => kernel.correctness = Some(read_command(value)?),
        "benchmark" => kernel.benchmark = Some(read_command(value)?),
        "files" => {
            kernel.files = texts("files", value)?;
            kernel
                .files
                .iter()
                .try_for_each(|path| check_relative(path))?;
        }
        "goal" => kernel.goal = Some(text(value)?),
        unknown => {
            return Err(format!(
                "knows {} for a kernel, and not {}",
                KEYS.join(", "),
                quoted(unknown)
            ));
        }
    }
    Ok(())
}
