//! Whether device code quantizes to 8 bits.

use tileperf_syntax::ast::StmtKind;

use crate::body::{Const, Device, Dtype, Ty};

/// The function quantizes to 8 bits: it is called so, or casts to an 8-bit float, or scales with
/// the largest 8-bit number and casts to an array's dtype.
pub(crate) fn quantizes(device: &Device<'_>) -> bool {
    let name = device.def.name.name.to_ascii_lowercase();
    let undoes = name.contains("dequant");
    if undoes {
        return false;
    }
    if name.contains("quant") && names_eight_bits(device) {
        return true;
    }
    casts_to_fp8(device) && reduces_maximum(device)
        || scales_by_limit(device) && reduces_maximum(device)
}

fn names_eight_bits(device: &Device<'_>) -> bool {
    let name = device.def.name.name.to_ascii_lowercase();
    let says = |text: &str| {
        let text = text.to_ascii_lowercase();
        ["fp8", "float8", "int8", "8bit", "bit8", "e4m3", "e5m2"]
            .iter()
            .any(|part| text.contains(part))
    };
    says(&name)
        || device.def.params.iter().any(|p| says(&p.name.name))
        || casts_to_fp8(device)
        || scales_by_limit(device)
}

fn casts_to_fp8(device: &Device<'_>) -> bool {
    let mut found = false;
    device.walk(&mut |expr, _| {
        found |= matches!(device.ty(expr), Ty::Dtype(Dtype::F8));
    });
    found
}

/// The largest numbers of float8_e4m3fn, float8_e5m2, float8_e4m3fnuz and int8.
pub(super) fn is_limit(value: f64) -> bool {
    [448.0, 57344.0, 240.0, 127.0].contains(&value.abs())
}

fn scales_by_limit(device: &Device<'_>) -> bool {
    let mut found = false;
    device.walk(&mut |expr, place| {
        let value = match device.ty(expr) {
            Ty::Const(Const::Float(value)) => *value,
            Ty::Const(Const::Int(value)) => *value as f64,
            _ => return,
        };
        let used = !matches!(place.stmt().map(|s| &s.kind), Some(StmtKind::For { .. }));
        found |= used && is_limit(value);
    });
    found
}

fn reduces_maximum(device: &Device<'_>) -> bool {
    let mut found = false;
    device.calls(&mut |call, _| found |= call.name == "max");
    found
}
