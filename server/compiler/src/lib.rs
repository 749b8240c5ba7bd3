//! What NVIDIA's tool chain says of a kernel, without a GPU.
//!
//! From a slice of the user's text to facts, in the order of the flow:
//!
//! | module | does |
//! |---|---|
//! | [`environment`] | [`Found::look`](environment::Found::look) finds the project's Python, its cuda-tile and tileiras by reading files; [`Managed`](environment::Managed) keeps one apart (`toolchain install`) |
//! | [`worker`] | [`Worker`](worker::Worker): the process that runs cuTile's frontend; slices in, bytecode or a [`Problem`](worker::Problem) with its place out |
//! | [`backend`] | [`Backend::compile`](backend::Backend::compile): bytecode in, [`Outcome`](backend::Outcome) out, from the cache if the program is known |
//! | [`tileiras`] | one run of the compiler, guarded and with low priority |
//! | [`store`] | compiles on disk, by program without lines; sites follow the bytecode of the moment |
//! | [`bytecode`] | the hash of a program without its lines, and the place of each operation |
//! | [`remarks`] | what the compiler says it made of each line, typed, once each, in order |
//! | [`cubin`] | registers, stack, shared memory, threads, cluster, hints and a hash of the code |
//! | [`symbol`] | a compiled kernel's name, both ways |
//! | [`cache_db`] | what the user's own cuTile has compiled, read-only |
//! | [`doctor`] | what is installed against one another, with cures; the table of symptoms |
//!
//! Everything blocks; whoever must not wait uses a thread of its own. What can take long takes a
//! [`CancelToken`](tileperf_proc::CancelToken), and a cancelled compile is gone within 0.1 s. What a
//! workspace says is compiled only by [`worker`]; the caller has asked whether it is trusted.

pub mod backend;
pub mod bytecode;
pub mod cache_db;
pub mod cubin;
pub mod doctor;
pub mod environment;
pub mod remarks;
pub mod store;
pub mod symbol;
pub mod tileiras;
pub mod worker;

/// Ends a compile from another thread.
pub use tileperf_proc::CancelToken;
