//! Signatures as the names that cuTile gives to compiled kernels, and back.

use smol_str::SmolStr;
use tileperf_analysis::model::Kernel;
use tileperf_analysis::signature::{self, Constant, Kind, Origin, Signature};
use tileperf_compiler::symbol::{self, Axis, Dtype, Index, Symbol};

/// The calling convention in the names that are made here; what is compiled does not depend on it.
const CONVENTION: &str = "t1";

/// A name as the signature of a kernel, if it can be that kernel's.
pub(super) fn of_symbol(symbol: &Symbol, kernel: &Kernel) -> Option<Signature> {
    if symbol.params.len() != kernel.params.len() {
        return None;
    }
    let params = kernel
        .params
        .iter()
        .zip(&symbol.params)
        .map(|(param, given)| {
            let kind = kind(given)?;
            let is_constant = is_constant(&kind);
            (is_constant == param.constant).then(|| signature::Param {
                name: param.name.clone(),
                kind,
            })
        });
    Some(Signature {
        params: params.collect::<Option<_>>()?,
        globals: Vec::new(),
        launched: None,
        origin: Origin::CacheDb,
    })
}

fn is_constant(kind: &Kind) -> bool {
    match kind {
        Kind::Constant(_) => true,
        Kind::Tuple { items } => items.iter().all(is_constant),
        _ => false,
    }
}

/// What a name says of a parameter; `None` for what no signature here can say.
fn kind(param: &symbol::Param) -> Option<Kind> {
    Some(match param {
        symbol::Param::Array(array) => Kind::Array(self::array(array)?),
        symbol::Param::List {
            alias_groups,
            elements_alias: false,
            element,
        } if alias_groups.is_empty() => Kind::List {
            element: self::array(element)?,
        },
        symbol::Param::List { .. } => return None,
        symbol::Param::Tuple { items } => Kind::Tuple {
            items: items.iter().map(kind).collect::<Option<_>>()?,
        },
        symbol::Param::Scalar { dtype } => Kind::Scalar {
            dtype: SmolStr::new_static(dtype.name()),
        },
        symbol::Param::Bool { value } => Kind::Constant(Constant::Bool(*value)),
        symbol::Param::Int { value } => Kind::Constant(Constant::Int(value.parse().ok()?)),
        symbol::Param::Float { bits } => Kind::Constant(Constant::Float(f64::from_bits(*bits))),
    })
}

/// `None` for one that overlaps, or that is too large for 32-bit indices: its code is another.
fn array(array: &symbol::Array) -> Option<signature::Array> {
    let is_plain = array.alias_groups.is_empty() && !array.overlaps;
    if !is_plain || array.index != symbol::Index::Int32 {
        return None;
    }
    let axes = &array.axes;
    let shape: Vec<Option<i64>> = axes.iter().map(|axis| axis.shape).collect();
    Some(signature::Array {
        dtype: SmolStr::new_static(array.dtype.name()),
        ndim: axes.len(),
        stride: axes.iter().map(|axis| axis.stride).collect(),
        stride_divisor: axes.iter().map(|axis| axis.stride_divisor).collect(),
        shape: if shape.iter().all(Option::is_none) {
            Vec::new()
        } else {
            shape
        },
        shape_divisor: axes.iter().map(|axis| axis.shape_divisor).collect(),
        base_divisor: array.base_divisor,
    })
}

/// The name for a signature; `None` if no name can say it.
pub(super) fn symbol(function: &str, signature: &Signature) -> Option<Symbol> {
    if !signature.globals.is_empty() {
        return None;
    }
    let params = signature.params.iter().map(|param| param_of(&param.kind));
    Some(Symbol {
        function: function.to_owned(),
        convention: CONVENTION.to_owned(),
        params: params.collect::<Option<_>>()?,
    })
}

fn param_of(kind: &Kind) -> Option<symbol::Param> {
    Some(match kind {
        Kind::Array(array) => symbol::Param::Array(array_of(array)?),
        Kind::List { element } => symbol::Param::List {
            alias_groups: Vec::new(),
            elements_alias: false,
            element: array_of(element)?,
        },
        Kind::Tuple { items } => symbol::Param::Tuple {
            items: items.iter().map(param_of).collect::<Option<_>>()?,
        },
        Kind::Scalar { dtype } => symbol::Param::Scalar {
            dtype: dtype_of(dtype)?,
        },
        Kind::Constant(Constant::Bool(value)) => symbol::Param::Bool { value: *value },
        Kind::Constant(Constant::Int(value)) => symbol::Param::Int {
            value: value.to_string(),
        },
        Kind::Constant(Constant::Float(value)) => symbol::Param::Float {
            bits: value.to_bits(),
        },
        Kind::Constant(Constant::None) => return None,
    })
}

