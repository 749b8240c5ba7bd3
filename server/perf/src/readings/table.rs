//! Tables as Triton's `perf_report` prints them: a title, then a pandas frame whose columns are the
//! swept arguments and one number for each backend.
//!
//! Newer Tritons put the unit behind each backend (`CuTile (GB/s)`), older ones leave it to the
//! title (`softmax-float32-GBps:`). Programs print between the lines; what is no row is passed over.

use smol_str::SmolStr;

use super::timing::{Measure, Timing, Unit};
use super::{Direction, Outcome, Reading, ReadingsError};

/// Reads every table of a text.
///
/// # Errors
/// [`ReadingsError::Elided`] if pandas shortened a table, [`ReadingsError::Unit`] if no unit is
/// known, [`ReadingsError::Nothing`] if there is no table.
pub fn parse(text: &str) -> Result<Vec<Reading>, ReadingsError> {
    let mut readings = Vec::new();
    let mut title: Option<(u32, &str)> = None;
    let mut table: Option<Table<'_>> = None;
    let mut without_unit = None;
    for (index, line) in text.lines().enumerate() {
        let number = index as u32 + 1;
        if let Some(name) = title_of(line) {
            finish(&mut table, &mut readings);
            title = Some((number, name));
        } else if let Some((_, name)) = title.take() {
            match Table::under(name, line) {
                Header::Table(found) => table = Some(found),
                Header::Elided => return Err(elided(number, name)),
                Header::NoUnit => without_unit = without_unit.or(Some((number, name))),
                Header::Other => {}
            }
        } else if let Some(open) = &mut table {
            if line.split_whitespace().next() == Some("..") {
                return Err(elided(number, open.name));
            }
            if line.trim().is_empty() {
                finish(&mut table, &mut readings);
            } else if let Some(row) = row_of(line, open.columns.len()) {
                open.rows.push(row);
            }
        }
    }
    finish(&mut table, &mut readings);
    match without_unit {
        _ if !readings.is_empty() => Ok(super::number_repetitions(readings)),
        Some((line, name)) => Err(ReadingsError::Unit {
            line,
            table: name.to_owned(),
        }),
        None => Err(ReadingsError::Nothing),
    }
}

fn elided(line: u32, table: &str) -> ReadingsError {
    ReadingsError::Elided {
        line,
        table: table.to_owned(),
    }
}

/// `softmax-performance-float32-GBps:` alone on a line.
fn title_of(line: &str) -> Option<&str> {
    let name = line.trim_end().strip_suffix(':')?;
    let plain = !name.is_empty() && !name.contains(char::is_whitespace);
    plain.then_some(name)
}

struct Column<'a> {
    name: &'a str,
    unit: Option<(Unit, f64)>,
}

struct Table<'a> {
    name: &'a str,
    columns: Vec<Column<'a>>,
    unit: Option<(Unit, f64)>,
    rows: Vec<Vec<f64>>,
}

enum Header<'a> {
    Table(Table<'a>),
    Elided,
    NoUnit,
    Other,
}

impl<'a> Table<'a> {
    fn under(name: &'a str, header: &'a str) -> Header<'a> {
        // A frame's header starts with the empty column of its index.
        if !header.starts_with(' ') {
            return Header::Other;
        }
        let names: Vec<&str> = header
            .split("  ")
            .map(str::trim)
            .filter(|n| !n.is_empty())
            .collect();
        if names.contains(&"...") || names.last() == Some(&"\\") {
            return Header::Elided;
        }
        if names.len() < 2 {
            return Header::Other;
        }
        let columns: Vec<Column<'a>> = names.into_iter().map(column).collect();
        let unit = name.rsplit('-').next().and_then(Unit::named);
        if unit.is_none() && columns.iter().all(|column| column.unit.is_none()) {
            return Header::NoUnit;
        }
        Header::Table(Table {
            name,
            columns,
            unit,
            rows: Vec::new(),
        })
    }

    /// How many leading columns are swept arguments.
    fn arguments(&self) -> usize {
        if let Some(first) = self.columns.iter().position(|column| column.unit.is_some()) {
            return first;
        }
        // Without units in the header: the first one is always an argument, and so are those after
        // it that hold only whole numbers under a name that is no backend's.
        let more = (1..self.columns.len().saturating_sub(1))
            .take_while(|&index| {
                !is_backend(self.columns[index].name)
                    && self.rows.iter().all(|row| row[index].fract() == 0.0)
            })
            .count();
        1 + more
    }

    fn readings(&self, into: &mut Vec<Reading>) {
        let arguments = self.arguments();
        let direction = direction_of(self.name);
        for row in &self.rows {
            let swept: Vec<String> = self.columns[..arguments]
                .iter()
                .zip(row)
                .map(|(column, value)| format!("{}={value}", column.name))
                .collect();
            let configuration = SmolStr::from(format!("{}[{}]", self.name, swept.join(",")));
            for (column, &value) in self.columns.iter().zip(row).skip(arguments) {
                let Some((unit, scale)) = column.unit.or(self.unit) else {
                    continue;
                };
                let median = Measure {
                    value: value * scale,
                    unit,
                };
                let usable = median.value.is_finite() && median.value > 0.0;
                into.push(Reading {
                    configuration: configuration.clone(),
                    backend: Some(column.name.to_lowercase().into()),
                    direction: Some(direction.clone()),
                    outcome: if usable {
                        Outcome::Passed
                    } else {
                        Outcome::Unusable {
                            reason: format!("the table says {value}"),
                        }
                    },
                    timing: usable.then(|| Timing::of(median)),
                });
            }
        }
    }
}

fn finish(table: &mut Option<Table<'_>>, readings: &mut Vec<Reading>) {
    if let Some(table) = table.take() {
        table.readings(readings);
    }
}

/// `CuTile (GB/s)` is the column `CuTile` in GB/s.
fn column(header: &str) -> Column<'_> {
    let with_unit = header
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" ("));
    match with_unit.and_then(|(name, unit)| Some((name, Unit::named(unit)?))) {
        Some((name, unit)) => Column {
            name,
            unit: Some(unit),
        },
        None => Column {
            name: header,
            unit: None,
        },
    }
}

/// An index and one number for each column.
fn row_of(line: &str, columns: usize) -> Option<Vec<f64>> {
    let mut words = line.split_whitespace();
    words.next()?.parse::<u32>().ok()?;
    let values: Option<Vec<f64>> = words
        .map(|word| match word {
            "None" | "<NA>" => Some(f64::NAN),
            _ => word.parse().ok(),
        })
        .collect();
    values.filter(|values| values.len() == columns)
}

fn is_backend(name: &str) -> bool {
    const KNOWN: [&str; 8] = [
        "cutile",
        "tilecpp",
        "triton",
        "torch",
        "cublas",
        "cudnn",
        "flash",
        "reference",
    ];
    let name = name.to_lowercase();
    KNOWN.iter().any(|known| name.contains(known))
}

fn direction_of(title: &str) -> Direction {
    let backward = title
        .split(['-', '_'])
        .any(|part| matches!(part, "backward" | "bwd"));
    if backward {
        Direction::Backward
    } else {
        Direction::Forward
    }
}
