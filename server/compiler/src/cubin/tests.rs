//! On cubins made here, byte by byte; tests/compiler compares with real ones.

use proptest::prelude::*;

use tileperf_analysis::arch::Arch;

use super::*;

/// A cubin to be written.
struct Draft {
    sm: u8,
    sections: Vec<(String, u32, Vec<u8>)>,
    symbols: Vec<(String, u8)>,
}

const BITS: u32 = 1;
const SYMBOLS: u32 = 2;
const STRINGS: u32 = 3;
const RESERVED: u32 = 8;

impl Draft {
    /// With one kernel that has 40 registers, 16 bytes of stack, 2 KiB of shared memory, 256 threads.
    fn of(sm: u8, kernel: &str) -> Self {
        let mut draft = Self {
            sm,
            sections: Vec::new(),
            symbols: vec![(String::new(), 0)],
        };
        draft.kernel(kernel, 40, b"machine code");
        draft
    }

    fn kernel(&mut self, name: &str, registers: u32, code: &[u8]) {
        let symbol = u32::try_from(self.symbols.len()).unwrap();
        self.symbols.push((name.to_owned(), 0x10));
        self.add(&format!(".text.{name}"), BITS, code.to_vec());
        let mut of_file = words(4, 0x2f, &[symbol, registers]);
        of_file.extend(words(4, 0x11, &[symbol, 16]));
        match self.sections.iter_mut().find(|(n, ..)| n == ".nv.info") {
            Some((.., data)) => data.extend(of_file),
            None => self.add(".nv.info", BITS, of_file),
        }
        let mut own = vec![3, 0x50, 0, 0];
        own.extend(words(4, 0x10, &[64, 4, 1]));
        own.extend(words(4, 0x3d, &[2, 1, 1]));
        self.add(&format!(".nv.info.{name}"), BITS, own);
        self.add(&format!(".nv.shared.{name}"), RESERVED, vec![0; 2048]);
        let hints =
            format!("entry @{name}(%a) optimization_hints=<default = {{occupancy = 2}}> {{\0");
        self.add(
            &format!(".nv.tileir.debug_txt.{name}"),
            BITS,
            hints.into_bytes(),
        );
    }

    fn add(&mut self, name: &str, kind: u32, data: Vec<u8>) {
        self.sections.push((name.to_owned(), kind, data));
    }

    fn write(&self) -> Vec<u8> {
        let mut strings = vec![0];
        let mut string = |text: &str| {
            let at = u32::try_from(strings.len()).unwrap();
            strings.extend(text.bytes().chain([0]));
            at
        };
        let mut table = Vec::new();
        for (name, other) in &self.symbols {
            table.extend(string(name).to_le_bytes());
            let info = if *other == 0 { 0 } else { 0x12 };
            table.extend([info, *other, 1, 0]);
            table.extend([0; 16]);
        }
        let mut sections = self.sections.clone();
        sections.push((".symtab".to_owned(), SYMBOLS, table));
        let names: Vec<u32> = sections.iter().map(|(name, ..)| string(name)).collect();
        let strtab = sections.len() + 1;
        sections.push((".strtab".to_owned(), STRINGS, strings));

        let mut file = vec![0; 64];
        let mut headers = vec![0; 64];
        for (at, (_, kind, data)) in sections.iter().enumerate() {
            let offset = file.len() as u64;
            if *kind != RESERVED {
                file.extend(data);
            }
            let mut header = names.get(at).copied().unwrap_or(0).to_le_bytes().to_vec();
            header.extend(kind.to_le_bytes());
            header.extend([0; 16]);
            header.extend(offset.to_le_bytes());
            header.extend((data.len() as u64).to_le_bytes());
            let link = if *kind == SYMBOLS { strtab } else { 0 };
            header.extend(u32::try_from(link).unwrap().to_le_bytes());
            header.extend([0; 12]);
            let entry: u64 = if *kind == SYMBOLS { 24 } else { 0 };
            header.extend(entry.to_le_bytes());
            headers.extend(header);
        }
        let table = file.len() as u64;
        file.extend(headers);
        file[..9].copy_from_slice(b"\x7fELF\x02\x01\x01\x41\x08");
        file[16..20].copy_from_slice(&[2, 0, 190, 0]);
        file[20] = 1;
        file[40..48].copy_from_slice(&table.to_le_bytes());
        file[48..52].copy_from_slice(&[2, self.sm, 0, 11]);
        file[52..54].copy_from_slice(&64_u16.to_le_bytes());
        file[58..60].copy_from_slice(&64_u16.to_le_bytes());
        let count = u16::try_from(strtab + 1).unwrap();
        file[60..62].copy_from_slice(&count.to_le_bytes());
        file[62..64].copy_from_slice(&(count - 1).to_le_bytes());
        file
    }
}

