//! What the user's own runs compiled kernels for: the names in cuTile's cache on this machine.
//!
//! A name tells dtypes, ranks, alignment and constants of what was really launched; nothing that is
//! read off the code is as good. A kernel of another project can have the same name, so one whose
//! parameters do not fit is left alone.

use std::path::PathBuf;
use std::time::SystemTime;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tileperf_analysis::model::Kernel;
use tileperf_analysis::signature::{self, Constant, Kind, Origin, Signature};
use tileperf_compiler::cache_db::{self, CacheDb};
use tileperf_compiler::symbol::{self, Symbol};

/// Programs looked at: the last used ones.
const MOST_PROGRAMS: u32 = 500;

/// Names by function, the last used first.
type ByFunction = FxHashMap<String, Vec<Symbol>>;

/// The cache as it was read last.
#[derive(Default)]
pub(super) struct Cached(Mutex<Option<(PathBuf, SystemTime, ByFunction)>>);

impl Cached {
    /// What a kernel was compiled for, the last used first, and whether that is all: some names say
    /// what no signature here can.
    pub(super) fn of(&self, kernel: &Kernel) -> (Vec<Signature>, bool) {
        let mut read = self.0.lock();
        let Ok(path) = cache_db::file(&|name| std::env::var_os(name)) else {
            return (Vec::new(), true);
        };
        // SQLite appends to its log before it writes the file itself.
        let modified = [path.clone(), path.with_extension("db-wal")]
            .iter()
            .filter_map(|path| path.metadata().ok()?.modified().ok())
            .max();
        let Some(modified) = modified else {
            return (Vec::new(), true);
        };
        let is_current =
            |(of, at, _): &(PathBuf, SystemTime, ByFunction)| *of == path && *at == modified;
        if !read.as_ref().is_some_and(is_current) {
            *read = Some((path.clone(), modified, by_function(&path)));
        }
        let known = read
            .as_ref()
            .and_then(|(.., known)| known.get(kernel.name.as_str()));
        let mut signatures: Vec<Signature> = Vec::new();
        let mut is_all = true;
        for symbol in known.into_iter().flatten() {
            match of_symbol(symbol, kernel) {
                Some(signature) if signatures.contains(&signature) => {}
                Some(signature) => signatures.push(signature),
                None => is_all = false,
            }
        }
        (signatures, is_all)
    }
}

fn by_function(path: &std::path::Path) -> ByFunction {
    let symbols = CacheDb::open(path).and_then(|db| db.symbols(MOST_PROGRAMS));
    let symbols = symbols.unwrap_or_else(|error| {
        tracing::debug!("cuTile's cache is not read: {error}");
        Vec::new()
    });
    let mut all = ByFunction::default();
    for symbol in symbols {
        if let Ok(symbol) = Symbol::parse(&symbol) {
            all.entry(symbol.function.clone()).or_default().push(symbol);
        }
    }
    all
}

/// A name as the signature of a kernel, if it can be that kernel's.
fn of_symbol(symbol: &Symbol, kernel: &Kernel) -> Option<Signature> {
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
}
