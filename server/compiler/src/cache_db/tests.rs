use std::ffi::OsString;
use std::fs;

use super::*;

const TABLE: &str = "CREATE TABLE cache (key TEXT PRIMARY KEY, blob BLOB NOT NULL, \
                     blob_size INTEGER NOT NULL, atime REAL NOT NULL, metadata TEXT)";

struct Cache {
    _folder: tempfile::TempDir,
    path: PathBuf,
    writer: Connection,
}

impl Cache {
    fn new(table: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let writer = Connection::open(&path).unwrap();
        writer.execute(table, []).unwrap();
        Self {
            _folder: folder,
            path,
            writer,
        }
    }

    fn add(&self, key: &str, used: f64, metadata: Option<&str>) {
        let insert = "INSERT INTO cache VALUES (?1, x'0102', 2, ?2, ?3)";
        self.writer.execute(insert, (key, used, metadata)).unwrap();
    }

    fn rows(&self, since: f64) -> Vec<Row> {
        CacheDb::open(&self.path).unwrap().rows(since, 100).unwrap()
    }
}

#[test]
fn the_last_used_come_first_with_what_cutile_wrote() {
    let cache = Cache::new(TABLE);
    let yaml = "--- !Passed\\nPass: Hints\\nName: RemarkX\\nArgs:\\n  - Remark: y\\n...\\n";
    let metadata = format!(
        r#"{{"kernel_names": ["k_Kt1_I4"], "compiler_version": "tileiras 13.4", "remarks": "{yaml}",
            "compilation_timestamp": 1.0, "compilation_time_seconds": 2.5, "version": 1}}"#
    );
    cache.add("old", 10.0, None);
    cache.add("new", 20.0, Some(&metadata));
    let rows = cache.rows(0.0);
    assert_eq!(
        rows.iter().map(|row| row.key.as_str()).collect::<Vec<_>>(),
        ["new", "old"]
    );
    assert_eq!(
        (rows[0].symbols.as_slice(), rows[0].seconds),
        (&["k_Kt1_I4".to_owned()][..], Some(2.5))
    );
    assert_eq!(rows[0].remarks.as_ref().unwrap().all[0].text, "y");
    assert_eq!((rows[1].size, &rows[1].remarks), (2, &None));
    assert_eq!(cache.rows(15.0).len(), 1);
    let db = CacheDb::open(&cache.path).unwrap();
    assert_eq!(db.count(), Ok(2));
    assert_eq!(db.program("new"), Ok(Some(vec![1, 2])));
    assert_eq!(db.program("gone"), Ok(None));
}

#[test]
fn older_and_newer_layouts_are_read_as_far_as_they_are_known() {
    let before = Cache::new(&TABLE.replace(", metadata TEXT", ", extra TEXT"));
    before.add("k", 1.0, Some("{"));
    assert_eq!(before.rows(0.0)[0].symbols.len(), 0);
    let after = Cache::new(TABLE);
    for metadata in [
        r#"{"version": 2, "kernel_names": ["x"]}"#,
        "{",
        "[]",
        r#"{"kernel_names": 3}"#,
    ] {
        after.add(metadata, 1.0, Some(metadata));
    }
    let rows = after.rows(0.0);
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row.symbols.is_empty()));
    let other = Cache::new("CREATE TABLE cache (id TEXT)");
    assert!(matches!(CacheDb::open(&other.path), Err(Error::Unknown(_))));
    let none = Cache::new("CREATE TABLE other (id TEXT)");
    assert!(matches!(CacheDb::open(&none.path), Err(Error::Unknown(_))));
}

#[test]
fn one_bad_row_costs_itself_only() {
    let cache = Cache::new(TABLE);
    cache.add("good", 1.0, None);
    let bad = "INSERT INTO cache VALUES ('bad', x'00', 'many', 2.0, x'ff')";
    cache.writer.execute(bad, []).unwrap();
    assert_eq!(cache.rows(0.0).len(), 1);
}

#[test]
fn what_cannot_be_read_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    assert_eq!(
        CacheDb::open(&path).unwrap_err(),
        Error::Missing(path.clone())
    );
    fs::write(
        &path,
        "not a database, but long enough to be looked at ".repeat(100),
    )
    .unwrap();
    assert!(matches!(CacheDb::open(&path), Err(Error::Damaged { .. })));
    assert!(CacheDb::open(folder.path()).is_err());
    let cache = Cache::new(TABLE);
    cache.writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(CacheDb::open(&cache.path).unwrap_err(), Error::Busy);
}

#[test]
fn reading_changes_nothing() {
    let cache = Cache::new(TABLE);
    cache.add("k", 1.0, None);
    let before = fs::read(&cache.path).unwrap();
    let db = CacheDb::open(&cache.path).unwrap();
    let _ = (db.count(), db.rows(0.0, 1), db.program("k"));
    assert!(db.connection.execute("DELETE FROM cache", []).is_err());
    assert_eq!(fs::read(&cache.path).unwrap(), before);
    let folder = cache.path.parent().unwrap();
    assert_eq!(
        fs::read_dir(folder).unwrap().count(),
        1,
        "no journal beside it"
    );
}

#[test]
fn the_place_is_where_cutile_looks() {
    let with = |variables: &[(&str, &str)]| {
        file(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        })
    };
    let home = ("HOME", "/home/me");
    for (variables, expected) in [
        (vec![home], "/home/me/.cache/cutile-python/cache.db"),
        (
            vec![home, ("XDG_CACHE_HOME", "/c")],
            "/c/cutile-python/cache.db",
        ),
        (vec![home, ("CUDA_TILE_CACHE_DIR", "/d")], "/d/cache.db"),
    ] {
        assert_eq!(with(&variables), Ok(PathBuf::from(expected)));
    }
    for off in ["0", "", " OFF ", "none"] {
        assert_eq!(with(&[home, ("CUDA_TILE_CACHE_DIR", off)]), Err(Error::Off));
    }
    assert!(matches!(with(&[]), Err(Error::Missing(_))));
}
