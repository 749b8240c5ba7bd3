//! The editor's layer of the settings, in the shapes in which editors send it.
//!
//! Our own editor plugins send `{"trusted": bool, "settings": {...}}`, at start and with every
//! change. Other clients send the settings alone. Whether the user trusts the workspace is taken
//! only from the first shape, which a plugin builds; settings may come from a file of the workspace.

use serde_json::Value;
use tileperf_engine::settings::editor_trust;

/// The settings and the trust in `initializationOptions`. Not trusted unless said so.
pub(super) fn at_start(mut options: Value) -> (Value, bool) {
    let trusted = editor_trust(&options).unwrap_or(false);
    let nested = options.get_mut("settings").map(Value::take);
    (nested.unwrap_or(options), trusted)
}

/// The settings in a `didChangeConfiguration` and, in the plugins' shape, the trust.
pub(super) fn on_change(mut settings: Value) -> (Value, Option<bool>) {
    let trusted = editor_trust(&settings);
    match (settings.get_mut("settings").map(Value::take), trusted) {
        (Some(nested), Some(trusted)) => (nested, Some(trusted)),
        (Some(nested), None) => (nested, None),
        (None, _) => (settings, None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_shapes_are_understood() {
        let hover = json!({"hover": {"enable": false}});
        let plugin = json!({"trusted": true, "settings": hover});
        assert_eq!(at_start(plugin.clone()), (hover.clone(), true));
        assert_eq!(at_start(hover.clone()), (hover.clone(), false));
        assert_eq!(at_start(Value::Null), (Value::Null, false));
        assert_eq!(on_change(plugin), (hover.clone(), Some(true)));
        assert_eq!(on_change(hover.clone()), (hover, None));
    }

    #[test]
    fn settings_alone_never_grant_trust() {
        let (_, trusted) = on_change(json!({"trusted": true, "hover": {"enable": true}}));
        assert_eq!(trusted, None);
        let (_, trusted) = at_start(json!({"settings": {"trusted": true}}));
        assert!(!trusted);
    }
}
