//! What several test files need: environments, requests, and the guard.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(unreachable_pub, reason = "a module of a test has no public outside")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tileperf_compiler::environment::Environment;
use tileperf_compiler::worker::{Module, Request};
use tileperf_proc::python::Python;

/// How long anything may take on a busy machine before a test calls it hanging.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Names the guard of this process's children.
pub fn guard() {
    tileperf_proc::guard_with(env!("CARGO_BIN_EXE_compiler-probe"));
}

/// An environment with an interpreter that may be anything.
pub fn environment(python: &Path) -> Environment {
    guard();
    let python = Python {
        path: python.to_owned(),
        origin: "a test",
    };
    Environment::of(&python, &|name| std::env::var_os(name))
}

/// The environment with cuda-tile and tileiras that tests were told of.
pub fn real() -> Option<Environment> {
    let python = PathBuf::from(std::env::var_os("TILEPERF_TEST_TILEIRAS")?);
    let environment = environment(&python);
    assert_eq!(environment.lacks(), None);
    Some(environment)
}

/// A shell script that takes the place of Python.
pub fn script(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("python");
    std::fs::write(&path, format!("#!/bin/sh\n{text}")).expect("a script");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("a script that runs");
    path
}

/// A request for `kernel` of one module; float16 matrices of rank 2 and then constants of 64.
pub fn request(text: &str, kernel: &str) -> Request {
    let array = json!({"kind": "array", "dtype": "float16", "ndim": 2, "stride": [null, 1],
                       "stride_divisor": [16, 1], "base_divisor": 16});
    let constant = json!({"kind": "constant", "value": 64});
    Request {
        modules: vec![Module {
            name: "kernels".to_owned(),
            path: "/work space/kernels.py".to_owned(),
            text: text.to_owned(),
        }],
        entry: "kernels".to_owned(),
        kernel: kernel.to_owned(),
        signature: [array.clone(), array, constant]
            .into_iter()
            .collect::<Vec<Value>>(),
        arch: "sm_90".to_owned(),
        hints: Map::new(),
        globals: Map::new(),
        convention: None,
    }
}
