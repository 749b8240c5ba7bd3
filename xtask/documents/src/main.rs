//! Prints the documents that are made from the code, as one JSON object: a file's path and its text.
//!
//! A program of its own, so that xtask does not need the server's crates: the chores start sooner,
//! and cargo builds those crates once for all tests instead of once more for xtask.

mod manifest;

use std::error::Error;
use std::path::Path;

use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package = std::fs::read_to_string(here.join("../../package.json"))?;
    let documents = json!({
        "docs/knobs.md": tileperf_analysis::knobs::markdown(),
        "docs/playbook.md": tileperf_analysis::playbook::markdown(),
        "docs/rules.md": tileperf_analysis::rules::markdown(),
        "docs/troubleshooting.md": tileperf_compiler::doctor::symptoms::markdown(),
        "docs/settings.md": tileperf_engine::settings::markdown(),
        "package.json": manifest::updated(&package)?,
    });
    println!("{documents}");
    Ok(())
}
