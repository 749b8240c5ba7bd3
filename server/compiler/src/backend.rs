//! The second tier: bytecode in, facts out, from the cache if the program was compiled before.

use tileperf_analysis::arch::Arch;
use tileperf_proc::CancelToken;

use crate::cubin::{self, Cubin};
use crate::remarks::{Remarks, Site};
use crate::store::{Entry, Key, Store};
use crate::tileiras::{Error, Job, Limits, Tileiras};

/// cuTile's default.
const OPT_LEVEL: u8 = 3;

/// What is known of a kernel on one architecture.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What it takes.
    pub cubin: Cubin,
    /// What the compiler says it did; `None` from a release that does not say.
    pub remarks: Option<Remarks>,
    /// How long compiling took, then.
    pub seconds: f64,
    /// Whether it was known before.
    pub cached: bool,
}

/// A compiler with its cache. One is shared by all threads.
#[derive(Debug)]
pub struct Backend {
    tileiras: Tileiras,
    store: Store,
    limits: Limits,
}

impl Backend {
    /// Nothing is started or read yet.
    #[must_use]
    pub fn new(tileiras: Tileiras, store: Store, limits: Limits) -> Self {
        Self {
            tileiras,
            store,
            limits,
        }
    }

    /// What tells this compiler from others: its release, else its path.
    #[must_use]
    pub fn compiler(&self) -> &str {
        self.tileiras.identity()
    }

    /// What is known without compiling.
    #[must_use]
    pub fn known(&self, bytecode: &[u8], arch: Arch) -> Option<Result<Outcome, Error>> {
        let entry = self.store.get(&self.key(bytecode, arch), bytecode)?;
        Some(match entry {
            Entry::Compiled {
                cubin,
                remarks,
                seconds,
            } => Ok(Outcome {
                cubin,
                remarks,
                seconds,
                cached: true,
            }),
            Entry::Refused { message, place } => Err(Error::Refused { message, place }),
        })
    }

    /// Compiles, unless it is known.
    ///
    /// # Errors
    /// As [`Tileiras::compile`]; a cubin that cannot be read is [`Error::Cannot`].
    pub fn compile(
        &self,
        bytecode: &[u8],
        arch: Arch,
        cancel: &CancelToken,
    ) -> Result<Outcome, Error> {
        if let Some(known) = self.known(bytecode, arch) {
            return known;
        }
        let key = self.key(bytecode, arch);
        let job = Job {
            bytecode,
            arch,
            opt_level: OPT_LEVEL,
        };
        let output = match self.tileiras.compile(job, self.limits, cancel) {
            Ok(output) => output,
            Err(error) => {
                if let Error::Refused { message, place } = &error {
                    let (message, place): (String, Option<Site>) = (message.clone(), place.clone());
                    let entry = Entry::Refused { message, place };
                    self.store.put(&key, bytecode, &entry, None);
                }
                return Err(error);
            }
        };
        let cubin = cubin::read(&output.cubin).map_err(|error| Error::Cannot(error.to_string()))?;
        let entry = Entry::Compiled {
            cubin: cubin.clone(),
            remarks: output.remarks.clone(),
            seconds: output.seconds,
        };
        self.store.put(&key, bytecode, &entry, Some(&output.cubin));
        Ok(Outcome {
            cubin,
            remarks: output.remarks,
            seconds: output.seconds,
            cached: false,
        })
    }

    /// The compiled file of a program that was compiled before.
    #[must_use]
    pub fn file(&self, bytecode: &[u8], arch: Arch) -> Option<Vec<u8>> {
        self.store.cubin(&self.key(bytecode, arch))
    }

    fn key(&self, bytecode: &[u8], arch: Arch) -> Key {
        Key::of(bytecode, arch, self.tileiras.identity(), OPT_LEVEL)
    }
}
