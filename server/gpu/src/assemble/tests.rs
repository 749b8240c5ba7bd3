use super::*;
use crate::driver::{Card, Fault as Cuda};
use crate::nvml::Fault as Nvml;

const BYTES: [u8; 16] = [
    0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
];
const UUID: &str = "GPU-01234567-89ab-cdef-0123-456789abcdef";

fn cards(names: &[&str]) -> Cards {
    let cards = (0..).zip(names).map(|(nth, name)| {
        let mut uuid = BYTES;
        uuid[15] += nth;
        Card {
            uuid,
            name: (*name).to_owned(),
            capability: Some((9, 0)),
            sms: Some(132),
            memory: Some(1 << 37),
        }
    });
    Cards {
        version: 13_000,
        cards: cards.collect(),
    }
}

/// A machine whose NVML order is the reverse of CUDA's.
fn machine(count: u8) -> Machine {
    let devices = (0..count).map(|index| {
        let mut uuid = BYTES;
        uuid[15] += count - 1 - index;
        Managed {
            index: u32::from(index),
            uuid: uuid_text("GPU", uuid),
            name: "NVIDIA H200".to_owned(),
            arch: Some("sm_90".to_owned()),
            memory: Some(1 << 37),
            state: State {
                sm_clock_mhz: Some(1000 + u32::from(index)),
                ..State::default()
            },
            slices: Vec::new(),
        }
    });
    Machine {
        driver: Some("580.159.04".to_owned()),
        cuda: Some(13_000),
        devices: devices.collect(),
        lost: Vec::new(),
    }
}

fn sees(visible: &str) -> Environment {
    Environment {
        visible: Some(visible.to_owned()),
        pci_order: false,
    }
}

fn code(code: i32) -> Result<Cards, Cuda> {
    Err(Cuda::Call {
        call: "cuInit",
        code,
    })
}

#[test]
fn facts_of_both_libraries_are_joined_by_uuid() {
    let gpus = assemble(
        Ok(cards(&["NVIDIA H200", "NVIDIA H200"])),
        Ok(machine(2)),
        &Environment::default(),
        Surroundings::default,
    )
    .unwrap();
    let first = &gpus[0];
    assert_eq!(first.uuid, UUID);
    assert_eq!((first.index, first.machine_index), (0, Some(0)));
    assert_eq!(first.arch.as_deref(), Some("sm_90"));
    assert_eq!(first.sms, Some(132));
    assert_eq!(first.driver.as_deref(), Some("580.159.04"));
    assert_eq!(first.cuda, Some(13_000));
    assert_eq!(first.notes, Vec::<String>::new());
    let clocks: Vec<_> = gpus.iter().map(|gpu| gpu.state.sm_clock_mhz).collect();
    assert_eq!(clocks, [Some(1001), Some(1000)]);
    assert_eq!(first.unfit(), None);
}

#[test]
fn cuda_alone_gives_the_device_with_fewer_facts() {
    let gpus = assemble(
        Ok(cards(&["NVIDIA H200"])),
        Err(Nvml::NoLibrary),
        &Environment::default(),
        Surroundings::default,
    )
    .unwrap();
    assert_eq!(gpus[0].uuid, UUID);
    assert_eq!(gpus[0].state, State::default());
    assert!(gpus[0].notes[0].contains("libnvidia-ml cannot be loaded"));
    assert_eq!(gpus[0].unfit(), None);
}

#[test]
fn nvml_alone_gives_the_visible_devices_with_fewer_facts() {
    let ask = |environment: &Environment| {
        let cards = Err(Cuda::NoLibrary);
        assemble(cards, Ok(machine(3)), environment, Surroundings::default)
    };
    let all = ask(&Environment::default()).unwrap();
    assert_eq!(all.len(), 3);
    assert_eq!(all[0].sms, None);
    assert!(all[0].notes[0].contains("libcuda cannot be loaded"));
    assert_eq!(all[0].unfit(), None);

    let some = ask(&sees("2,1")).unwrap();
    let numbers: Vec<_> = some.iter().map(|it| (it.index, it.machine_index)).collect();
    assert_eq!(numbers, [(0, Some(2)), (1, Some(1))]);
    assert_eq!(
        ask(&sees("-1")),
        Err(NoGpu::Hidden {
            visible: "-1".to_owned(),
            present: Some(3)
        })
    );
}