fn array_of(array: &signature::Array) -> Option<symbol::Array> {
    let axes = (0..array.ndim).map(|axis| Axis {
        shape: array.shape.get(axis).copied().flatten(),
        shape_divisor: array.shape_divisor.get(axis).copied().unwrap_or(1),
        stride: array.stride.get(axis).copied().flatten(),
        stride_divisor: array.stride_divisor.get(axis).copied().unwrap_or(1),
        stride_min: None,
    });
    Some(symbol::Array {
        dtype: dtype_of(&array.dtype)?,
        axes: axes.collect(),
        base_divisor: array.base_divisor,
        alias_groups: Vec::new(),
        overlaps: false,
        index: Index::Int32,
    })
}

fn dtype_of(name: &str) -> Option<Dtype> {
    Dtype::ALL
        .iter()
        .copied()
        .find(|dtype| dtype.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tileperf_analysis::model::{FileModel, ModelCache};

    fn kernel(text: &str) -> Kernel {
        let parsed = tileperf_syntax::parse(text);
        let model = FileModel::build(&parsed, text, "", &mut ModelCache::default());
        model.kernels[0].clone()
    }

    fn signature(symbol: &str, params: &str) -> Option<String> {
        let text = format!(
            "import cuda.tile as ct\nInt = ct.Constant[int]\n@ct.kernel\ndef k({params}):\n    pass\n"
        );
        let symbol = Symbol::parse(symbol).unwrap();
        of_symbol(&symbol, &kernel(&text)).map(|signature| signature.shown())
    }

    #[test]
    fn a_name_is_a_signature_of_the_kernel_that_it_fits() {
        let name = "k_Kt1_A2f32_1v4l0_2t1_3i16_p16_Sf32_I256";
        let shown = "x: float32[2], s: float32, N: 256";
        assert_eq!(signature(name, "x, s, N: Int").as_deref(), Some(shown));
        // Of another kernel with that name.
        assert_eq!(signature(name, "x, s"), None);
        assert_eq!(signature(name, "x, N: Int, s"), None);
        assert_eq!(signature(name, "x, s, n"), None);
    }

    #[test]
    fn what_is_known_of_an_array_stays_known() {
        let symbol = Symbol::parse("k_Kt1_A2f16_1v8l0_2t1_3i16_p16_I1").unwrap();
        let text = "import cuda.tile as ct\n@ct.kernel\ndef k(x, N: ct.Constant[int]):\n    pass\n";
        let found = of_symbol(&symbol, &kernel(text)).unwrap();
        let Kind::Array(array) = &found.params[0].kind else {
            panic!("{found:?}")
        };
        assert_eq!(array.stride, [None, Some(1)]);
        assert_eq!(array.stride_divisor, [8, 1]);
        assert_eq!(array.shape_divisor, [16, 16]);
        assert_eq!(array.base_divisor, 16);
        assert!(array.shape.is_empty());
        assert_eq!(found.origin, Origin::CacheDb);
    }

    #[test]
    fn a_signature_survives_being_a_name() {
        let text = "import cuda.tile as ct\n@ct.kernel\ndef k(x, l, s, N: ct.Constant[int], \
                    F: ct.Constant[float], B: ct.Constant[bool]):\n    pass\n";
        let kernel = kernel(text);
        let array = |change: &dyn Fn(&mut signature::Array)| {
            let mut array = signature::Array::usual("bfloat16", 2);
            change(&mut array);
            Kind::Array(array)
        };
        let arrays = [
            array(&|_| {}),
            array(&|a| a.shape = vec![Some(3), None]),
            array(&|a| (a.base_divisor, a.shape_divisor) = (1, vec![1, 8])),
            array(&|a| (a.stride, a.stride_divisor) = (vec![Some(7), None], vec![1, 1])),
            Kind::Array(signature::Array::usual("float8_e4m3fn", 0)),
            Kind::Array(signature::Array::usual("bool_", 5)),
        ];
        for first in arrays {
            let kinds = [
                first,
                Kind::List {
                    element: signature::Array::usual("int64", 1),
                },
                Kind::Scalar {
                    dtype: "float32".into(),
                },
                Kind::Constant(Constant::Int(-64)),
                Kind::Constant(Constant::Float(-0.5)),
                Kind::Constant(Constant::Bool(true)),
            ];
            let params = kernel.params.iter().zip(kinds);
            let signature = Signature {
                params: params
                    .map(|(param, kind)| signature::Param {
                        name: param.name.clone(),
                        kind,
                    })
                    .collect(),
                globals: Vec::new(),
                launched: None,
                origin: Origin::CacheDb,
            };
            let name = symbol("k", &signature).unwrap().to_string();
            let back = of_symbol(&Symbol::parse(&name).unwrap(), &kernel);
            assert_eq!(back.as_ref(), Some(&signature), "{name}");
            let mut none = signature;
            none.params[3].kind = Kind::Constant(Constant::None);
            assert_eq!(symbol("k", &none), None);
            none.params.clear();
            none.globals = vec![("block".into(), Constant::Int(1))];
            assert_eq!(symbol("k", &none), None);
        }
    }
}
