//! One file per notification. A handler takes effect before it returns and never waits.

pub(super) mod cancel_progress;
pub(super) mod did_change;
pub(super) mod did_change_configuration;
pub(super) mod did_change_watched_files;
pub(super) mod did_change_workspace_folders;
pub(super) mod did_close;
pub(super) mod did_open;
