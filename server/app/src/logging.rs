//! Log messages: to standard error or a file, never to standard output, which belongs to the
//! protocol and to results.
//!
//! The language server must not stop because nobody reads its standard error: a pipe holds 64 KiB
//! and a write to a full one blocks for good. There the lines pass through a bounded queue to a
//! thread of their own; what does not fit is dropped and counted.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::Duration;

use anyhow::Context;
use clap::ValueEnum;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Lines that may wait for a slow reader.
const QUEUED_LINES: usize = 1024;
/// How long the end of the program waits for queued lines to be written.
const FLUSH_LIMIT: Duration = Duration::from_millis(250);

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// Nothing.
    Off,
    /// Failures only.
    Error,
    /// Failures and doubtful things.
    Warn,
    /// What the program does, in a few lines.
    Info,
    /// Details for a bug report.
    Debug,
    /// Everything.
    Trace,
}

impl Level {
    fn filter(self) -> LevelFilter {
        match self {
            Self::Off => LevelFilter::OFF,
            Self::Error => LevelFilter::ERROR,
            Self::Warn => LevelFilter::WARN,
            Self::Info => LevelFilter::INFO,
            Self::Debug => LevelFilter::DEBUG,
            Self::Trace => LevelFilter::TRACE,
        }
    }
}

/// Where log lines go.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Standard error, written directly.
    Stderr,
    /// Standard error through the queue.
    QueuedStderr,
    /// A file, appended to, through the queue.
    File(PathBuf),
}

/// The level that the environment variable `TILEPERF_LOG` names, if it names one.
pub(crate) fn level_from_environment() -> Option<Level> {
    Level::from_str(&std::env::var("TILEPERF_LOG").ok()?, true).ok()
}

/// Starts logging for the whole process.
///
/// # Errors
/// The log file cannot be opened.
pub(crate) fn start(sink: Sink, level: Level) -> anyhow::Result<Log> {
    // The protocol library reports every cancellation and every unknown method on its own; the
    // transport already says what matters.
    let filter = Targets::new()
        .with_default(level.filter())
        .with_target("tower_lsp_server", level.filter().min(LevelFilter::WARN));
    let color = matches!(sink, Sink::Stderr | Sink::QueuedStderr)
        && io::stderr().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(color)
        .with_target(false);
    let registry = tracing_subscriber::registry().with(filter);

    let (queue, log) = match sink {
        Sink::Stderr => {
            registry.with(layer.with_writer(io::stderr)).init();
            return Ok(Log { queue: None });
        }
        Sink::QueuedStderr => queue_to(io::stderr())?,
        Sink::File(path) => {
            let file = OpenOptions::new().create(true).append(true).open(&path);
            queue_to(file.with_context(|| format!("cannot open log file {}", path.display()))?)?
        }
    };
    registry.with(layer.with_writer(queue)).init();
    Ok(log)
}

/// The running log; flushed before the process ends.
#[derive(Debug)]
pub(crate) struct Log {
    queue: Option<SyncSender<Item>>,
}

impl Log {
    /// Waits a moment for lines still in the queue.
    pub(crate) fn flush(&self) {
        let Some(queue) = &self.queue else { return };
        let (written, wait) = mpsc::sync_channel(1);
        if queue.try_send(Item::Flush(written)).is_ok() {
            let _ = wait.recv_timeout(FLUSH_LIMIT);
        }
    }
}

#[derive(Debug)]
enum Item {
    Line(Vec<u8>),
    Flush(SyncSender<()>),
}

/// Makes writers that put whole lines into the queue.
#[derive(Debug, Clone)]
struct Queue {
    lines: SyncSender<Item>,
    dropped: Arc<AtomicU64>,
}

impl Write for Queue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.lines.try_send(Item::Line(line.to_vec())).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Queue {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

fn queue_to(sink: impl Write + Send + 'static) -> anyhow::Result<(Queue, Log)> {
    let (lines, waiting) = mpsc::sync_channel(QUEUED_LINES);
    let dropped = Arc::new(AtomicU64::new(0));
    let queue = Queue {
        lines: lines.clone(),
        dropped: Arc::clone(&dropped),
    };
    std::thread::Builder::new()
        .name("log".into())
        .spawn(move || write_lines(&waiting, &dropped, sink))
        .context("cannot start the log thread")?;
    Ok((queue, Log { queue: Some(lines) }))
}

fn write_lines(waiting: &Receiver<Item>, dropped: &AtomicU64, mut sink: impl Write) {
    while let Ok(item) = waiting.recv() {
        match item {
            // There is nowhere left to report that the log cannot be written.
            Item::Line(line) => drop(sink.write_all(&line)),
            Item::Flush(written) => drop(written.try_send(())),
        }
        let missed = dropped.swap(0, Ordering::Relaxed);
        if missed > 0 {
            let _ = writeln!(
                sink,
                "({missed} log lines dropped: nobody read them in time)"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that never reads: the first write blocks until the test ends.
    struct Stuck(Receiver<()>);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_never_reads_blocks_nobody() {
        let (release, stuck) = mpsc::channel();
        let (mut queue, log) = queue_to(Stuck(stuck)).unwrap();
        for _ in 0..3 * QUEUED_LINES {
            queue.write_all(b"line\n").unwrap();
        }
        assert!(queue.dropped.load(Ordering::Relaxed) >= QUEUED_LINES as u64);
        log.flush();
        drop(release);
    }
}
