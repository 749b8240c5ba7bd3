//! What the user's cuTile has compiled on this machine: its own cache, a SQLite file.
//!
//! It is only ever read. cuTile deletes the file if it meets any error in it, a lock held for five
//! seconds included, so everything here is read in short steps: the list without the programs, and
//! each program by itself.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};
use serde::Deserialize;

use crate::environment::Variables;
use crate::remarks::{self, Remarks};

const FILE: &str = "cache.db";
/// The newest layout of the metadata that is known.
const METADATA_VERSION: u32 = 1;
/// How long to wait for a writer.
const PATIENCE: Duration = Duration::from_millis(200);
/// No cubin is larger.
const LARGEST_PROGRAM: i64 = 256 << 20;

/// Why the cache cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is none yet.
    #[error("there is no cache at {}", .0.display())]
    Missing(PathBuf),
    /// The user has switched it off.
    #[error("CUDA_TILE_CACHE_DIR switches cuTile's cache off")]
    Off,
    /// Somebody writes it at this moment.
    #[error("cuTile's cache is being written by another process")]
    Busy,
    /// The file is no database, or damaged.
    #[error("{} is no readable database: {why}; cuTile makes it anew when it is deleted", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// SQLite's words.
        why: String,
    },
    /// The file may not be read.
    #[error("{} cannot be opened: {why}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// SQLite's words.
        why: String,
    },
    /// A layout of a newer cuTile.
    #[error("cuTile's cache has a layout that is not known here: {0}")]
    Unknown(String),
}

/// One compiled program.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// cuTile's key.
    pub key: String,
    /// Bytes of the program.
    pub size: u64,
    /// When it was last used, in seconds since 1970.
    pub used: f64,
    /// The mangled names in it; empty if cuTile did not say.
    pub symbols: Vec<String>,
    /// What `tileiras --version` said, in its own words.
    pub compiler: Option<String>,
    /// How long compiling took, in seconds.
    pub seconds: Option<f64>,
    /// What the compiler said of it; `None` from before it did.
    pub remarks: Option<Remarks>,
}

/// The metadata of cuTile 1.6 and later. All of it may be missing.
#[derive(Debug, Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    version: u32,
    #[serde(default)]
    kernel_names: Option<Vec<String>>,
    #[serde(default)]
    compiler_version: Option<String>,
    #[serde(default)]
    compilation_time_seconds: Option<f64>,
    #[serde(default)]
    remarks: Option<String>,
}

