use super::*;

fn refused(message: &str) -> Entry {
    Entry::Refused {
        message: message.to_owned(),
        place: None,
    }
}

fn key(bytecode: &[u8]) -> Key {
    Key::of(bytecode, Arch::Sm90, "13.4.92", 3)
}

#[test]
fn everything_that_changes_code_is_in_the_key() {
    let keys = [
        Key::of(b"a", Arch::Sm90, "13.4.92", 3),
        Key::of(b"b", Arch::Sm90, "13.4.92", 3),
        Key::of(b"a", Arch::Sm100, "13.4.92", 3),
        Key::of(b"a", Arch::Sm90, "13.4.93", 3),
        Key::of(b"a", Arch::Sm90, "13.4.92", 0),
    ];
    for (at, one) in keys.iter().enumerate() {
        assert!(keys[at + 1..].iter().all(|other| one != other));
    }
    assert_eq!(keys[0], key(b"a"));
}

#[test]
fn what_was_put_is_there_until_it_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::in_cache(folder.path());
    let key = key(b"a");
    assert_eq!((store.get(&key, b"a"), store.cubin(&key)), (None, None));
    store.put(&key, b"a", &refused("why"), Some(b"cubin"));
    let again = Store::in_cache(folder.path());
    assert_eq!(again.get(&key, b"a"), Some(refused("why")));
    assert_eq!(again.cubin(&key).as_deref(), Some(&b"cubin"[..]));
    fs::write(again.path(&key, "json"), "{\"entry\": ").unwrap();
    assert_eq!(again.get(&key, b"a"), None);
}

#[test]
fn the_least_used_go_first() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, limit| {
        // A store that has just been opened looks at the size on its first write.
        let store = Store::with_limit(folder.path(), limit);
        store.put(
            &key(name.as_bytes()),
            name.as_bytes(),
            &refused(&"x".repeat(1000)),
            None,
        );
        std::thread::sleep(std::time::Duration::from_millis(15));
    };
    ["a", "b", "c"].iter().for_each(|name| put(name, 1 << 20));
    let store = Store::with_limit(folder.path(), 1 << 20);
    let has = |name: &str| store.get(&key(name.as_bytes()), name.as_bytes()).is_some();
    assert!(has("a"), "and used just now");
    std::thread::sleep(std::time::Duration::from_millis(15));
    put("d", 3800);
    assert_eq!(
        (has("a"), has("b"), has("c"), has("d")),
        (true, false, true, true)
    );
}

#[test]
fn a_folder_that_cannot_be_written_costs_nothing_but_time() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let store = Store::in_cache(file.path());
    store.put(&key(b"a"), b"a", &refused("why"), None);
    assert_eq!(store.get(&key(b"a"), b"a"), None);
}