#[test]
fn a_slice_is_known_by_nvml_or_by_its_name() {
    let mut partitioned = machine(1);
    partitioned.devices[0].uuid = "GPU-ffffffff-89ab-cdef-0123-456789abcdef".to_owned();
    partitioned.devices[0].slices = vec![uuid_text("MIG", BYTES)];
    let cases = [
        (Ok(partitioned), "NVIDIA H200"),
        (Err(Nvml::NoLibrary), "NVIDIA H200 MIG 1g.18gb"),
    ];
    for (managed, name) in cases {
        let known = managed.is_ok();
        let gpus = assemble(
            Ok(cards(&[name])),
            managed,
            &Environment::default(),
            Surroundings::default,
        )
        .unwrap();
        assert_eq!(gpus[0].uuid, UUID.replace("GPU", "MIG"));
        assert_eq!(gpus[0].state.sm_clock_mhz.is_some(), known);
        assert!(matches!(gpus[0].unfit(), Some(NoGpu::MigOnly { .. })));
    }
}

#[test]
fn the_machines_number_is_known_as_far_as_the_variable_tells() {
    let pci = Environment {
        pci_order: true,
        ..sees(UUID)
    };
    let cases = [
        (Environment::default(), Some(0)),
        (sees("5"), Some(5)),
        (sees(UUID), None),
        (pci, Some(1)),
    ];
    for (environment, expected) in cases {
        let cards = Ok(cards(&["NVIDIA H200"]));
        let gpus = assemble(cards, Ok(machine(2)), &environment, Surroundings::default).unwrap();
        assert_eq!(gpus[0].machine_index, expected, "{environment:?}");
    }
}

/// What CUDA, NVML and the system say, and the reason that follows.
struct Case {
    cuda: Result<Cards, Cuda>,
    nvml: Result<Machine, Nvml>,
    visible: Option<&'static str>,
    around: Surroundings,
    expected: NoGpu,
}

fn around(files: Files) -> Surroundings {
    Surroundings {
        container: false,
        module: Some("580.159.04".to_owned()),
        files,
    }
}

fn absent(why: Why) -> NoGpu {
    NoGpu::NoDevice { why }
}

fn driver_cases() -> Vec<Case> {
    let case = |cuda, nvml, around, expected| Case {
        cuda,
        nvml,
        visible: None,
        around,
        expected,
    };
    let mut lost = machine(1);
    lost.devices[0].state.lost = Some("fell off the bus".to_owned());
    let unreachable = Machine {
        lost: vec![(3, "fell off the bus".to_owned())],
        ..Machine::default()
    };
    vec![
        case(
            Err(Cuda::NoLibrary),
            Err(Nvml::NoLibrary),
            Surroundings::default(),
            NoGpu::NoDriver {
                container: false,
                module: false,
            },
        ),
        case(
            code(34),
            Err(Nvml::NoLibrary),
            Surroundings::default(),
            NoGpu::StubLibrary,
        ),
        case(
            Err(Cuda::NoFunction("cuDeviceGetUuid_v2")),
            Ok(machine(1)),
            around(Files::Open),
            NoGpu::DriverTooOld {
                driver: Some("580.159.04".to_owned()),
                cuda: None,
            },
        ),
        case(
            code(803),
            Err(Nvml::NoLibrary),
            around(Files::Open),
            NoGpu::Mismatch,
        ),
        case(
            code(999),
            Err(Nvml::Mismatch),
            around(Files::Open),
            NoGpu::Mismatch,
        ),
        case(
            code(802),
            Ok(machine(8)),
            around(Files::Open),
            NoGpu::NotReady,
        ),
        case(
            code(999),
            Ok(lost),
            around(Files::Open),
            NoGpu::Lost {
                device: format!("NVIDIA H200 ({UUID})"),
                what: "fell off the bus".to_owned(),
            },
        ),
        case(
            code(100),
            Ok(unreachable),
            around(Files::Open),
            NoGpu::Lost {
                device: "GPU 3".to_owned(),
                what: "fell off the bus".to_owned(),
            },
        ),
    ]
}

