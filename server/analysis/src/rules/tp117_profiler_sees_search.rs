//! Profiling a program that searches first.

use tileperf_syntax::ast::{Expr, ExprKind};

use super::host;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, InItem, Links};

rule! {
    /// A profiler is started on a Python program without switching tuning off: it may see every
    /// candidate of a search, not the kernel that is used.
    ///
    /// `ncu` replays each kernel it sees many times, so a search under it takes minutes and fills the
    /// report with candidates that lost, timed under replay. Set the project's switch for the run
    /// (`TILEGYM_DISABLE_AUTOTUNE=1` in TileGym), skip launches with `--launch-skip`, or capture a
    /// range that begins after tuning.
    ///
    /// ```python bad
    /// import subprocess
    ///
    /// def profile(script):
    ///     subprocess.run(["ncu", "--set", "full", "python", script], check=True)  # TP117
    /// ```
    ///
    /// ```python good
    /// import os
    /// import subprocess
    ///
    /// def profile(script):
    ///     env = {**os.environ, "TILEGYM_DISABLE_AUTOTUNE": "1"}
    ///     subprocess.run(["ncu", "--set", "full", "python", script], check=True, env=env)
    /// ```
    TP117 "profiler-sees-search" Hint,
    Workspace(check)
}

/// Options that leave a search out of what is seen.
const RANGES: [&str; 9] = [
    "launch-skip",
    "cudaprofilerapi",
    "capture-range",
    "profile-from-start",
    "nvtx-include",
    "range-filter",
    "kernel-id",
    "replay-mode=range",
    "delay",
];

fn check(file: &FileContext<'_>, _: &dyn Links, out: &mut Findings<'_>) {
    let mut scopes = vec![host::module(file)];
    scopes.extend(
        host::functions(file)
            .into_iter()
            .map(|def| vec![def.with(def.node.body.as_slice())]),
    );
    let mut commands = Vec::new();
    let mut switched = false;
    for scope in &scopes {
        host::each(scope, &mut |expr, _| {
            switched |= switches(file, expr.node);
            if let Some(profiler) = command(file, expr) {
                commands.push((expr.place(expr.node.span), profiler));
            }
        });
    }
    if switched {
        return;
    }
    let switch = file.target.conventions.autotune_switches.first();
    let switch = switch.map_or("a switch", String::as_str);
    for (place, profiler) in commands {
        out.push(
            place,
            format!(
                "`{profiler}` may see every candidate of a search in what it runs: set `{switch}=1` for \
                 the run, or skip the search with `--launch-skip` or a capture range"
            ),
        );
    }
}

/// Whether an expression names a switch that turns tuning off.
fn switches(file: &FileContext<'_>, expr: &Expr) -> bool {
    let known = &file.target.conventions.autotune_switches;
    let is_one = |text: &str| known.iter().any(|s| text.contains(s.as_str()));
    match &expr.kind {
        ExprKind::Str(text) => is_one(text),
        ExprKind::Call { args, .. } => {
            (args.iter()).any(|a| a.name.as_ref().is_some_and(|n| is_one(&n.name)))
        }
        _ => false,
    }
}

/// The profiler that a command starts on a Python program: a list of words that begins with it, or
/// the text given to something that runs commands.
fn command<'a>(file: &FileContext<'a>, expr: InItem<'a, Expr>) -> Option<&'static str> {
    match &expr.node.kind {
        ExprKind::List(items) | ExprKind::Tuple(items) => {
            let ExprKind::Str(first) = &items.first()?.kind else {
                return None;
            };
            let words: Vec<String> = (items.iter())
                .map(|item| match &item.kind {
                    ExprKind::Str(text) => text.clone(),
                    _ => file.source(expr.place(item.span)).to_owned(),
                })
                .collect();
            profiled(first, &words)
        }
        ExprKind::Call { func, args } => {
            let path = file.module.path(func)?;
            let runs = path.starts_with("subprocess.")
                || matches!(path.as_str(), "os.system" | "os.popen" | "shlex.split");
            let given = expr.with(&args.first().filter(|_| runs)?.value);
            let mut given = host::follow(file, given);
            // `command.split()`
            if let Some((text, "split", _)) = host::method(given.node) {
                given = host::follow(file, given.with(text));
            }
            let text = match &given.node.kind {
                ExprKind::Str(text) => text.clone(),
                // The text itself with what is put into it.
                ExprKind::FString(_) => {
                    let written = file.source(given.place(given.node.span));
                    let quoted = written.trim_start_matches(['f', 'F', 'r', 'R']);
                    quoted.trim_matches(['"', '\'']).to_owned()
                }
                _ => return None,
            };
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            profiled(words.first()?, &words)
        }
        _ => None,
    }
}

