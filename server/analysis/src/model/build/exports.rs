//! What crosses the border of a file: what it imports, what others may follow into it, and the
//! kernels it hands to functions of other modules.

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use super::{At, Build};
use crate::model::names::Target;
use crate::model::scan::ScopeKind;
use crate::model::spaces::Found;
use crate::model::value::Value;
use crate::model::{Candidate, Export, PassedKernel};

impl<'a> Build<'a> {
    /// The names that imports give this file. A name imported twice (`try` one, fall back to
    /// another) is cuTile's if one of the imports says so: with the other the code is not cuTile and
    /// there is nothing to say. Else it is the last.
    pub(super) fn imports(&mut self) {
        for (name, binds) in self.names.module() {
            let mut paths = binds.iter().filter_map(|(_, value)| match value {
                Value::Import(path) => Some(path),
                _ => None,
            });
            let Some(path) = paths.clone().rfind(|p| is_cutile(p)).or(paths.next_back()) else {
                continue;
            };
            self.out.uses_cutile |= is_cutile(path) || path == "cuda";
            let path = self.names.absolute(path);
            self.out.imports.insert(name.into(), path);
        }
    }

    /// The module-level names that other files may follow, and the kernels passed on.
    pub(super) fn exports(&mut self) {
        let mut exports: FxHashMap<SmolStr, Export> = FxHashMap::default();
        let mut kernel_names: FxHashSet<SmolStr> = FxHashSet::default();
        for (name, binds) in self.names.module() {
            let mut export = Export::default();
            for (origin, value) in binds {
                self.add_export(&mut export, value, *origin);
            }
            if export.kernels.iter().any(is_kernel) {
                kernel_names.insert(name.into());
            }
            if export != Export::default() {
                exports.insert(name.into(), export);
            }
        }
        self.out.exports = exports;
        self.passed_kernels(&kernel_names);
    }

    /// Adds what a name is through one of its bindings.
    fn add_export(&self, export: &mut Export, value: &'a Value, origin: At) {
        let targets = match value {
            value if is_plain(value) => return,
            Value::Seq(..) | Value::Map(_) => return,
            Value::Import(_) => self.names.resolve(value, origin),
            value => self.names.resolve_through_callers(value, origin),
        };
        export.kernels.extend(self.as_candidates(&targets));
        for target in &targets {
            let Target::Def(at) = target else { continue };
            let scope = self.names.scope(*at);
            let Some(def) = &scope.def else { continue };
            if scope.kind != ScopeKind::Function {
                continue;
            }
            export.function = Some((
                self.place(at.item, def.name.span),
                self.place(at.item, def.span),
            ));
            export.space = self.spaces.get(&Found::Function(*at)).copied();
            for value in scope.returns.iter().filter(|v| !is_plain(v)) {
                export.returns.extend(self.candidates(value, *at));
            }
        }
    }

    /// Calls that hand a module-level kernel to a function of another module.
    fn passed_kernels(&mut self, kernel_names: &FxHashSet<SmolStr>) {
        for (item, scan) in self.names.scans.iter().enumerate() {
            if scan.given.is_disjoint(kernel_names) {
                continue;
            }
            for call in &scan.calls {
                let at = At::new(item, call.scope);
                for (place, arg) in call.args.iter().enumerate() {
                    if !matches!(&arg.value, Value::Name(n) if kernel_names.contains(n)) {
                        continue;
                    }
                    for callee in self.names.paths(&call.callee, at) {
                        if !callee.starts_with("cuda.") {
                            let kernels = self.candidates(&arg.value, at);
                            self.out.passed.push(PassedKernel {
                                callee,
                                keyword: arg.name.clone(),
                                place,
                                kernels,
                            });
                        }
                    }
                }
            }
        }
    }
}

/// `cuda.tile`, or something of it.
fn is_cutile(path: &str) -> bool {
    path == "cuda.tile" || path.starts_with("cuda.tile.")
}

/// Plain data cannot be a kernel.
fn is_plain(value: &Value) -> bool {
    matches!(value, Value::Other | Value::Text(_) | Value::Nothing)
}

/// Of this file, or imported under a name that says so.
fn is_kernel(candidate: &Candidate) -> bool {
    match candidate {
        Candidate::Local(_) => true,
        Candidate::Imported(path) => path.contains("kernel"),
        _ => false,
    }
}
