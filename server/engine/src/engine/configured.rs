//! Where the workspace is, its settings, and whether its code may be run.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Engine;
use crate::event::Event;
use crate::settings::{Layer, Settings, SettingsProblem, load};

impl Engine {
    /// Sets the workspace folders and the layers of settings above the files: the editor's and the
    /// command line's. Reads the settings files. Returns what is wrong in any of them.
    pub fn configure(
        &self,
        roots: Vec<PathBuf>,
        editor: serde_json::Value,
        command_line: Vec<String>,
        trusted: bool,
    ) -> Vec<SettingsProblem> {
        {
            let mut workspace = self.shared.workspace.write();
            workspace.roots = roots;
            workspace.editor = editor;
            workspace.command_line = command_line;
            workspace.trusted = trusted;
        }
        self.reload_settings()
    }

    /// Replaces the editor's layer.
    pub fn set_editor_settings(&self, editor: serde_json::Value) -> Vec<SettingsProblem> {
        self.shared.workspace.write().editor = editor;
        self.reload_settings()
    }

    /// Grants or withdraws trust.
    pub fn set_trusted(&self, trusted: bool) -> Vec<SettingsProblem> {
        self.shared.workspace.write().trusted = trusted;
        self.reload_settings()
    }

    /// Replaces the workspace folders; the index follows.
    pub fn set_roots(&self, roots: Vec<PathBuf>) -> Vec<SettingsProblem> {
        self.shared.workspace.write().roots = roots;
        let problems = self.reload_settings();
        if self.shared.awake.load(Ordering::Acquire) {
            self.start_index();
        }
        problems
    }

    /// Reads the settings files again.
    pub fn reload_settings(&self) -> Vec<SettingsProblem> {
        let workspace = self.shared.workspace.read().clone();
        let user = load::user_file(|name| std::env::var_os(name));
        let mut layers = load::file_layers(
            workspace.roots.first().map(PathBuf::as_path),
            user.as_deref(),
        );
        layers.push(Layer::editor(&workspace.editor));
        layers.push(Layer::command_line(&workspace.command_line));
        let (mut settings, mut problems) = Settings::resolve(&layers, workspace.trusted);
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let listed = workspace.roots.first().is_some_and(|root| {
            root.canonicalize()
                .is_ok_and(|root| settings.trusts(&root, home.as_deref()))
        });
        if listed && !workspace.trusted {
            self.shared.workspace.write().trusted = true;
            (settings, problems) = Settings::resolve(&layers, true);
        }
        let before = std::mem::replace(&mut *self.shared.settings.write(), Arc::new(settings));
        self.shared.workspace.write().problems.clone_from(&problems);
        let after = self.settings();
        if before.python_path != after.python_path && self.is_awake() {
            self.look_at_installed();
        }
        if self.shared.awake.load(Ordering::Acquire) && before.index != after.index {
            self.start_index();
        } else if before != after {
            self.shared.touch();
            let _ = self.shared.events.send(Event::Refresh);
        }
        problems
    }

    /// The settings in force.
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.shared.settings.read())
    }

    /// What is wrong in the settings.
    pub fn settings_problems(&self) -> Vec<SettingsProblem> {
        self.shared.workspace.read().problems.clone()
    }

    /// Whether code of this workspace may be run.
    pub fn is_trusted(&self) -> bool {
        self.shared.workspace.read().trusted
    }

    /// The first folder of the workspace: the one whose Python counts.
    pub fn root(&self) -> Option<PathBuf> {
        self.shared.workspace.read().roots.first().cloned()
    }
}
