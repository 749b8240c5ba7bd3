//! What is said to the frontend and what it answers, as `python/tileperf_compiler.py` has it.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Error, PROTOCOL};

/// A request to compile one kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Request {
    /// The slices: what the kernel needs of its file, and of those that it imports.
    pub modules: Vec<Module>,
    /// The name of the module with the kernel.
    pub entry: String,
    /// The kernel's function, at the top level of that module.
    pub kernel: String,
    /// One entry a parameter, in the protocol's form.
    pub signature: Vec<Value>,
    /// `sm_90`.
    pub arch: String,
    /// Hints instead of the decorator's.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub hints: Map<String, Value>,
    /// Constants that the entry module starts with, in the protocol's form.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub globals: Map<String, Value>,
    /// `v1` or `v2`; cuTile's choice without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convention: Option<String>,
}

/// A slice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Module {
    /// As it is imported.
    pub name: String,
    /// The file that errors and remarks name.
    pub path: String,
    /// Its text, blank where it is not needed.
    pub text: String,
}

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Hello {
    /// The version of Python.
    pub python: String,
    /// The version of cuda-tile.
    pub cuda_tile: String,
    /// The bytecode that the installed tileiras reads, if that could be found out.
    pub bytecode_version: Option<String>,
}

/// What became of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It compiles, as far as the frontend goes.
    Compiled(Compiled),
    /// It does not.
    Problem(Problem),
}

/// A kernel's bytecode.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// The mangled name.
    pub symbol: String,
    /// TileIR bytecode.
    pub bytecode: Vec<u8>,
    /// The frontend's time, loading included.
    pub seconds: f64,
    /// What cuTile warned of.
    pub warnings: Vec<String>,
    /// Statements of the slice that failed, although the kernel compiles without them.
    pub failures: Vec<Problem>,
}

/// What sort of problem; `Other` is one that this version does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "documented in the protocol")]
pub enum ProblemKind {
    Syntax,
    Load,
    Frontend,
    Signature,
    Refused,
    Time,
    Memory,
    CudaTile,
    Internal,
    Request,
    #[serde(other)]
    Other,
}

/// A place in a user's file: lines from 1, columns in bytes of UTF-8 from 0, ends exclusive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it all")]
pub struct Place {
    pub path: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub end_line: Option<u32>,
    pub end_column: Option<u32>,
    /// The function that the place is in, where that is known.
    #[serde(default)]
    pub function: Option<String>,
}

/// What is wrong with a kernel, or with what is around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What sort.
    pub kind: ProblemKind,
    /// The class of the exception.
    #[serde(rename = "type", default)]
    pub class: Option<String>,
    /// cuTile's own words, mostly.
    pub message: String,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// The calls that led there, innermost first.
    #[serde(default)]
    pub chain: Vec<Place>,
    /// Statements of the slice that failed before.
    #[serde(default)]
    pub failures: Vec<Problem>,
}

#[derive(Deserialize)]
struct Success {
    symbol: String,
    bytecode: String,
    seconds: f64,
    #[serde(default)]
    warnings: Vec<String>,
    #[serde(default)]
    failures: Vec<Problem>,
}

pub(super) fn hello(answer: Value) -> Result<Result<Hello, Problem>, Error> {
    if answer["ok"] == false {
        return problem(answer).map(Err);
    }
    let spoken = &answer["protocol"];
    if *spoken != PROTOCOL {
        return Err(Error::Confused(format!(
            "protocol {spoken}, not {PROTOCOL}"
        )));
    }
    understood(answer).map(Ok)
}

pub(super) fn answer(answer: Value) -> Result<Answer, Error> {
    if answer["ok"] == false {
        return problem(answer).map(Answer::Problem);
    }
    let success: Success = understood(answer)?;
    let bytecode = BASE64_STANDARD.decode(&success.bytecode);
    Ok(Answer::Compiled(Compiled {
        symbol: success.symbol,
        bytecode: bytecode.map_err(|error| Error::Confused(error.to_string()))?,
        seconds: success.seconds,
        warnings: success.warnings,
        failures: success.failures,
    }))
}

fn problem(mut answer: Value) -> Result<Problem, Error> {
    let mut problem: Problem = understood(answer["error"].take())?;
    if answer["failures"].is_array() {
        problem.failures = understood(answer["failures"].take())?;
    }
    Ok(problem)
}

fn understood<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, Error> {
    serde_json::from_value(value).map_err(|error| Error::Confused(error.to_string()))
}
