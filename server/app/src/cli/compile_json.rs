//! Compiled kernels for programs: JSON Lines.

use std::path::Path;

use serde_json::{Map, Value, json};
use tileperf_analysis::compiled::{CompiledFacts, Difference, Outcome, Placed, Refusal};
use tileperf_engine::{Compared, CompiledRow, SpaceBegun, SpaceRow};
use tileperf_syntax::Text;

/// What a change has done to a kernel.
pub(super) fn compared(one: &Compared) -> Value {
    let (change, words) = match one.difference() {
        Difference::Same => ("same", Vec::new()),
        Difference::Changed(words) => ("changed", words),
        Difference::Broken(words) => ("broken", vec![words]),
        Difference::Unknown => ("unknown", Vec::new()),
    };
    json!({
        "schema": "tileperf.compare/1",
        "kernel": one.kernel,
        "arch": one.after.arch,
        "signature": one.after.signature.shown(),
        "origin": one.after.signature.origin,
        "change": change,
        "words": words,
    })
}

/// A kernel compiled.
pub(super) fn row(shown: &Path, text: &Text, row: &CompiledRow) -> Value {
    let mut object = json!({
        "schema": "tileperf.compile/1",
        "path": shown.to_string_lossy(),
        "kernel": row.kernel,
        "line": row.line,
        "seconds": row.seconds,
        "error": null,
    });
    match &row.facts {
        Err(why) => object["error"] = json!({"message": why, "line": row.line}),
        Ok(facts) => {
            add(&mut object, text, facts);
            object["signature_number"] = json!(row.number);
            object["signatures"] = json!(row.signatures);
        }
    }
    object
}

/// A configuration of a kernel compiled: as [`row`], with the configuration.
pub(super) fn configuration(
    shown: &Path,
    text: &Text,
    space: &SpaceBegun,
    row: &SpaceRow,
) -> Value {
    let mut object = json!({
        "schema": "tileperf.compile/1",
        "path": shown.to_string_lossy(),
        "kernel": space.kernel,
        "line": space.line,
        "seconds": row.seconds,
        "error": null,
    });
    add(&mut object, text, &row.facts);
    let fields = row.config.iter();
    let fields: Map<String, Value> = fields
        .map(|(name, value)| (name.clone(), json!(value)["value"].take()))
        .collect();
    object["config"] = Value::Object(fields);
    object
}

/// A kernel that cannot be compiled, in the same form.
pub(super) fn failed(shown: &Path, kernel: &str, line: u32, why: &str) -> Value {
    json!({
        "schema": "tileperf.compile/1",
        "path": shown.to_string_lossy(),
        "kernel": kernel,
        "line": line,
        "error": {"message": why, "line": line},
    })
}

fn add(object: &mut Value, text: &Text, facts: &CompiledFacts) {
    object["arch"] = json!(facts.arch);
    object["signature"] = json!(facts.signature.shown());
    object["origin"] = json!(facts.signature.origin);
    if let Some(at) = &facts.signature.launched {
        object["launch"] = json!({"path": at.path, "line": at.line});
    }
    match &facts.outcome {
        Outcome::Accepted => {}
        Outcome::Failed(why) => object["error"] = json!({"message": why}),
        Outcome::Refused(refusal) => object["error"] = refused(text, refusal),
        Outcome::Machine(machine) => {
            let resources = &machine.resources;
            object["registers"] = json!(resources.registers);
            object["stack"] = json!(resources.stack);
            object["shared"] = json!(resources.shared);
            object["threads"] = json!(resources.threads);
            object["cluster"] = json!(resources.cluster);
            object["code_hash"] = json!(machine.code_hash);
            object["remarks"] = match &machine.remarks {
                Some(remarks) => remarks.iter().map(|placed| remark(text, placed)).collect(),
                None => Value::Null,
            };
        }
    }
}

fn refused(text: &Text, refusal: &Refusal) -> Value {
    let mut error = json!({"message": refusal.message});
    if let Some(span) = refusal.span {
        let (line, column) = text.line_column(span.start as usize);
        error["line"] = json!(line);
        error["column"] = json!(column);
    }
    let chain = refusal.chain.iter().map(|called| {
        json!({
            "path": called.site.file,
            "line": called.site.line,
            "function": called.function,
        })
    });
    error["chain"] = chain.collect();
    error
}

/// A remark with what its kind has to say: `kind`, `shape`, `reasons` and so on.
fn remark(text: &Text, placed: &Placed) -> Value {
    let mut object = json!(placed.remark.kind);
    object["text"] = json!(placed.remark.text);
    object["count"] = json!(placed.remark.count);
    match (placed.span, &placed.remark.site) {
        (Some(span), _) => {
            let (line, column) = text.line_column(span.start as usize);
            object["line"] = json!(line);
            object["column"] = json!(column);
        }
        (None, Some(site)) => {
            object["path"] = json!(site.file);
            object["line"] = json!(site.line);
        }
        (None, None) => object["line"] = Value::Null,
    }
    object
}
