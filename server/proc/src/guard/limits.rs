//! Limits of the program that are not limits of its guard.
//!
//! Limits pass to a child when it is made and there is no safe way to run code between fork and
//! exec. So the guard lowers its own *soft* limits for the instant in which it starts the program
//! (there is no moment at which the program runs without them) and raises them again; then it
//! lowers the program's *hard* limits too, so that they cannot be raised back.

use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};

use crate::wire::Orders;

/// Seconds between SIGXCPU and SIGKILL.
const CPU_MARGIN: u64 = 2;

/// Limits of this process that are lowered at the moment.
pub(super) struct Lowered(Vec<Change>);

struct Change {
    resource: Resource,
    before: Rlimit,
    program: Rlimit,
}

/// Lowers this process's soft limits to what the program is to get.
pub(super) fn lower(orders: &Orders) -> rustix::io::Result<Lowered> {
    let wanted = [
        (Resource::Cpu, orders.cpu_seconds, CPU_MARGIN),
        (Resource::Data, orders.memory_bytes, 0),
    ];
    let mut lowered = Lowered(Vec::new());
    for (resource, limit, margin) in wanted {
        let Some(limit) = limit else { continue };
        let before = getrlimit(resource);
        let within = |value: u64| before.maximum.map_or(value, |maximum| maximum.min(value));
        let soft = within(limit);
        setrlimit(
            resource,
            Rlimit {
                current: Some(soft),
                maximum: before.maximum,
            },
        )?;
        let hard = within(limit.saturating_add(margin));
        let program = Rlimit {
            current: Some(soft),
            maximum: Some(hard),
        };
        lowered.0.push(Change {
            resource,
            before,
            program,
        });
    }
    Ok(lowered)
}

impl Lowered {
    /// Restores this process's limits and makes those of `program` final.
    pub(super) fn restore(self, program: Option<Pid>) {
        for change in self.0 {
            let _ = setrlimit(change.resource, change.before);
            #[cfg(target_os = "linux")]
            if program.is_some() {
                // Fails if the program has already ended.
                let _ = rustix::process::prlimit(program, change.resource, change.program);
            }
            #[cfg(not(target_os = "linux"))]
            let _ = (program, change.program);
        }
    }
}