fn words(form: u8, name: u8, words: &[u32]) -> Vec<u8> {
    let length = u16::try_from(words.len() * 4).unwrap();
    let mut bytes = vec![form, name];
    bytes.extend(length.to_le_bytes());
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    bytes
}

fn only(cubin: &[u8]) -> Kernel {
    let mut kernels = read(cubin).unwrap().kernels;
    assert_eq!(kernels.len(), 1);
    kernels.remove(0)
}

#[test]
fn everything_is_found() {
    let mut draft = Draft::of(90, "one_Kt1");
    draft.kernel("two_Kt1", 255, b"other code");
    let cubin = read(&draft.write()).unwrap();
    assert_eq!(cubin.sm, 90);
    let [one, two] = &cubin.kernels[..] else {
        panic!("{cubin:?}");
    };
    assert_eq!(
        (one.symbol.as_str(), two.symbol.as_str()),
        ("one_Kt1", "two_Kt1")
    );
    let expected = Resources {
        registers: 40,
        stack: 16,
        shared: 2048,
        threads: Some(256),
        cluster: 2,
    };
    assert_eq!(one.resources, expected);
    assert_eq!((two.resources.registers, two.code_bytes), (255, 10));
    assert_eq!(one.hints[0].value, "2");
    assert_ne!(one.code_hash, two.code_hash);
    let text = tile_ir(&draft.write()).unwrap().unwrap();
    assert_eq!(text.lines().count(), 2);
    assert!(!text.contains('\0'));
}

#[test]
fn what_runs_counts_and_what_it_is_called_does_not() {
    let before = only(&Draft::of(90, "k_Kt1_I1").write()).code_hash;
    assert_eq!(before.len(), 32);
    assert_eq!(only(&Draft::of(90, "k_Kt1_I2").write()).code_hash, before);
    let changed = |change: fn(&mut Draft)| {
        let mut draft = Draft::of(90, "k_Kt1_I1");
        change(&mut draft);
        only(&draft.write()).code_hash
    };
    let same: [fn(&mut Draft); 3] = [
        |d| d.add(".debug_line", BITS, b"lines".to_vec()),
        |d| d.add(".nv.constant0.k_Kt1_I1", BITS, vec![0; 4]),
        |d| d.add(".nv.constant2.another", BITS, vec![1]),
    ];
    for change in same {
        assert_eq!(changed(change), before);
    }
    let different: [fn(&mut Draft); 4] = [
        |d| d.add(".nv.constant4", BITS, vec![1]),
        |d| d.add(".nv.constant2.k_Kt1_I1", BITS, vec![1]),
        |d| d.add(".nv.host", BITS, b"a tensor map".to_vec()),
        |d| d.sections[0].2.push(0),
    ];
    for change in different {
        assert_ne!(changed(change), before);
    }
}

#[test]
fn the_reserved_kilobyte_counts_once() {
    let of = |arch: Arch| {
        only(&Draft::of(90, "k").write())
            .resources
            .shared_of_sm(arch)
    };
    assert_eq!(
        (of(Arch::Sm80), of(Arch::Sm90), of(Arch::Sm120)),
        (3072, 2048, 2048)
    );
    let none = Resources {
        shared: 0,
        ..only(&Draft::of(90, "k").write()).resources
    };
    assert_eq!(
        (none.shared_of_sm(Arch::Sm80), none.shared_of_sm(Arch::Sm90)),
        (1024, 1024)
    );
}

#[test]
fn what_is_no_cubin_is_named() {
    let of = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    assert!(of(b"").starts_with("this is no cubin"));
    assert!(of(&std::fs::read("/proc/self/exe").unwrap_or_default()).contains("no cubin"));
    let mut draft = Draft::of(90, "k");
    draft.symbols.pop();
    assert_eq!(of(&draft.write()), "the cubin has no kernel");
    let mut draft = Draft::of(90, "k");
    draft.sections.remove(0);
    assert_eq!(of(&draft.write()), "the cubin is damaged: no code for k");
    let mut draft = Draft::of(90, "k");
    draft.sections[1].2.truncate(9);
    assert!(of(&draft.write()).contains("cut short"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        let _ = read(&bytes);
        let _ = tile_ir(&bytes);
    }

    /// Damage where it hurts: headers and attributes, in a file that is right otherwise.
    #[test]
    fn damage_gives_facts_or_an_error(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<Option<prop::sample::Index>>(),
    ) {
        let mut file = Draft::of(90, "kernel_Kt1").write();
        for (place, value) in changes {
            let place = place.index(file.len());
            file[place] = value;
        }
        if let Some(cut) = cut {
            file.truncate(cut.index(file.len()));
        }
        if let Ok(cubin) = read(&file) {
            prop_assert!(!cubin.kernels.is_empty());
        }
        let _ = tile_ir(&file);
    }
}
