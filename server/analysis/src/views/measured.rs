//! What was measured of a kernel: in few words for its lens, as a table for its card.
//!
//! A number is shown with what it is compared with, and on the card with where and when it was
//! measured. One that belongs to another text than the present one is marked, not dropped.

/// Configurations listed on a card; more would fill the screen.
const MOST_ROWS: usize = 12;

/// Total latency now and at iteration 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latency {
    /// Of the last kept code: milliseconds, or a cost that grows with time.
    pub current: f64,
    /// Of iteration 0, in the same unit.
    pub baseline: f64,
    /// The two are milliseconds. The reciprocal of a rate has no unit worth showing.
    pub is_time: bool,
}

impl Latency {
    /// In full: `0.390000 ms, 2.10x of 0.820000 ms`.
    pub fn text(&self) -> String {
        match (self.is_time, self.is_changed()) {
            (true, true) => format!(
                "{:.6} ms, {} of {:.6} ms",
                self.current,
                self.factor(),
                self.baseline
            ),
            (true, false) => format!("{:.6} ms", self.current),
            (false, true) => format!("{} of iteration 0", self.factor()),
            (false, false) => "as at iteration 0".to_owned(),
        }
    }

    /// For a lens: `0.390000 ms (2.10x)`. Nothing where there is neither a time nor a change.
    fn short(&self) -> Option<String> {
        match (self.is_time, self.is_changed()) {
            (true, true) => Some(format!("{:.6} ms ({})", self.current, self.factor())),
            (true, false) => Some(format!("{:.6} ms", self.current)),
            (false, true) => Some(self.factor()),
            (false, false) => None,
        }
    }

    fn is_changed(&self) -> bool {
        self.current != self.baseline
    }

    fn factor(&self) -> String {
        format!("{:.2}x", self.baseline / self.current)
    }
}

/// What a lens says of measurements.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// The total.
    pub latency: Option<Latency>,
    /// The last decision in few words: `kept: 22.68 % faster`.
    pub verdict: Option<String>,
    /// The text is not what was measured.
    pub stale: bool,
}

impl Measured {
    /// The parts of a lens title.
    pub fn parts(&self) -> Vec<String> {
        let mut parts: Vec<String> = self.latency.iter().filter_map(Latency::short).collect();
        parts.extend(self.verdict.clone());
        if self.stale && !parts.is_empty() {
            parts.push("stale".to_owned());
        }
        parts
    }
}

/// One configuration on a card.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its short name.
    pub configuration: String,
    /// `forward`, `backward` or a project's own word.
    pub direction: String,
    /// Median before the change: milliseconds, or a cost.
    pub base: f64,
    /// Median with the change.
    pub candidate: f64,
    /// The two are milliseconds.
    pub is_time: bool,
    /// Relative change: -0.05 is 5 % faster.
    pub change: f64,
    /// The ends of its interval.
    pub interval: (f64, f64),
    /// `FASTER`, `SLOWER`, ...; none where the code was only compared with itself.
    pub verdict: Option<String>,
}

/// What a card says of measurements.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeasuredCard {
    /// The total.
    pub latency: Option<Latency>,
    /// The last decision in few words.
    pub verdict: Option<String>,
    /// What the rows are of: `iteration 3: occupancy=4`.
    pub of: String,
    /// The last measurement by configuration.
    pub rows: Vec<Row>,
    /// Where, when and how well: `NVIDIA H200 (sm_90), 2026-11-29 10:15 UTC`, ...
    pub conditions: Vec<String>,
    /// Why the numbers are not those of the present text.
    pub stale: Option<String>,
}

/// The section of a card, after an empty line.
pub fn section(card: &MeasuredCard) -> String {
    let mut head: Vec<String> = card.latency.iter().map(Latency::text).collect();
    head.extend(card.verdict.clone());
    if head.is_empty() && card.rows.is_empty() {
        return String::new();
    }
    let mut out = format!("\n**Measured** {}\n", head.join("; "));
    if !card.rows.is_empty() {
        out.push_str(&format!("\n{}:\n\n", plain(&card.of)));
        out.push_str(match card.rows.iter().any(|row| row.verdict.is_some()) {
            true => {
                "| configuration | before | after | change | interval | verdict |\n\
                 |:--|--:|--:|--:|:-:|:--|\n"
            }
            false => "| configuration | median | against itself |\n|:--|--:|:-:|\n",
        });
        for row in card.rows.iter().take(MOST_ROWS) {
            out.push_str(&line(row));
        }
        if card.rows.len() > MOST_ROWS {
            out.push_str(&format!(
                "\nand {} more configurations\n",
                card.rows.len() - MOST_ROWS
            ));
        }
    }
    out.push('\n');
    if let Some(why) = &card.stale {
        out.push_str(&format!("- **stale**: {}\n", plain(why)));
    }
    for condition in &card.conditions {
        out.push_str(&format!("- {}\n", plain(condition)));
    }
    out
}