fn device_cases() -> Vec<Case> {
    let denied = || Files::Denied(vec!["/dev/nvidia0".into()]);
    let refused = || {
        absent(Why::Denied {
            files: vec!["/dev/nvidia0".into()],
        })
    };
    let container = Surroundings {
        container: true,
        ..around(Files::Missing)
    };
    let mut partitioned = machine(1);
    partitioned.devices[0].state.mig = Some(true);
    let case = |cuda, nvml, visible, around, expected| Case {
        cuda,
        nvml,
        visible,
        around,
        expected,
    };
    vec![
        case(
            code(100),
            Err(Nvml::NotLoaded),
            None,
            Surroundings::default(),
            absent(Why::NotLoaded),
        ),
        case(
            code(100),
            Err(Nvml::NotLoaded),
            None,
            container,
            absent(Why::Container),
        ),
        case(
            code(100),
            Err(Nvml::Denied),
            None,
            around(denied()),
            refused(),
        ),
        case(
            code(304),
            Err(Nvml::Other("unknown".to_owned())),
            None,
            around(denied()),
            refused(),
        ),
        case(
            code(100),
            Err(Nvml::Denied),
            None,
            around(Files::Missing),
            absent(Why::NoFiles),
        ),
        // The files, not the variable, are what is wrong.
        case(
            code(100),
            Err(Nvml::Denied),
            Some("0"),
            around(denied()),
            refused(),
        ),
        case(
            Err(Cuda::NoLibrary),
            Err(Nvml::NotLoaded),
            None,
            Surroundings::default(),
            absent(Why::NotLoaded),
        ),
        case(
            Ok(cards(&[])),
            Ok(Machine::default()),
            None,
            around(Files::Open),
            absent(Why::Absent),
        ),
        case(
            code(100),
            Ok(machine(2)),
            Some("7"),
            around(Files::Open),
            NoGpu::Hidden {
                visible: "7".to_owned(),
                present: Some(2),
            },
        ),
        case(
            code(100),
            Ok(partitioned),
            None,
            around(Files::Open),
            NoGpu::MigOnly {
                devices: vec!["NVIDIA H200".to_owned()],
            },
        ),
    ]
}

#[test]
fn the_reason_follows_from_what_is_seen() {
    for case in driver_cases().into_iter().chain(device_cases()) {
        let seen = format!("{:?} {:?} {:?}", case.cuda, case.nvml, case.around);
        let environment = Environment {
            visible: case.visible.map(str::to_owned),
            pci_order: false,
        };
        let around = case.around;
        let reason = assemble(case.cuda, case.nvml, &environment, || around);
        assert_eq!(reason, Err(case.expected), "{seen}");
    }
}

#[test]
fn any_other_number_is_named_with_what_usually_helps() {
    let numbers = [46, 214, 804, 805, 999, 12_345];
    for number in numbers {
        let environment = Environment::default();
        let reason = assemble(code(number), Ok(machine(1)), &environment, || {
            around(Files::Open)
        });
        let Err(reason @ NoGpu::Failed { .. }) = reason else {
            panic!("{number}: {reason:?}");
        };
        assert!(reason.to_string().contains(&number.to_string()), "{reason}");
        assert!(!reason.needed().is_empty());
    }
}
