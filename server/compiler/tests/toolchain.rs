//! With the real tool chain, where `TILEPERF_TEST_TILEIRAS` names a Python that has it.
#![cfg(unix)]

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use support::{real, request};
use tileperf_analysis::arch::Arch;
use tileperf_compiler::backend::Backend;
use tileperf_compiler::environment::{Compiler, Origin};
use tileperf_compiler::remarks::{Access, Kind, Remarks};
use tileperf_compiler::store::Store;
use tileperf_compiler::tileiras::{self, Error, Job, Tileiras};
use tileperf_compiler::worker::{Answer, Limits, Worker};
use tileperf_compiler::{bytecode, cubin};
use tileperf_proc::CancelToken;

const KERNEL: &str = "import cuda.tile as ct


def row(x, i, n: ct.Constant[int]):
    return ct.load(x, index=(i, 0), shape=(16, n), padding_mode=ct.PaddingMode.NEG_INF)


@ct.kernel(occupancy=2)
def scale(x, y, N: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(y, index=(i, 0), tile=row(x, i, N) * 2 + ct.load(y, index=(i, 0), shape=(16, N)))
";

fn bytecode_of(worker: &Worker, text: &str) -> Vec<u8> {
    match worker.compile(&request(text, "scale"), &CancelToken::new()) {
        Ok(Answer::Compiled(compiled)) => compiled.bytecode,
        other => panic!("{other:?}"),
    }
}

fn lines(remarks: &Remarks, wanted: fn(&Kind) -> bool) -> Vec<u32> {
    let found = remarks.all.iter().filter(|remark| wanted(&remark.kind));
    found
        .filter_map(|remark| Some(remark.site.as_ref()?.line))
        .collect()
}

fn is_load(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Tma {
            access: Access::Load,
            ..
        } | Kind::Plain {
            access: Access::Load,
            ..
        }
    )
}

/// From text to facts, and again from the cache with lines that have moved.
#[test]
fn a_kernel_and_the_same_after_edits_above_it() {
    let Some(environment) = real() else { return };
    let cache = tempfile::tempdir().unwrap();
    let compiler = environment.compiler.clone().unwrap();
    let worker = Worker::new(environment, cache.path(), Limits::default()).unwrap();
    let hello = worker.hello(&CancelToken::new()).unwrap().unwrap();
    assert_eq!(hello.cuda_tile, "1.7.0");
    let backend = || {
        let store = Store::in_cache(cache.path());
        Backend::new(
            Tileiras::new(compiler.clone()),
            store,
            tileiras::Limits::default(),
        )
    };
    let before = bytecode_of(&worker, KERNEL);
    assert!(bytecode::places(&before).iter().any(|site| site.line == 11));
    let cancel = CancelToken::new();
    let first = backend().compile(&before, Arch::Sm90, &cancel).unwrap();
    assert!(!first.cached);
    assert_eq!(first.cubin.sm, 90);
    let kernel = &first.cubin.kernels[0];
    assert!(kernel.symbol.starts_with("scale_K"));
    assert_eq!(kernel.hints[0].name, "occupancy");
    let remarks = first.remarks.as_ref().unwrap();
    assert_eq!(remarks.unreadable, 0);
    assert_eq!(lines(remarks, is_load), [5, 11]);
    let reasons = remarks.all.iter().find_map(|remark| match &remark.kind {
        Kind::Plain {
            access: Access::Load,
            reasons,
        } => Some(reasons.clone()),
        _ => None,
    });
    assert_eq!(reasons.unwrap(), ["TMA only supports zero padding"]);

    // Two lines above all, three more between the helper and the kernel.
    let edited = KERNEL
        .replace("import", "\n\nimport")
        .replace("@ct", "\n\n\n@ct");
    let after = bytecode_of(&worker, &edited);
    assert_ne!(after, before);
    assert_eq!(
        bytecode::program_hash(&after),
        bytecode::program_hash(&before)
    );
    let backend = backend();
    let asked = Instant::now();
    let again = backend.compile(&after, Arch::Sm90, &cancel).unwrap();
    let took = asked.elapsed();
    assert!(again.cached && took < Duration::from_millis(50), "{took:?}");
    assert_eq!(again.cubin, first.cubin);
    let moved = again.remarks.unwrap();
    assert_eq!(lines(&moved, is_load), [7, 16]);
    assert_eq!(moved.all.len(), remarks.all.len());
    let file = backend.file(&after, Arch::Sm90).unwrap();
    assert_eq!(cubin::read(&file).unwrap(), first.cubin);

    let other = bytecode_of(&worker, &KERNEL.replace("* 2", "* 3"));
    assert!(backend.known(&other, Arch::Sm90).is_none());
    assert!(backend.known(&before, Arch::Sm100).is_none());
}

