//! Whether the editor that started the server still lives.
//!
//! End of input says so in most cases. It does not when another process has inherited the pipe, so
//! the protocol hands over the editor's process id and asks the server to leave when it is dead.

use std::time::Duration;

use rustix::process::Pid;

/// How often the editor's life is checked.
const INTERVAL: Duration = Duration::from_secs(2);

/// Resolves when process `id` is dead. Never, if the process is none that this machine can know:
/// the editor runs outside the container or at the other end of an SSH connection.
pub(super) async fn gone(id: i64) {
    let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) else {
        tracing::warn!(
            "processId {id} is no process id; the editor's end is seen by end of input only"
        );
        return std::future::pending().await;
    };
    if !is_alive(pid) && is_elsewhere() {
        tracing::warn!(
            "processId {id} is not a process of this machine or container; \
             the editor's end is seen by end of input only"
        );
        return std::future::pending().await;
    }
    while is_alive(pid) {
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Whether the process that started this one is likely in another process namespace or machine.
fn is_elsewhere() -> bool {
    rustix::process::getppid().is_none() || std::env::var_os("SSH_CONNECTION").is_some()
}

fn is_alive(pid: Pid) -> bool {
    match rustix::process::test_kill_process(pid) {
        Err(rustix::io::Errno::SRCH) => false,
        // Alive, or alive and somebody else's.
        _ => !is_zombie(pid),
    }
}

/// A killed process whose own parent has not noticed still answers signals. On systems without
/// `/proc` such a process counts as alive until it is reaped.
fn is_zombie(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    // The state follows the command's name, which is in parentheses and may contain some.
    stat.is_ok_and(|stat| {
        stat.rsplit_once(')')
            .is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
    })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "a guard would reap the child, which must stay a zombie here"
    )]
    fn a_zombie_is_dead() {
        let mut child = Command::new("sleep")
            .arg("60")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let pid = Pid::from_child(&child);
        assert!(is_alive(pid));
        child.kill().unwrap();
        // Not waited for: a zombie from here on.
        let deadline = std::time::Instant::now() + Duration::from_secs(10);
        while is_alive(pid) {
            assert!(
                std::time::Instant::now() < deadline,
                "the killed child still counts as alive"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        child.wait().unwrap();
        assert!(!is_alive(pid));
    }
}
