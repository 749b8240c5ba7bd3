//! Time of day, for records only: nothing is decided by it.

/// Now, in UTC, to the millisecond (RFC 3339).
pub(crate) fn now() -> String {
    jiff::Timestamp::now()
        .round(jiff::Unit::Millisecond)
        .unwrap_or_default()
        .to_string()
}

/// Today where the user is, as `20261129`.
pub(crate) fn today() -> String {
    jiff::Zoned::now().strftime("%Y%m%d").to_string()
}
