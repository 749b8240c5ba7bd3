//! Numbers as people read them.

/// Three digits and a prefix: `2.1 M`.
pub(super) fn short(value: f64) -> String {
    for (unit, prefix) in [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")] {
        if value >= unit {
            return format!("{}{prefix}", rounded(value / unit));
        }
    }
    rounded(value)
}

/// One decimal below ten, none above.
pub(super) fn rounded(value: f64) -> String {
    let tenths = (value * 10.0).round() / 10.0;
    if tenths < 10.0 && tenths.fract() != 0.0 {
        format!("{tenths:.1}")
    } else {
        format!("{tenths:.0}")
    }
}