#[test]
fn every_architecture_compiles_and_says_which_it_is() {
    let Some(environment) = real() else { return };
    let cache = tempfile::tempdir().unwrap();
    let tileiras = Tileiras::new(environment.compiler.clone().unwrap());
    let worker = Worker::new(environment, cache.path(), Limits::default()).unwrap();
    let bytecode = bytecode_of(&worker, KERNEL);
    for arch in [Arch::Sm80, Arch::Sm89, Arch::Sm100, Arch::Sm120] {
        let job = Job {
            bytecode: &bytecode,
            arch,
            opt_level: 3,
        };
        let output = tileiras.compile(job, tileiras::Limits::default(), &CancelToken::new());
        let output = output.unwrap();
        let cubin = cubin::read(&output.cubin).unwrap();
        assert_eq!(cubin.sm, arch.sm());
        assert!(
            cubin::tile_ir(&output.cubin)
                .unwrap()
                .unwrap()
                .contains("entry @scale")
        );
        // Every cut of a real file is refused or read, never a panic.
        for at in (0..output.cubin.len()).step_by(997) {
            let _ = cubin::read(&output.cubin[..at]);
        }
    }
}

#[test]
fn a_program_that_is_none_is_refused_and_a_stale_one_killed() {
    let Some(environment) = real() else { return };
    let cache = tempfile::tempdir().unwrap();
    let tileiras = Tileiras::new(environment.compiler.clone().unwrap());
    let job = |bytecode| Job {
        bytecode,
        arch: Arch::Sm90,
        opt_level: 3,
    };
    let limits = tileiras::Limits::default();
    let refused = tileiras.compile(job(b"no bytecode"), limits, &CancelToken::new());
    assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");

    // A multiplication without tensor cores: ten seconds and more.
    let slow = "import cuda.tile as ct


@ct.kernel
def scale(x, y, N: ct.Constant[int]):
    a = ct.astype(ct.load(x, index=(0, 0), shape=(128, 128)), ct.float32)
    ct.store(y, index=(0, 0), tile=ct.astype(ct.matmul(a, a), ct.float16))
";
    let worker = Worker::new(environment, cache.path(), Limits::default()).unwrap();
    let bytecode = bytecode_of(&worker, slow);
    let cancel = CancelToken::new();
    let took = std::thread::scope(|scope| {
        let thread = scope.spawn(|| tileiras.compile(job(&bytecode), limits, &cancel));
        std::thread::sleep(Duration::from_millis(700));
        let asked = Instant::now();
        cancel.cancel();
        assert_eq!(thread.join().unwrap(), Err(Error::Cancelled));
        asked.elapsed()
    });
    println!("killed in {took:?}");
    assert!(took < Duration::from_millis(500), "{took:?}");
    let brief = tileiras::Limits {
        time: Duration::from_millis(300),
        ..limits
    };
    let late = tileiras.compile(job(&bytecode), brief, &CancelToken::new());
    assert_eq!(late, Err(Error::TimedOut(Duration::from_millis(300))));
}

/// The most frequent public complaint: "Return code 5". A copy of tileiras without its libnvvm.
#[test]
fn a_compiler_without_its_library_is_told_from_a_wrong_program() {
    let Some(environment) = real() else { return };
    let cache = tempfile::tempdir().unwrap();
    let compiler = environment.compiler.clone().unwrap();
    let worker = Worker::new(environment, cache.path(), Limits::default()).unwrap();
    let bytecode = bytecode_of(&worker, KERNEL);
    let alone = cache.path().join("alone/bin/tileiras");
    std::fs::create_dir_all(alone.parent().unwrap_or(Path::new("/"))).unwrap();
    std::fs::copy(&compiler.tileiras, &alone).unwrap();
    let alone = Tileiras::new(Compiler::at(alone, Origin::Path));
    let job = Job {
        bytecode: &bytecode,
        arch: Arch::Sm90,
        opt_level: 3,
    };
    let unusable = alone.compile(job, tileiras::Limits::default(), &CancelToken::new());
    assert_eq!(unusable, Err(Error::Unusable));
    let release = Tileiras::new(compiler)
        .release()
        .map(|release| release.major);
    assert_eq!(release, Some(13));
}