/// The profiler that words start on a Python program, without a range.
fn profiled(first: &str, words: &[String]) -> Option<&'static str> {
    let profiler = match first.rsplit('/').next()? {
        "ncu" | "nv-nsight-cu-cli" => "ncu",
        "nsys" => "nsys",
        _ => return None,
    };
    if profiler == "nsys" && words.get(1).map(String::as_str) != Some("profile") {
        return None;
    }
    let python = words.iter().any(|word| {
        let program = word.rsplit('/').next().unwrap_or_default();
        program.starts_with("python")
            || program.ends_with(".py")
            || program == "pytest"
            || program.contains("sys.executable")
    });
    let ranged = words.iter().any(|word| {
        let lower = word.to_ascii_lowercase();
        lower == "-s" && profiler == "ncu" || RANGES.iter().any(|r| lower.contains(r))
    });
    (python && !ranged).then_some(profiler)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    #[test]
    fn commands_that_profile_everything() {
        for command in [
            "os.system('ncu -o report python bench.py')  # TP117",
            "os.popen(f'ncu --set full -o {name} python bench.py')  # TP117",
            "subprocess.check_call('/usr/local/cuda/bin/ncu python3 x.py', shell=True)  # TP117",
            "subprocess.Popen(['nsys', 'profile', '-o', out, sys.executable, 'bench.py'])  # TP117",
            "cmd = 'ncu python b.py'\nsubprocess.run(cmd.split())  # TP117",
            "cmd = ['ncu', '--csv', 'pytest', '-k', 'perf'] + extra  # TP117",
            "def command(script):\n    return ['nsys', 'profile', 'python', script]  # TP117",
        ] {
            bad(&RULE, &format!("import os, subprocess, sys\n{command}\n"));
        }
        bad(
            &RULE,
            "import subprocess\nCMD = 'ncu python bench.py'\ndef run():\n    subprocess.run(CMD, shell=True)  # TP117\n",
        );
    }

    #[test]
    fn commands_that_see_no_search() {
        for command in [
            "subprocess.run(['ncu', '--launch-skip', '30', 'python', 'bench.py'])",
            "subprocess.run(['ncu', '-s', '30', 'python', 'bench.py'])",
            "subprocess.run(['nsys', 'profile', '-c', 'cudaProfilerApi', 'python', 'b.py'])",
            "subprocess.run(['ncu', '--profile-from-start', 'off', 'python', 'b.py'])",
            // Nothing of Python's is run.
            "subprocess.run(['ncu', '--version'])",
            "subprocess.run(['ncu', './a.out'])",
            "subprocess.run(['nsys', 'stats', 'report.nsys-rep', 'python'])",
            "subprocess.run(['nsys', 'export', '-o', 'x.py'])",
            // Switched off, in the command or beside it.
            "os.environ['DISABLE_AUTOTUNE'] = '1'\nsubprocess.run(['ncu', 'python', 'b.py'])",
            "subprocess.run(['ncu', 'python', 'b.py'], env=dict(os.environ, TILEGYM_DISABLE_AUTOTUNE='1'))",
            "os.system('TILEGYM_DISABLE_AUTOTUNE=1 ncu python b.py')",
            // Only text.
            "HELP = 'ncu python bench.py'",
            "print('ncu python bench.py')",
            "words = ['profiler', 'ncu', 'python']",
        ] {
            good(&RULE, &format!("import os, subprocess\n{command}\n"));
        }
        good(
            &RULE,
            "def bench():\n    \"\"\"ncu python bench.py\"\"\"\n    # ncu python bench.py\n",
        );
    }
}
