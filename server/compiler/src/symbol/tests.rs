use proptest::prelude::*;

use super::*;

#[test]
fn names_of_real_kernels_come_back_as_they_were() {
    for name in [
        "_softmax_kernel_Kt1_A2f32_1v4l0_2t1_3i16_p16_A2f32_1v4l0_2t1_3i16_p16_I256_I256_I256",
        "mm_Kt2_A2f16_1v16l0_2t1_p16_A2f16_1v16l0_2t1_p16_A2f16_1v16l0_2t1_p16_I128_I128_I64",
        "copy_Kt2_A1f16_1t1_p16_A1f16_1t1_p16_I512",
        "k_Kt1",
        "a_Kb_Kt1_Sf32_B0_B1_I_7_F3ff0000000000000",
        "k_Kt1_A0bf16_T2I1T1Sb8_Lg0iA1u8_1t1_p4g0g1iw_A1f8m3fn_g1",
        "k_Kt1_A2i64_u_I123456789012345678901234567890",
    ] {
        let symbol = Symbol::parse(name).unwrap();
        assert_eq!(symbol.to_string(), name);
        let json = serde_json::to_string(&symbol).unwrap();
        assert_eq!(serde_json::from_str::<Symbol>(&json).unwrap(), symbol);
    }
}

#[test]
fn what_a_name_says() {
    let symbol = Symbol::parse("f_Kt2_A2f16_1v16l0_2t1_3i8_p16w_F0000000000000000").unwrap();
    assert_eq!(
        (symbol.function.as_str(), symbol.convention.as_str()),
        ("f", "t2")
    );
    let [Param::Array(array), Param::Float { bits: 0 }] = &symbol.params[..] else {
        panic!("{symbol:?}");
    };
    assert_eq!(
        (array.dtype.name(), array.base_divisor, array.index),
        ("float16", 16, Index::Int64)
    );
    let first = Axis {
        shape_divisor: 8,
        stride_divisor: 16,
        stride_min: Some(0),
        ..Axis::UNKNOWN
    };
    let second = Axis {
        shape_divisor: 8,
        stride: Some(1),
        ..Axis::UNKNOWN
    };
    assert_eq!(array.axes, [first, second]);
}

#[test]
fn what_is_no_name_is_refused() {
    for name in [
        "",
        "plain",
        "k_Kt9_I1",
        "k_Kt1_",
        "k_Kt1_X",
        "k_Kt1_I",
        "k_Kt1_B2",
        "k_Kt1_F12",
        "k_Kt1_A",
        "k_Kt1_A1",
        "k_Kt1_A1x9",
        "k_Kt1_A1f32_0t1",
        "k_Kt1_A1f32_2t1",
        "k_Kt1_A1f32_1t1_1t1",
        "k_Kt1_A1f32_1i1",
        "k_Kt1_A1f32_1t1v4",
        "k_Kt1_A1f32_1",
        "k_Kt1_A1f32_1q",
        "k_Kt1_A1f32_g1",
        "k_Kt1_A1f32_g00",
        "k_Kt1_A1f32_p1",
        "k_Kt1_A1f32_q",
        "k_Kt1_LSf32",
        "k_Kt1_T2I1",
        "k_Kt1_A9999999f32",
        "k_Kt1_T99999999999999999999I1",
        "k_Kt1_I1é",
    ] {
        assert!(Symbol::parse(name).is_err(), "{name}");
    }
    let deep = format!("k_Kt1_{}I1", "T1".repeat(100_000));
    assert!(Symbol::parse(&deep).is_err());
}

fn dtype() -> impl Strategy<Value = Dtype> {
    prop::sample::select(Dtype::ALL)
}

fn axis() -> impl Strategy<Value = Axis> {
    let known = prop::option::of(-5..70_000_i64);
    let divisor = prop_oneof![Just(1), 2..256_i64];
    (
        known.clone(),
        divisor.clone(),
        known.clone(),
        divisor,
        known,
    )
        .prop_map(
            |(shape, shape_divisor, stride, stride_divisor, stride_min)| Axis {
                shape,
                shape_divisor,
                stride,
                stride_divisor: if stride.is_some() { 1 } else { stride_divisor },
                stride_min: stride_min.filter(|_| stride.is_none()),
            },
        )
}

fn array() -> impl Strategy<Value = Array> {
    let index = prop::sample::select(vec![Index::Int32, Index::Uint32, Index::Int64]);
    let base = prop_oneof![Just(1), 2..1024_i64];
    let axes = prop::collection::vec(axis(), 0..7);
    (dtype(), axes, base, any::<bool>(), index).prop_map(
        |(dtype, axes, base_divisor, overlaps, index)| Array {
            dtype,
            axes,
            base_divisor,
            alias_groups: Vec::new(),
            overlaps,
            index,
        },
    )
}

fn param() -> impl Strategy<Value = Param> {
    let leaf = prop_oneof![
        array().prop_map(Param::Array),
        (array(), any::<bool>()).prop_map(|(element, elements_alias)| Param::List {
            alias_groups: Vec::new(),
            elements_alias,
            element,
        }),
        dtype().prop_map(|dtype| Param::Scalar { dtype }),
        any::<bool>().prop_map(|value| Param::Bool { value }),
        any::<i128>().prop_map(|value| Param::Int {
            value: value.to_string()
        }),
        any::<u64>().prop_map(|bits| Param::Float { bits }),
    ];
    leaf.prop_recursive(3, 12, 4, |item| {
        prop::collection::vec(item, 0..4).prop_map(|items| Param::Tuple { items })
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        function in "[a-zA-Z_][a-zA-Z0-9_]{0,12}",
        params in prop::collection::vec(param(), 0..5),
    ) {
        let symbol = Symbol { function, convention: "t1".to_owned(), params };
        prop_assert_eq!(Symbol::parse(&symbol.to_string()), Ok(symbol));
    }

    #[test]
    fn no_text_makes_it_panic(tail in "[_KtALTSBIFgisvlpuw0-9a-fé]{0,40}") {
        let _ = Symbol::parse(&format!("k_Kt1_{tail}"));
    }
}
