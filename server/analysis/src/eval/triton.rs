//! What Triton's code asks and makes: on whose cards it runs, and configurations.
//!
//! cuTile runs on NVIDIA's cards only, so the branches that lists have for others are never taken.

use smol_str::SmolStr;

use super::env::Place;
use super::interp::Interp;
use super::value::{Args, Obj, Record, Value};

/// What a configuration takes by position.
const CONFIG: [&str; 6] = [
    "kwargs",
    "num_warps",
    "num_stages",
    "num_ctas",
    "maxnreg",
    "pre_hook",
];

/// Who makes a description of the device.
const TARGET: &str = "triton.backends.compiler.GPUTarget";

/// Whether a path is Triton's `Config`.
pub(super) fn is_config(path: &str) -> bool {
    let rest = path.strip_prefix("triton.");
    rest.is_some_and(|rest| {
        matches!(
            rest,
            "Config" | "runtime.Config" | "runtime.autotuner.Config"
        )
    })
}

/// What is an attribute of torch on NVIDIA's cards.
pub(super) fn attribute<'e>(path: &str) -> Option<Value<'e>> {
    matches!(path, "torch.version.hip" | "torch.version.xpu").then_some(Value::None)
}

/// A configuration's attribute that it was not given.
fn default_of<'e>(name: &str) -> Option<Value<'e>> {
    Some(match name {
        "num_warps" => Value::Int(4),
        "num_stages" => Value::Int(3),
        "num_ctas" => Value::Int(1),
        "maxnreg" | "pre_hook" => Value::None,
        _ => return None,
    })
}

impl<'e> Interp<'e> {
    /// What an object of Triton's has for an attribute that is no field of its own.
    pub(super) fn triton_attribute(&mut self, of: &Record<'e>, name: &str) -> Option<Value<'e>> {
        if of.maker == TARGET && name == "arch" {
            self.asked = true;
            let (major, minor) = self.arch.capability();
            return Some(Value::Int(i64::from(major) * 10 + i64::from(minor)));
        }
        if !is_config(&of.maker) {
            return None;
        }
        let kwargs = of.args.first().filter(|_| name == "kwargs").cloned();
        kwargs.or_else(|| default_of(name))
    }

    /// What a call outside the workspace gives that asks for the vendor.
    pub(super) fn vendor(&mut self, path: &str, place: Place) -> Option<Value<'e>> {
        let last = path.rsplit('.').next().unwrap_or(path);
        Some(match (path, last) {
            ("torch.xpu.is_available", _) => Value::Bool(false),
            (_, "is_hip" | "is_rocm" | "is_amd" | "is_xpu") => Value::Bool(false),
            (_, last) if last.starts_with("is_hip_") => Value::Bool(false),
            (_, "is_cuda" | "is_nvidia" | "is_cuda_alike") => Value::Bool(true),
            (_, "get_current_target") if path.starts_with("triton.") => self.target(place),
            _ => return None,
        })
    }

    /// Triton's description of the device.
    fn target(&mut self, place: Place) -> Value<'e> {
        let record = Record {
            class: None,
            maker: TARGET.into(),
            fields: vec![
                ("backend".into(), Value::Str("cuda".into())),
                ("warp_size".into(), Value::Int(32)),
            ],
            args: Vec::new(),
            open: true,
            place,
        };
        Value::Ref(self.alloc(Obj::Record(record)))
    }

    /// A configuration: its fields first, what else it was given by name.
    pub(super) fn triton_config(
        &mut self,
        path: &SmolStr,
        args: Args<'e>,
        place: Place,
    ) -> Value<'e> {
        let mut record = Record {
            class: None,
            maker: path.clone(),
            fields: Vec::new(),
            args: Vec::new(),
            open: true,
            place,
        };
        let named = args.named.into_iter();
        let given = CONFIG.iter().map(|name| SmolStr::new(*name)).zip(args.pos);
        for (name, value) in given.chain(named) {
            match name.as_str() {
                "kwargs" => record.args = vec![value],
                _ => record.set(&name, value),
            }
        }
        Value::Ref(self.alloc(Obj::Record(record)))
    }
}