fn line(row: &Row) -> String {
    let cost = |cost: f64| match row.is_time {
        true => format!("{cost:.6} ms"),
        false => format!("{cost:.6}"),
    };
    let name = format!("{} {}", plain(&row.configuration), plain(&row.direction));
    let interval = format!("{} to {}", percent(row.interval.0), percent(row.interval.1));
    match &row.verdict {
        Some(verdict) => format!(
            "| {name} | {} | {} | {} | {interval} | {verdict} |\n",
            cost(row.base),
            cost(row.candidate),
            percent(row.change),
        ),
        None => format!("| {name} | {} | {interval} |\n", cost(row.base)),
    }
}

/// A relative change: -0.0952 is `-9.52 %`.
pub fn percent(change: f64) -> String {
    let text = format!("{:+.2} %", change * 100.0);
    match text.as_str() {
        "-0.00 %" | "+0.00 %" => "0.00 %".to_owned(),
        _ => text,
    }
}

/// Names from elsewhere, as text and not as Markdown: a parameter id may hold anything.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '|' | '*' | '_' | '`' | '<' | '[' | ']' | '\\' | '#' | '!' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATENCY: Latency = Latency {
        current: 0.39,
        baseline: 0.82,
        is_time: true,
    };

    #[test]
    fn a_latency_is_told_with_what_it_is_compared_with() {
        assert_eq!(LATENCY.text(), "0.390000 ms, 2.10x of 0.820000 ms");
        let same = Latency {
            current: 0.82,
            ..LATENCY
        };
        assert_eq!(same.text(), "0.820000 ms");
        let rate = Latency {
            is_time: false,
            ..LATENCY
        };
        assert_eq!(rate.text(), "2.10x of iteration 0");
    }

    #[test]
    fn a_lens_marks_what_is_stale_and_nothing_else() {
        let mut measured = Measured {
            latency: Some(LATENCY),
            verdict: Some("kept: 22.68 % faster".into()),
            stale: true,
        };
        let parts = measured.parts();
        assert_eq!(
            parts,
            ["0.390000 ms (2.10x)", "kept: 22.68 % faster", "stale"]
        );
        measured.stale = false;
        assert_eq!(measured.parts().len(), 2);
        let nothing = Measured {
            stale: true,
            ..Measured::default()
        };
        assert!(nothing.parts().is_empty());
    }

    #[test]
    fn a_card_keeps_foreign_names_in_their_cells() {
        let card = MeasuredCard {
            latency: Some(LATENCY),
            of: "iteration 3: occupancy=4".into(),
            rows: vec![Row {
                configuration: "[a|b]".into(),
                direction: "forward".into(),
                base: 0.5,
                candidate: 0.4,
                is_time: true,
                change: -0.2,
                interval: (-0.21, 0.000_01),
                verdict: Some("FASTER".into()),
            }],
            conditions: vec!["CPU".into()],
            stale: Some("scale.py was edited".into()),
            ..MeasuredCard::default()
        };
        let text = section(&card);
        assert!(
            text.contains(
                "| \\[a\\|b\\] forward | 0.500000 ms | 0.400000 ms | -20.00 % | -21.00 % to 0.00 % | \
                 FASTER |"
            ),
            "{text}"
        );
        assert!(text.contains("- **stale**: scale.py was edited"), "{text}");
        let mut baseline = card;
        baseline.rows[0].verdict = None;
        let text = section(&baseline);
        assert!(
            text.contains("forward | 0.500000 ms | -21.00 % to 0.00 % |"),
            "{text}"
        );
        assert_eq!(section(&MeasuredCard::default()), "");
    }
}
