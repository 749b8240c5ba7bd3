//! What owner and guard say to each other: options on the command line, a report on the leash.
//!
//! Options are plain arguments, so that `ps` shows what a guard guards. After them the leash carries
//! the program's standard input towards the guard (`stdin_bytes` of it, then nothing until end of
//! file) and lines of text towards the owner: `started PID`, then one `ended ...`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::outcome::Ended;

/// How long a guard waits for processes to vanish after SIGKILL before it calls them survivors.
pub(crate) const REAP_LIMIT: Duration = Duration::from_secs(10);

/// Everything a guard is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Orders {
    pub(crate) timeout: Option<Duration>,
    pub(crate) grace: Duration,
    pub(crate) nice: u8,
    pub(crate) cpu_seconds: Option<u64>,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) stdin_bytes: u64,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) detached: bool,
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
}

impl Orders {
    pub(crate) fn new(program: OsString) -> Self {
        Self {
            timeout: None,
            grace: Duration::from_secs(2),
            nice: 0,
            cpu_seconds: None,
            memory_bytes: None,
            stdin_bytes: 0,
            directory: None,
            detached: false,
            program,
            args: Vec::new(),
        }
    }

    /// As the arguments that follow `guard`.
    pub(crate) fn to_args(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = Vec::new();
        let mut option = |name: &str, value: Option<OsString>| {
            if let Some(value) = value {
                args.extend([name.into(), value]);
            }
        };
        let number = |value: u64| Some(OsString::from(value.to_string()));
        let millis = |time: Duration| number(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        option("--timeout-ms", self.timeout.and_then(millis));
        option("--grace-ms", millis(self.grace));
        option("--nice", number(self.nice.into()));
        option("--cpu-seconds", self.cpu_seconds.and_then(number));
        option("--memory-bytes", self.memory_bytes.and_then(number));
        option("--stdin-bytes", number(self.stdin_bytes));
        option(
            "--directory",
            self.directory.clone().map(PathBuf::into_os_string),
        );
        if self.detached {
            args.push("--detached".into());
        }
        args.push("--".into());
        args.push(self.program.clone());
        args.extend(self.args.iter().cloned());
        args
    }

    /// The inverse of [`Orders::to_args`]; the error says which argument is wrong.
    pub(crate) fn from_args(args: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut args = args.into_iter();
        let mut orders = Self::new(OsString::new());
        loop {
            let name = args.next().ok_or("expected `-- program args`")?;
            let name = name.to_str().ok_or("an option that is not text")?;
            if name == "--" {
                break;
            }
            if name == "--detached" {
                orders.detached = true;
                continue;
            }
            let value = args.next().ok_or_else(|| format!("{name} needs a value"))?;
            if name == "--directory" {
                orders.directory = Some(value.into());
                continue;
            }
            let number: u64 = value
                .to_str()
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| format!("{name} needs a number, not {}", value.display()))?;
            match name {
                "--timeout-ms" => orders.timeout = Some(Duration::from_millis(number)),
                "--grace-ms" => orders.grace = Duration::from_millis(number),
                "--nice" => orders.nice = u8::try_from(number.min(19)).unwrap_or(19),
                "--cpu-seconds" => orders.cpu_seconds = Some(number),
                "--memory-bytes" => orders.memory_bytes = Some(number),
                "--stdin-bytes" => orders.stdin_bytes = number,
                _ => return Err(format!("unknown option {name}")),
            }
        }
        orders.program = args.next().ok_or("no program was named")?;
        orders.args = args.collect();
        Ok(orders)
    }
}

/// What a guard reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// The program runs under this process id.
    Started(u32),
    /// The program ended, and so did its tree.
    Ended {
        how: Ended,
        leftovers: usize,
        survivors: usize,
    },
}

