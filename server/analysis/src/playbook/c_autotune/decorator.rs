//! The hints at a kernel's decorator.

use tileperf_syntax::Span;
use tileperf_syntax::ast::{Arg, ExprKind};

use super::flow::one_line;
use super::space::{Fixed, Hint};
use crate::body::Literal;
use crate::playbook::KernelContext;
use crate::playbook::site::Refused;
use crate::rewrite::Edits;

/// The hints that are fixed at the decorator and that a search would choose.
pub(super) fn fixed(at: &KernelContext<'_>) -> Result<Fixed, Refused> {
    let value = |name: &str| -> Result<Option<Hint>, Refused> {
        let Some(hint) = at.kernel.hints.iter().find(|h| h.name == name) else {
            return Ok(None);
        };
        if hint.text == "None" {
            return Ok(None);
        }
        let constant = match at.file.module.constants.get(hint.text.as_str()) {
            Some(Literal::Int(value)) => Some(*value),
            _ => None,
        };
        let text = one_line(&hint.text).ok_or("there are comments within its hints")?;
        let number = text.parse().ok().or(constant);
        Ok(Some(Hint { text, number }))
    };
    Ok(Fixed {
        occupancy: value("occupancy")?,
        num_ctas: value("num_ctas")?,
    })
}

impl Fixed {
    /// As another file can write them, which does not know this one's names.
    pub(super) fn in_numbers(self) -> Result<Fixed, Refused> {
        let number = |hint: Option<Hint>| match hint {
            None => Ok(None),
            Some(hint) => match hint.number {
                Some(number) => Ok(Some(Hint {
                    text: number.to_string(),
                    ..hint
                })),
                None => {
                    Err("a hint at its decorator is no number, and its launch is in another file")
                }
            },
        };
        Ok(Fixed {
            occupancy: number(self.occupancy)?,
            num_ctas: number(self.num_ctas)?,
        })
    }
}

/// The decorator without hints.
pub(super) fn without<'a>(at: &KernelContext<'a>, names: &[&str]) -> Result<Edits<'a>, Refused> {
    let edits = Edits::new(at.file.text);
    let decorator = (at.file.expr(at.kernel.decorator_span)).ok_or("its decorator is not found")?;
    let ExprKind::Call { func, args } = &decorator.node.kind else {
        return Ok(edits);
    };
    let is_hint = |arg: &&Arg| {
        arg.name
            .as_ref()
            .is_some_and(|n| names.contains(&n.name.as_str()))
    };
    let hints: Vec<_> = args.iter().filter(is_hint).collect();
    if hints.is_empty() {
        return Ok(edits);
    }
    if hints.len() == args.len() {
        let parens = Span {
            start: func.span.end,
            end: decorator.node.span.end,
        };
        return Ok(edits.replace(decorator.place(parens), ""));
    }
    let element = |arg: &Arg| Span {
        start: arg
            .name
            .as_ref()
            .map_or(arg.value.span.start, |n| n.span.start),
        end: arg.value.span.end,
    };
    // Two neighbours at the end of the list would both take the comma between them.
    let last = args.last().map(element);
    if hints.len() > 1 && hints.iter().any(|a| Some(element(a)) == last) {
        let kept = args
            .iter()
            .filter(|a| !is_hint(a))
            .map(|a| at.file.source(decorator.place(element(a))));
        let kept: Vec<&str> = kept.collect();
        let inside = Span {
            start: func.span.end + 1,
            end: decorator.node.span.end.saturating_sub(1),
        };
        return Ok(edits.replace(decorator.place(inside), kept.join(", ")));
    }
    Ok(hints.into_iter().fold(edits, |edits, arg| {
        edits.delete_element(decorator.place(element(arg)))
    }))
}
