//! Where strides become constants, and where not.

use crate::playbook::testing::offered;
use crate::rewrite;
use crate::rules::testing::whole;
use crate::target::{Target, Version};

/// A kernel on rows of `x`, and the function that launches it.
fn code(params: &str, access: &str, host: &str) -> String {
    format!(
        "@ct.kernel\ndef k({params}, n, T: ct.Constant[int]):\n    for j in range(n):\n        {access}\n\ndef run(x, n, flag):\n    {}\n    ct.launch(s, (4,), k, (x, y, n, 8))\n",
        host.replace('\n', "\n    ")
    )
}

const COPY: &str = "ct.store(y, (ct.bid(0), j), ct.load(x, (ct.bid(0), j), (1, T)))";
const SURE: &str = "assert n and x.is_contiguous()\ny = torch.empty_like(x)";

/// The text with the strides as constants.
fn applied(text: &str, target: &Target) -> Option<String> {
    let text = whole(text);
    let all = offered(&text, target);
    let action = all.iter().find(|a| a.name() == "N strides")?;
    assert!(action.premises.is_empty() && action.title.contains("compiles it anew"));
    Some(rewrite::apply(&text, &action.edits).unwrap())
}

fn is_offered(params: &str, access: &str, host: &str) -> bool {
    applied(&code(params, access, host), &Target::default()).is_some()
}

#[test]
fn strides_of_contiguous_arrays_become_constants() {
    let text = code("x, y", COPY, SURE);
    let wanted = whole(&text).replace(
        "def k(x, y,",
        "def k(x: Annotated[ct.Array, ct.ArrayAnnotation(static_stride_dims=(0, 1))], y: Annotated[ct.Array, ct.ArrayAnnotation(static_stride_dims=(0, 1))],",
    );
    let wanted = format!("from typing import Annotated\n{wanted}");
    assert_eq!(applied(&text, &Target::default()), Some(wanted));
    // As the file has it already.
    for (import, name) in [
        ("import typing as t", "t.Annotated["),
        ("from typing import Annotated as A", "A["),
    ] {
        let text = format!("{import}\n{}", whole(&text));
        let done = applied(&text, &Target::default()).unwrap();
        assert_eq!(
            done.matches(&format!(": {name}ct.Array,")).count(),
            2,
            "{done}"
        );
        assert_eq!(
            done.matches("import").count(),
            text.matches("import").count()
        );
    }
    let old = Target {
        cuda_tile: Some(Version::new(1, 5, 0)),
        ..Target::default()
    };
    assert_eq!(applied(&text, &old), None);
}

#[test]
fn the_host_makes_sure() {
    for host in [
        SURE,
        "if not x.is_contiguous():\n    raise ValueError(x)\ny = torch.empty((4, n), device=x.device)",
        "if n < 1 or not x.is_contiguous():\n    return None\ny = torch.zeros_like(x)",
        "x = x.contiguous()\ny = torch.empty_like(x)",
        "if not x.is_contiguous():\n    x = x.contiguous()\ny = torch.empty_like(x)",
    ] {
        assert!(is_offered("x, y", COPY, host), "{host}");
    }
    for host in [
        "y = torch.empty_like(x)",
        "y = x",
        "assert x.is_contiguous() or n\ny = torch.empty_like(x)",
        "assert not x.is_contiguous()\ny = torch.empty_like(x)",
        "if x.is_contiguous():\n    return None\ny = torch.empty_like(x)",
        "assert x.is_contiguous()\ny = torch.empty_like(x, memory_format=flag)",
        "assert x.is_contiguous()\ny = torch.empty_like(x).t()",
        "assert x.is_contiguous()\ny = flag.empty_like(x)",
        "y = torch.empty_like(x)\nif flag:\n    x = x.t()\n    y = x.contiguous()",
    ] {
        assert!(!is_offered("x, y", COPY, host), "{host}");
    }
}

#[test]
fn only_plain_arrays_of_several_axes_in_a_loop() {
    assert!(is_offered("x, y", COPY, SURE));
    assert!(!is_offered("x: ct.IndexedWithInt64, y", COPY, SURE));
    for access in [
        "ct.store(y, (j,), ct.load(x, (j,), (T,)))",
        "ct.store(y, (0, j), ct.load(x, (0, 0, j), (1, 1, T)) + ct.load(x, (0, j), (1, T)))",
        "part = x.slice(1, j, j + 64)\n        ct.store(y, (0, 0), ct.load(part, (0, 0), (1, T)))",
    ] {
        assert!(!is_offered("x, y", access, SURE), "{access}");
    }
    let once = code("x, y", COPY, SURE).replace("for j in range(n):", "if n:");
    assert_eq!(applied(&once.replace("j)", "0)"), &Target::default()), None);
}
