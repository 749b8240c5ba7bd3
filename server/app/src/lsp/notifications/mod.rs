//! One file per notification. A handler takes effect before it returns and never waits.

pub(super) mod cancel_progress;
pub(super) mod did_change;
pub(super) mod did_close;
pub(super) mod did_open;
