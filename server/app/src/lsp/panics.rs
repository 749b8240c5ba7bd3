//! Panics become lines in the log, and their message part of an error response.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};

/// Sends every panic to the log instead of straight to standard error, which may block.
pub(super) fn log_all() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic
            .location()
            .map(ToString::to_string)
            .unwrap_or_default();
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            tracing::error!("panic at {place}: {}\n{backtrace}", reason(panic.payload()));
        } else {
            tracing::error!("panic at {place}: {}", reason(panic.payload()));
        }
    }));
}

/// The message of a panic.
pub(super) fn reason(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
