//! What is left to try once a kernel has a search.
//!
//! A search leaves the kernel's body as it is, so what changes the body alone is offered afterwards as
//! before. What changes launches, or rests on what they show, is not: the search launches the kernel in
//! a way that is not followed.

use super::{Action, Optimization};

/// Adds to each search what is offered for the same kernel and still will be.
pub(super) fn note(actions: &mut [Action]) {
    let mut next: Vec<&'static Optimization> = Vec::new();
    for action in actions.iter() {
        let of_body = !matches!(
            action.optimization.id,
            "B" | "C" | "G" | "K" | "M" | "N" | "O"
        );
        if of_body && !next.contains(&action.optimization) {
            next.push(action.optimization);
        }
    }
    for action in actions.iter_mut().filter(|a| a.optimization.id == "C") {
        action.next.clone_from(&next);
    }
}

#[cfg(test)]
mod tests {
    use crate::playbook::testing::offered;
    use crate::rewrite;
    use crate::rules::testing::whole;
    use crate::rules::{BlockKind, Doc};
    use crate::target::Target;

    const KERNEL: &str = "@ct.kernel\ndef k(x, y, n, T: ct.Constant[int]):\n    i = ct.bid(0)\n    for j in range(n):\n        v = ct.exp(ct.astype(ct.load(x, (i, j), (1, T)), ct.float32))\n        ct.store(y, (i, j), ct.astype(v / ct.sum(v), y.dtype))\n\ndef run(x):\n    y = torch.empty_like(x)\n    ct.launch(torch.cuda.current_stream(), (x.shape[0],), k, (x, y, x.shape[1] // 64, 64))\n    return y\n";

    #[test]
    fn what_is_named_is_offered_afterwards() {
        let mut texts = vec![whole(KERNEL)];
        for optimization in crate::playbook::OPTIMIZATIONS {
            for block in Doc::parse(optimization.doc).blocks {
                if matches!(block.kind, BlockKind::Before) {
                    texts.push(whole(&block.code));
                }
            }
        }
        let mut named = 0;
        for text in &texts {
            let target = Target::default();
            for search in offered(text, &target)
                .iter()
                .filter(|a| a.optimization.id == "C")
            {
                assert!(!search.next.iter().any(|n| n.id == "C"));
                let applied = rewrite::apply(text, &search.edits).unwrap();
                let after = offered(&applied, &target);
                for next in &search.next {
                    let still = after.iter().any(|a| a.optimization == *next);
                    assert!(still, "{next:?} is not offered for\n{applied}");
                    named += 1;
                }
            }
        }
        assert!(named > 5, "{named}");
        let all = offered(&whole(KERNEL), &Target::default());
        let search = all.iter().find(|a| a.optimization.id == "C").unwrap();
        let words = search.next_in_words().unwrap();
        assert!(words.contains("H cheaper-math"), "{words}");
        assert!(
            all.iter()
                .all(|a| a.optimization.id == "C" || a.next.is_empty())
        );
    }
}