impl Word {
    /// As one line with its line end.
    pub(crate) fn to_line(&self) -> String {
        match self {
            Self::Started(pid) => format!("started {pid}\n"),
            Self::Ended {
                how,
                leftovers,
                survivors,
            } => {
                let how = match how {
                    Ended::Exited { code } => format!("exited {code}"),
                    Ended::Signaled { signal } => format!("signaled {signal}"),
                    Ended::TimedOut { .. } => "timed-out".to_owned(),
                    Ended::Cancelled => "cancelled".to_owned(),
                    Ended::NotFound { .. } => "not-found".to_owned(),
                    Ended::CannotStart { why, .. } => {
                        format!("cannot-start {}", why.replace(['\n', '\r'], " "))
                    }
                };
                format!("ended {leftovers} {survivors} {how}\n")
            }
        }
    }

    /// The inverse of [`Word::to_line`]; `None` for anything that no guard says. What the owner
    /// knows itself (the program's name, the deadline) is taken from its `orders`.
    pub(crate) fn from_line(line: &str, orders: &Orders) -> Option<Self> {
        let line = line.trim_end();
        if let Some(pid) = line.strip_prefix("started ") {
            return pid.parse().ok().map(Self::Started);
        }
        let mut fields = line.strip_prefix("ended ")?.splitn(4, ' ');
        let leftovers = fields.next()?.parse().ok()?;
        let survivors = fields.next()?.parse().ok()?;
        let kind = fields.next()?;
        let detail = fields.next().unwrap_or_default();
        let program = || orders.program.to_string_lossy().into_owned();
        let how = match kind {
            "exited" => Ended::Exited {
                code: detail.parse().ok()?,
            },
            "signaled" => Ended::Signaled {
                signal: detail.parse().ok()?,
            },
            "timed-out" => Ended::TimedOut {
                after: orders.timeout?,
            },
            "cancelled" => Ended::Cancelled,
            "not-found" => Ended::NotFound { program: program() },
            "cannot-start" => Ended::CannotStart {
                program: program(),
                why: detail.to_owned(),
            },
            _ => return None,
        };
        Some(Self::Ended {
            how,
            leftovers,
            survivors,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders() -> Orders {
        Orders {
            timeout: Some(Duration::from_millis(1500)),
            grace: Duration::from_millis(250),
            nice: 10,
            cpu_seconds: Some(7),
            memory_bytes: Some(1 << 30),
            stdin_bytes: 42,
            directory: Some("/some where".into()),
            detached: true,
            program: "prog".into(),
            args: vec!["--".into(), "--nice".into(), String::new().into()],
        }
    }

    #[test]
    fn orders_survive_the_command_line() {
        for orders in [orders(), Orders::new("--odd".into())] {
            assert_eq!(Orders::from_args(orders.to_args()), Ok(orders));
        }
    }

    #[test]
    fn wrong_orders_are_refused_by_name() {
        let refused = |args: &[&str]| Orders::from_args(args.iter().map(OsString::from));
        assert_eq!(
            refused(&["--nice", "much", "--", "x"]),
            Err("--nice needs a number, not much".into())
        );
        assert_eq!(
            refused(&["--speed", "1", "--", "x"]),
            Err("unknown option --speed".into())
        );
        assert_eq!(refused(&["--"]), Err("no program was named".into()));
        assert_eq!(refused(&[]), Err("expected `-- program args`".into()));
    }

    #[test]
    fn words_survive_the_leash() {
        let program = "prog".to_owned();
        let endings = [
            Ended::Exited { code: 3 },
            Ended::Signaled { signal: 11 },
            Ended::TimedOut {
                after: Duration::from_millis(1500),
            },
            Ended::Cancelled,
            Ended::NotFound {
                program: program.clone(),
            },
            Ended::CannotStart {
                program,
                why: "Permission denied (os error 13)".into(),
            },
        ];
        let words = endings.map(|how| Word::Ended {
            how,
            leftovers: 2,
            survivors: 1,
        });
        for word in words.into_iter().chain([Word::Started(77)]) {
            assert_eq!(Word::from_line(&word.to_line(), &orders()), Some(word));
        }
        assert_eq!(Word::from_line("running 3 tests\n", &orders()), None);
    }
}
