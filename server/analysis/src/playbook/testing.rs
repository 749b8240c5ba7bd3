//! Optimizations tried on Python texts: those of their documentation, and further ones beside each.

use tileperf_syntax::FileParser;

use smol_str::SmolStr;

use super::remade::code_without;
use super::{
    Action, Code, Compiled, Mixed, Naming, Numerics, Optimization, Remade, Search, Surroundings,
    Timed, own_uses,
};
use crate::eval::Known;
use crate::model::{FileModel, ModelCache};
use crate::rewrite;
use crate::rules::testing::whole;
use crate::rules::{KernelUses, RuleCache, check};
use crate::target::Target;

/// What all optimizations propose for the kernels of a text.
pub(crate) fn offered(text: &str, target: &Target) -> Vec<Action> {
    let parsed = FileParser::default().parse(text);
    assert!(parsed.is_clean(), "does not parse:\n{text}");
    let model = FileModel::build(&parsed, text, "", &mut ModelCache::default());
    let checked = check(&parsed, text, &model, target, &mut RuleCache::default());
    let mixed: Vec<Mixed> = text.lines().filter_map(tried).collect();
    let searched: Vec<Search> = text.lines().filter_map(recorded).collect();
    let compiled: Vec<Compiled> = text.lines().filter_map(compiled).collect();
    let remade: Vec<Remade> = (text.lines().enumerate())
        .filter_map(|(number, line)| measured(line, text, &format!("run {number}")))
        .collect();
    let all = (0..model.kernels.len()).flat_map(|number| {
        if mixed.is_empty() && searched.is_empty() && remade.is_empty() && compiled.is_empty() {
            return checked.actions(&parsed, text, &model, number);
        }
        let uses = own_uses(&model, number);
        let around = Surroundings {
            uses: &uses,
            named: None,
            elsewhere: &[],
            mixed: &mixed,
            searched: &searched,
            compiled: &compiled,
            remade: &remade,
            originals: None,
        };
        checked.actions_within(&parsed, text, &model, number, Some(around))
    });
    all.collect()
}

/// What a comment says of a measurement: `# Tried: E latency=3, faster [64-8192], slower [64-256]`.
fn tried(line: &str) -> Option<Mixed> {
    let mut parts = line.strip_prefix("# Tried: ")?.split(", ");
    let (id, variant) = parts.next()?.split_once(' ')?;
    let (mut faster, mut slower) = (Vec::new(), Vec::new());
    for part in parts {
        match part.split_once(' ')? {
            ("faster", name) => faster.push(name.to_owned()),
            ("slower", name) => slower.push(name.to_owned()),
            _ => return None,
        }
    }
    Some(Mixed {
        id: id.to_owned(),
        variant: variant.to_owned(),
        faster,
        slower,
        run: "run 3".to_owned(),
    })
}

/// What a comment says of a hint, of the first kernel as it stands:
/// `# Measured: sm_90 occupancy=2 occupancy=8 faster`; a hint that was not there has no value.
fn measured(line: &str, text: &str, run: &str) -> Option<Remade> {
    let words: Vec<&str> = line.strip_prefix("# Measured: ")?.split(' ').collect();
    let [arch, before, after, outcome] = words.as_slice() else {
        return None;
    };
    let value = |hint: &str| hint.split_once('=').map(|(_, value)| value.to_owned());
    let parsed = FileParser::default().parse(text);
    let model = FileModel::build(&parsed, text, "", &mut ModelCache::default());
    let name = after.split('=').next()?;
    Some(Remade {
        arch: arch.parse().unwrap(),
        name: SmolStr::new(name),
        before: value(before),
        after: value(after),
        code: code_without(model.kernels.first()?, text, name),
        is_faster: *outcome == "faster",
        run: run.to_owned(),
    })
}

/// What a comment says of a compiled space: `# Compiled: sm_90 f16, tm=64 occupancy=2 abc, tm=128
/// occupancy=2 refused`.
fn compiled(line: &str) -> Option<Compiled> {
    let mut parts = line.strip_prefix("# Compiled: ")?.split(", ");
    let (arch, signature) = parts.next()?.split_once(' ')?;
    let configs = parts.map(|part| {
        let (fields, code) = part.rsplit_once(' ').unwrap();
        let fields = fields.split(' ').map(|field| {
            let (name, value) = field.split_once('=').unwrap();
            (
                SmolStr::new(name),
                value.parse().map_or(Known::None, Known::Int),
            )
        });
        let code = match code {
            "refused" => Code::Refused,
            code => Code::Machine(code.to_owned()),
        };
        (fields.collect(), code)
    });
    Some(Compiled {
        arch: arch.parse().unwrap(),
        signature: signature.to_owned(),
        configs: configs.collect(),
    })
}

