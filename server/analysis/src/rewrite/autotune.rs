//! Code that tunes a kernel: what fixes of the rules and optimizations write alike.
//!
//! The shape is always the same. A dictionary of the module keeps, by a key of everything that the
//! best configuration depends on, the configuration and the kernel remade with it; only a miss
//! searches or remakes; the launch is the last statement. Nothing here decides what to tune: the
//! texts come from the code at hand.

use super::{Edits, line_start, newline};

/// A name that stands nowhere in a text yet: the one wanted, or that with a number.
pub fn fresh(text: &str, wanted: &str) -> String {
    let mut name = wanted.to_owned();
    let mut number = 2;
    while has_word(text, &name) {
        name = format!("{wanted}_{number}");
        number += 1;
    }
    name
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// Puts statements of the module before the one that begins at a byte: above its comments, two blank
/// lines after.
#[must_use]
pub fn module_lines<'t>(edits: Edits<'t>, text: &'t str, item: u32, lines: &[String]) -> Edits<'t> {
    let mut at = line_start(text, item);
    while at > 0 {
        let above = line_start(text, at - 1);
        if !text[above as usize..at as usize].starts_with('#') {
            break;
        }
        at = above;
    }
    let end = newline(text);
    let mut block = String::new();
    for line in lines {
        block.push_str(line);
        block.push('\n');
    }
    let blank = |before: &str| before.ends_with(&format!("{end}{end}")) || before.is_empty();
    if blank(&text[..at as usize]) {
        block.push_str("\n\n");
    } else {
        // Directly below another statement, as in a short script.
        block.push('\n');
    }
    edits.insert(at, block)
}

/// A key by which tuning results are told apart: shape and dtype of every tensor, the device as a
/// string (a `torch.device` compares by identity of index and type, and keeps nothing readable),
/// then the flags.
pub fn key(tensors: &[&str], flags: &[&str]) -> Option<String> {
    let parts = key_parts(tensors, flags)?;
    Some(format!("({})", parts.join(", ")))
}

/// The parts of such a key.
pub fn key_parts(tensors: &[&str], flags: &[&str]) -> Option<Vec<String>> {
    let first = tensors.first()?;
    let mut parts: Vec<String> = tensors.iter().map(|t| format!("{t}.shape")).collect();
    parts.extend(tensors.iter().map(|t| format!("{t}.dtype")));
    parts.push(format!("str({first}.device)"));
    parts.extend(flags.iter().map(|f| (*f).to_owned()));
    Some(parts)
}

/// Statements that make something once for each key: `{cache}[{key}] = {value}` on a miss.
pub fn once(cache: &str, key: &str, value: &str) -> Vec<String> {
    vec![
        format!("if {key} not in {cache}:"),
        format!("    {cache}[{key}] = {value}"),
    ]
}

/// A callback of a search, such as the function that gives the grid.
#[derive(Debug, Clone)]
pub struct Callback {
    /// As the search gets it.
    pub written: String,
    /// What it gives for the configuration, by the name that [`TunedLaunch::config`] has.
    pub applied: String,
}

/// How hints are taken from a configuration.
#[derive(Debug, Clone)]
pub enum Hints {
    /// The search tunes none.
    None,
    /// By name: `occupancy`, `cfg.occupancy`.
    Named(Callback, Vec<(String, String)>),
    /// Whatever the callback's dictionary has.
    Given(Callback),
}

impl Hints {
    /// The kernel with the hints of the configuration.
    pub fn remade(&self, kernel: &str) -> String {
        match self {
            Hints::None => kernel.to_owned(),
            Hints::Named(_, hints) => {
                let hints: Vec<String> = hints.iter().map(|(n, v)| format!("{n}={v}")).collect();
                format!("{kernel}.replace_hints({})", hints.join(", "))
            }
            Hints::Given(callback) => format!("{kernel}.replace_hints(**{})", callback.applied),
        }
    }

    fn written(&self) -> Option<&str> {
        match self {
            Hints::None => None,
            Hints::Named(callback, _) | Hints::Given(callback) => Some(&callback.written),
        }
    }
}

/// A search behind a cache and the launch of what it found.
#[derive(Debug, Clone)]
pub struct TunedLaunch {
    /// The module's dictionary.
    pub cache: String,
    /// The name of the key, and what it is.
    pub key: (String, String),
    /// The names of the search's result, of the best configuration, of the tuned kernel.
    pub result: String,
    #[allow(missing_docs)]
    pub config: String,
    #[allow(missing_docs)]
    pub tuned: String,
    /// How the file calls `exhaustive_search` and `launch`.
    pub search: String,
    #[allow(missing_docs)]
    pub launch: String,
    /// A sequence of configurations.
    pub space: String,
    /// The stream.
    pub stream: String,
    /// The kernel as it is without tuning.
    pub kernel: String,
    /// Gives the grid.
    pub grid: Callback,
    /// Gives the arguments of a trial.
    pub args: Callback,
    /// What the final launch gets for the configuration.
    pub launch_args: String,
    /// Gives the hints.
    pub hints: Hints,
    /// Seconds that one compilation may take.
    pub timeout: Option<String>,
}

impl TunedLaunch {
    /// The statements, without indentation of their own.
    pub fn lines(&self) -> Vec<String> {
        let Self {
            cache,
            key: (key, value),
            result,
            config,
            tuned,
            ..
        } = self;
        let mut out = vec![
            format!("{key} = {value}"),
            format!("if {key} not in {cache}:"),
        ];
        let mut depth = "    ";
        if let Some(seconds) = &self.timeout {
            let module = self.launch.trim_end_matches(".launch");
            out.push(format!("    with {module}.compiler_timeout({seconds}):"));
            depth = "        ";
        }
        out.push(format!("{depth}{result} = {}(", self.search));
        let hints = self.hints.written();
        let given = [
            &self.space,
            &self.stream,
            &self.grid.written,
            &self.kernel,
            &self.args.written,
        ];
        for part in given.into_iter().map(String::as_str).chain(hints) {
            out.push(format!("{depth}    {part},"));
        }
        out.push(format!("{depth})"));
        out.push(format!("    {config} = {result}.best.config"));
        let remade = self.hints.remade(&self.kernel);
        out.push(format!("    {cache}[{key}] = ({config}, {remade})"));
        out.push(format!("{config}, {tuned} = {cache}[{key}]"));
        out.push(format!(
            "{}({}, {}, {tuned}, {})",
            self.launch, self.stream, self.grid.applied, self.launch_args
        ));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::apply;

    #[test]
    fn names_that_are_free() {
        assert_eq!(fresh("a = b", "c"), "c");
        assert_eq!(fresh("_k = 1; _kk = 2", "_k"), "_k_2");
        assert_eq!(fresh("_k _k_2", "_k"), "_k_3");
        assert_eq!(fresh("x_k kx", "k"), "k");
    }

    #[test]
    fn lines_go_above_the_comments_of_a_function() {
        let text = "import a\n\n\n# Runs.\n# Twice.\ndef f():\n    pass\n";
        let at = text.find("def").unwrap() as u32;
        let edits = module_lines(Edits::new(text), text, at, &["_c = {}".into()]);
        let changed = apply(text, &edits.finish()).unwrap();
        assert_eq!(
            changed,
            "import a\n\n\n_c = {}\n\n\n# Runs.\n# Twice.\ndef f():\n    pass\n"
        );
    }

    #[test]
    fn keys() {
        assert_eq!(key(&[], &["a"]), None);
        assert_eq!(
            key(&["x", "y"], &["causal"]).unwrap(),
            "(x.shape, y.shape, x.dtype, y.dtype, str(x.device), causal)"
        );
    }

    #[test]
    fn a_tuned_launch() {
        let callback = |body: &str| Callback {
            written: format!("lambda cfg: {body}"),
            applied: body.to_owned(),
        };
        let launch = TunedLaunch {
            cache: "_tuned".into(),
            key: ("key".into(), "(x.shape,)".into()),
            result: "result".into(),
            config: "cfg".into(),
            tuned: "tuned".into(),
            search: "exhaustive_search".into(),
            launch: "ct.launch".into(),
            space: "list(space())".into(),
            stream: "stream".into(),
            kernel: "copy".into(),
            grid: callback("(cfg.n,)"),
            args: callback("(x, cfg.b)"),
            launch_args: "(x, cfg.b)".into(),
            hints: Hints::Named(
                callback("{'occupancy': cfg.o}"),
                vec![("occupancy".into(), "cfg.o".into())],
            ),
            timeout: None,
        };
        let wanted = "\
key = (x.shape,)
if key not in _tuned:
    result = exhaustive_search(
        list(space()),
        stream,
        lambda cfg: (cfg.n,),
        copy,
        lambda cfg: (x, cfg.b),
        lambda cfg: {'occupancy': cfg.o},
    )
    cfg = result.best.config
    _tuned[key] = (cfg, copy.replace_hints(occupancy=cfg.o))
cfg, tuned = _tuned[key]
ct.launch(stream, (cfg.n,), tuned, (x, cfg.b))";
        assert_eq!(launch.lines().join("\n"), wanted);
        let plain = TunedLaunch {
            hints: Hints::None,
            timeout: Some("5".into()),
            ..launch
        };
        let text = plain.lines().join("\n");
        assert!(text.contains("    with ct.compiler_timeout(5):\n        result = "));
        assert!(text.contains("_tuned[key] = (cfg, copy)"));
        let given = Hints::Given(callback("hints(cfg)"));
        assert_eq!(given.remade("k"), "k.replace_hints(**hints(cfg))");
    }
}
