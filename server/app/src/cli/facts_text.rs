//! Facts for reading in a terminal.

use std::io::{self, Write};

use tileperf_analysis::views::counts::line;
use tileperf_engine::FileFacts;

/// A fact: its line in the file, what it is, and more about it.
type Entry = (u32, String, Vec<String>);

/// Writes the facts of one file in the order of its lines.
///
/// # Errors
/// The output cannot be written.
pub(super) fn write(out: &mut impl Write, file: &FileFacts) -> io::Result<()> {
    let mut entries: Vec<Entry> = kernels(file)
        .chain(launches(file))
        .chain(searches(file))
        .chain(spaces(file))
        .chain(replaced_hints(file))
        .chain(registrations(file))
        .collect();
    entries.sort_by_key(|(line, ..)| *line);

    writeln!(out, "{}", file.path)?;
    for (line, title, details) in entries {
        writeln!(out, "{line:>6}  {title}")?;
        for detail in details {
            writeln!(out, "        {detail}")?;
        }
    }
    writeln!(out)
}

fn kernels(file: &FileFacts) -> impl Iterator<Item = Entry> {
    file.kernels.iter().map(|kernel| {
        let names = |constant: bool| {
            let params = kernel.params.iter().filter(|p| p.constant == constant);
            params
                .map(|p| p.name.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        };
        let hints = kernel
            .hints
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let hints = hints.collect::<Vec<_>>().join(", ");
        let details = [
            ("parameters", names(false)),
            ("constants", names(true)),
            ("hints", hints),
        ]
        .into_iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(title, list)| format!("{title}: {list}"));
        (
            kernel.line,
            format!("kernel {}", kernel.name),
            details.collect(),
        )
    })
}

fn launches(file: &FileFacts) -> impl Iterator<Item = Entry> {
    file.launches.iter().map(|launch| {
        let written = &launch.kernel;
        let title = match launch.candidates.join(" or ").as_str() {
            "" => format!("launch of {written}, not found in the project"),
            same if same == written => format!("launch of {written}"),
            kernels => format!("launch of {written}, which is {kernels}"),
        };
        (launch.line, title, Vec::new())
    })
}

fn searches(file: &FileFacts) -> impl Iterator<Item = Entry> {
    file.searches.iter().map(|search| {
        let title = format!("{} of {} over {}", search.api, search.kernel, search.space);
        (search.line, title, Vec::new())
    })
}

fn spaces(file: &FileFacts) -> impl Iterator<Item = Entry> {
    file.spaces.iter().map(|space| {
        let title = format!("search space {}", space.name);
        let counts: Vec<_> = space.configs.iter().map(|(a, c)| (*a, *c)).collect();
        let details = (!counts.is_empty()).then(|| format!("configurations: {}", line(&counts)));
        (
            space.line,
            title.trim_end().to_owned(),
            details.into_iter().collect(),
        )
    })
}

fn replaced_hints(file: &FileFacts) -> impl Iterator<Item = Entry> {
    file.replace_hints.iter().map(|hints| {
        let context = format!("{:?}", hints.context).to_lowercase();
        (
            hints.line,
            format!("replace_hints of {}, {context}", hints.kernel),
            Vec::new(),
        )
    })
}

fn registrations(file: &FileFacts) -> impl Iterator<Item = Entry> {
    file.registrations.iter().map(|registration| {
        let mut title = match &registration.op {
            Some(op) => format!("registration for op {op}"),
            None => "registration for an op that is not known".to_owned(),
        };
        if let Some(backend) = &registration.backend {
            title.push_str(&format!(", backend {backend}"));
        }
        if let Some(function) = &registration.function {
            title.push_str(&format!(", function {function}"));
        }
        (registration.line, title, Vec::new())
    })
}