/// Where cuTile keeps its cache with these variables.
///
/// # Errors
/// [`Error::Off`], or no home folder.
pub fn file(variables: Variables<'_>) -> Result<PathBuf, Error> {
    let text = |name: &str| variables(name).map(|value| value.to_string_lossy().into_owned());
    if let Some(folder) = text("CUDA_TILE_CACHE_DIR") {
        if matches!(
            folder.trim().to_lowercase().as_str(),
            "" | "0" | "off" | "none"
        ) {
            return Err(Error::Off);
        }
        return Ok(Path::new(&folder).join(FILE));
    }
    let home = || Some(Path::new(&text("HOME")?).join(".cache"));
    let base = text("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    let base =
        base.ok_or_else(|| Error::Missing(Path::new("~/.cache/cutile-python").join(FILE)))?;
    Ok(base.join("cutile-python").join(FILE))
}

/// The cache, open for reading.
#[derive(Debug)]
pub struct CacheDb {
    path: PathBuf,
    connection: Connection,
    with_metadata: bool,
}

impl CacheDb {
    /// Opens a cache without touching it.
    ///
    /// # Errors
    /// [`Error`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        if !path.exists() {
            return Err(Error::Missing(path.to_owned()));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let explained = |error| explain(path, &error);
        let connection = Connection::open_with_flags(path, flags).map_err(explained)?;
        connection.busy_timeout(PATIENCE).map_err(explained)?;
        let columns = columns(&connection).map_err(explained)?;
        let missing = ["key", "blob", "blob_size", "atime"];
        if let Some(missing) = missing
            .iter()
            .find(|name| !columns.iter().any(|c| c == *name))
        {
            return Err(Error::Unknown(format!("the table cache has no {missing}")));
        }
        Ok(Self {
            path: path.to_owned(),
            with_metadata: columns.iter().any(|column| column == "metadata"),
            connection,
        })
    }

    /// How many programs it has.
    ///
    /// # Errors
    /// [`Error`].
    pub fn count(&self) -> Result<u64, Error> {
        let count = self
            .connection
            .query_row("SELECT count(*) FROM cache", [], |row| row.get(0));
        let count: i64 = count.map_err(|error| explain(&self.path, &error))?;
        Ok(count.unsigned_abs())
    }

    /// The programs used at or after `since` (seconds since 1970), the last used first, at most
    /// `most`. A row that cannot be read is left out.
    ///
    /// # Errors
    /// [`Error`].
    pub fn rows(&self, since: f64, most: u32) -> Result<Vec<Row>, Error> {
        let metadata = if self.with_metadata {
            "metadata"
        } else {
            "NULL"
        };
        let query = format!(
            "SELECT key, blob_size, atime, {metadata} FROM cache WHERE atime >= ?1 \
             ORDER BY atime DESC, key DESC LIMIT ?2"
        );
        let explained = |error| explain(&self.path, &error);
        // All is fetched before anything is parsed: no lock is held meanwhile.
        let mut statement = self.connection.prepare(&query).map_err(explained)?;
        let fetched = statement.query_map((since, most), |row| {
            let (key, size): (String, i64) = (row.get(0)?, row.get(1)?);
            let (used, metadata): (f64, Option<String>) = (row.get(2)?, row.get(3)?);
            Ok((key, size, used, metadata))
        });
        let mut rows = Vec::new();
        for row in fetched.map_err(explained)? {
            match row {
                Ok(row) => rows.push(row),
                Err(error) if is_of_one_row(&error) => {
                    tracing::debug!(%error, "a row of cuTile's cache is left out");
                }
                Err(error) => return Err(explained(error)),
            }
        }
        let typed = rows.into_iter().map(|(key, size, used, metadata)| {
            let metadata = metadata.map(|text| read(&text)).unwrap_or_default();
            Row {
                key,
                size: size.unsigned_abs(),
                used,
                symbols: metadata.kernel_names.unwrap_or_default(),
                compiler: metadata.compiler_version,
                seconds: metadata.compilation_time_seconds,
                remarks: metadata.remarks.map(|yaml| remarks::parse(&yaml)),
            }
        });
        Ok(typed.collect())
    }

    /// The mangled names of the programs used last, at most `most` programs, each name once. Without
    /// what the compiler said, which is most of the text.
    ///
    /// # Errors
    /// [`Error`].
    pub fn symbols(&self, most: u32) -> Result<Vec<String>, Error> {
        if !self.with_metadata {
            return Ok(Vec::new());
        }
        let explained = |error| explain(&self.path, &error);
        let query = "SELECT metadata FROM cache ORDER BY atime DESC, key DESC LIMIT ?1";
        let mut statement = self.connection.prepare(query).map_err(explained)?;
        let texts = statement.query_map([most], |row| row.get::<_, Option<String>>(0));
        let texts: Vec<String> = (texts.map_err(explained)?.flatten().flatten()).collect();
        let mut symbols: Vec<String> = Vec::new();
        for text in &texts {
            for symbol in read(text).kernel_names.unwrap_or_default() {
                if !symbols.contains(&symbol) {
                    symbols.push(symbol);
                }
            }
        }
        Ok(symbols)
    }

    /// The compiled program of a row, for [`cubin::read`](crate::cubin::read); `None` if cuTile has
    /// dropped it meanwhile.
    ///
    /// # Errors
    /// [`Error`].
    pub fn program(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        let query = "SELECT blob FROM cache WHERE key = ?1 AND length(blob) <= ?2";
        let blob = (self.connection).query_row(query, (key, LARGEST_PROGRAM), |row| row.get(0));
        blob.optional().map_err(|error| explain(&self.path, &error))
    }
}

/// Of a layout that is newer, only the version is believed.
fn read(text: &str) -> Metadata {
    let metadata: Metadata = serde_json::from_str(text).unwrap_or_default();
    if metadata.version > METADATA_VERSION {
        return Metadata::default();
    }
    metadata
}

fn columns(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info('cache')")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// Whether an error is of one row's values and not of the file.
fn is_of_one_row(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{
        FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
    };
    matches!(
        error,
        FromSqlConversionFailure(..)
            | IntegralValueOutOfRange(..)
            | InvalidColumnType(..)
            | Utf8Error(..)
    )
}

fn explain(path: &Path, error: &rusqlite::Error) -> Error {
    let (path, why) = (path.to_owned(), error.to_string());
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy,
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::SystemIoFailure) => {
            Error::Refused { path, why }
        }
        _ => Error::Damaged { path, why },
    }
}

#[cfg(test)]
mod tests;
