//! An editor to be killed: it starts the server, tells its own process id and then only reads.
//!
//! `fake-editor SERVER [--leave-pipe]` prints one line of JSON, `{"server": pid, "holder": pid}`.
//! With `--leave-pipe`, a third process, the holder, keeps the server's standard input open after
//! the editor is dead, as a child of a real editor that inherited the pipe does.

use std::io::{BufReader, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tileperf_tests::wire;

fn main() {
    let mut args = std::env::args().skip(1);
    let server = args.next().expect("the server's path");
    let leave_pipe = args.next().is_some_and(|arg| arg == "--leave-pipe");

    let mut server = Command::new(server)
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the server starts");
    let mut input = server.stdin.take().expect("a pipe");
    let mut output = BufReader::new(server.stdout.take().expect("a pipe"));

    let holder = leave_pipe.then(|| {
        let pipe = input
            .as_fd()
            .try_clone_to_owned()
            .expect("a second descriptor");
        let holder = Command::new("sleep")
            .arg("600")
            .stdout(Stdio::from(pipe))
            .spawn();
        holder.expect("sleep starts")
    });

    let params = json!({"processId": std::process::id(), "rootUri": null, "capabilities": {}});
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let initialized = json!({"jsonrpc": "2.0", "method": "initialized", "params": {}});
    input
        .write_all(&wire::frame(&initialize))
        .expect("the server reads");
    wire::read(&mut output)
        .expect("a message")
        .expect("an answer");
    input
        .write_all(&wire::frame(&initialized))
        .expect("the server reads");

    println!(
        "{}",
        json!({"server": server.id(), "holder": holder.as_ref().map(Child::id)})
    );
    while wire::read(&mut output).is_ok_and(|message| message.is_some()) {}
    // Only if the server ended first.
    for mut child in holder.into_iter().chain([server]) {
        let _ = child.kill();
        let _ = child.wait();
    }
}