/// What a comment says of a search, in microseconds and half a confidence interval:
/// `# Searched: sm_90 4096, tm=64 occupancy=2 10.5, tm=128 occupancy=1 12 0.5`. A size below 128 is that
/// of a test, none is not known.
fn recorded(line: &str) -> Option<Search> {
    let mut parts = line.strip_prefix("# Searched: ")?.split(", ");
    let (arch, size) = parts.next()?.split_once(' ')?;
    let measured = parts.map(|part| {
        let (mut fields, mut times) = (Vec::new(), Vec::new());
        for word in part.split(' ') {
            match word.split_once('=') {
                Some((name, value)) => {
                    let value = value.parse().map_or(Known::None, Known::Int);
                    fields.push((SmolStr::new(name), value));
                }
                None => times.push(word.parse().unwrap()),
            }
        }
        Timed {
            fields,
            mean_us: times[0],
            error_us: times.get(1).copied().unwrap_or(0.0),
        }
    });
    Some(Search {
        arch: arch.parse().unwrap(),
        arguments: (size != "?").then(|| size.to_owned()),
        is_benchmark: size.parse().is_ok_and(|size: u32| size >= 128),
        measured: measured.collect(),
    })
}

/// What an optimization proposes for the first kernel of a text, launched once, in a workspace whose
/// other files name these things; nothing if nobody looked.
pub(crate) fn among(
    optimization: &'static Optimization,
    code: &str,
    names: Option<&[&str]>,
) -> Vec<Action> {
    let text = whole(code);
    let parsed = FileParser::default().parse(&text);
    let model = FileModel::build(&parsed, &text, "", &mut ModelCache::default());
    let target = Target::default();
    let checked = check(&parsed, &text, &model, &target, &mut RuleCache::default());
    let named = |naming: Naming<'_>| names.is_some_and(|names| names.contains(&naming.name));
    let uses = KernelUses {
        launches: 1,
        ..KernelUses::default()
    };
    let around = Surroundings {
        uses: &uses,
        named: names.is_some().then_some(&named),
        elsewhere: &[],
        mixed: &[],
        searched: &[],
        compiled: &[],
        remade: &[],
        originals: None,
    };
    let mut actions = checked.actions_within(&parsed, &text, &model, 0, Some(around));
    actions.retain(|a| a.optimization == optimization);
    actions
}

fn of(optimization: &'static Optimization, text: &str, target: &Target) -> Vec<Action> {
    let mut actions = offered(text, target);
    actions.retain(|a| a.optimization == optimization);
    for action in &actions {
        let name = action.name();
        assert!(
            !action.title.is_empty() && !action.title.ends_with('.'),
            "{name}"
        );
        assert!(
            action.numerics == Numerics::Same || optimization.numerics != Numerics::Same,
            "{name} gives other results, which its optimization does not say"
        );
        let applied = rewrite::apply(text, &action.edits);
        let applied = applied.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_ne!(applied, text, "{name} changes nothing in\n{text}");
        assert!(
            FileParser::default().parse(&applied).is_clean(),
            "{name} gives what does not parse:\n{applied}"
        );
        let same = |other: &&Action| other.variant == action.variant;
        assert_eq!(
            actions.iter().filter(same).count(),
            1,
            "{name} is there twice"
        );
    }
    actions
}

/// The variants of an optimization that a text of one kernel is offered.
pub(crate) fn variants(optimization: &'static Optimization, code: &str) -> Vec<String> {
    let actions = of(optimization, &whole(code), &Target::default());
    actions.into_iter().map(|a| a.variant).collect()
}

/// A variant makes `wanted` of `code`, and is not offered for that again.
pub(crate) fn after(
    optimization: &'static Optimization,
    code: &str,
    variant: &str,
    wanted: &str,
) -> Action {
    let text = whole(code);
    let actions = of(optimization, &text, &Target::default());
    let names: Vec<&str> = actions.iter().map(|a| a.variant.as_str()).collect();
    let action = actions.iter().find(|a| a.variant == variant);
    let action = action.unwrap_or_else(|| {
        panic!("{optimization:?} offers {names:?}, not {variant:?}, for\n{text}")
    });
    let applied = rewrite::apply(&text, &action.edits).unwrap();
    assert_eq!(applied, whole(wanted), "{}", action.name());
    let again = of(optimization, &applied, &Target::default());
    assert!(
        again.iter().all(|a| a.variant != variant),
        "{} is offered again for\n{applied}",
        action.name()
    );
    action.clone()
}

/// An optimization has nothing for a text.
pub(crate) fn none(optimization: &'static Optimization, code: &str) {
    none_for(optimization, code, &Target::default());
}

/// The same, for a target.
pub(crate) fn none_for(optimization: &'static Optimization, code: &str, target: &Target) {
    let text = whole(code);
    let actions = of(optimization, &text, target);
    let names: Vec<String> = actions.iter().map(Action::name).collect();
    assert!(
        names.is_empty(),
        "{optimization:?} offers {names:?} for\n{text}"
    );
}
