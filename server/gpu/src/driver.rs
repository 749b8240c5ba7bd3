//! What CUDA's driver API tells about the devices, without a context on any of them.
//!
//! cudarc finds and keeps libcuda; the few functions are looked up here. Its own wrappers do not serve
//! for a probe: they panic where an old driver lacks a function, and their error type is a closed Rust
//! enum, of which a newer driver's number would be an invalid value. Here a missing function is an
//! error and a result is a number.
#![allow(
    unsafe_code,
    reason = "calls into libcuda, whose headers give the signatures"
)]

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::sync::OnceLock;

use cudarc::driver::sys::{
    CUdevice, CUdevice_attribute_enum as Attribute, CUuuid, culib, is_culib_present,
};

/// The result of a call that succeeded.
const SUCCESS: c_int = 0;

/// Enough for every device name: the API cuts longer ones.
const NAME_BYTES: usize = 256;

/// What CUDA shows to this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cards {
    /// As `cuDriverGetVersion` counts: 13000 for 13.0.
    pub(crate) version: u32,
    /// In CUDA's order.
    pub(crate) cards: Vec<Card>,
}

/// A device as CUDA tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Card {
    pub(crate) uuid: [u8; 16],
    pub(crate) name: String,
    /// Compute capability: major, minor.
    pub(crate) capability: Option<(u32, u32)>,
    pub(crate) sms: Option<u32>,
    pub(crate) memory: Option<u64>,
}

/// Why CUDA tells nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No libcuda can be loaded.
    NoLibrary,
    /// It lacks a function that has been there since CUDA 11 or longer.
    NoFunction(&'static str),
    /// A call failed.
    Call {
        /// The function.
        call: &'static str,
        /// A `CUresult`.
        code: c_int,
    },
}

/// The devices that CUDA shows to this process.
pub(crate) fn cards() -> Result<Cards, Fault> {
    let driver = driver()?;
    let version = driver.version()?;
    driver.init()?;
    let count = driver.count()?;
    let cards = (0..count).map(|ordinal| driver.card(ordinal));
    Ok(Cards {
        version,
        cards: cards.collect::<Result<_, _>>()?,
    })
}

/// The functions of libcuda that are used, with the signatures of `cuda.h`, where a `CUresult` is an
/// `int`.
struct Driver {
    init: unsafe extern "C" fn(c_uint) -> c_int,
    version: unsafe extern "C" fn(*mut c_int) -> c_int,
    count: unsafe extern "C" fn(*mut c_int) -> c_int,
    device: unsafe extern "C" fn(*mut CUdevice, c_int) -> c_int,
    name: unsafe extern "C" fn(*mut c_char, c_int, CUdevice) -> c_int,
    uuid: unsafe extern "C" fn(*mut CUuuid, CUdevice) -> c_int,
    memory: unsafe extern "C" fn(*mut usize, CUdevice) -> c_int,
    attribute: unsafe extern "C" fn(*mut c_int, c_int, CUdevice) -> c_int,
}

/// The loaded driver. A failure is not kept: a driver may be installed while the server runs.
fn driver() -> Result<&'static Driver, Fault> {
    static DRIVER: OnceLock<Driver> = OnceLock::new();
    if let Some(driver) = DRIVER.get() {
        return Ok(driver);
    }
    let driver = Driver::load()?;
    Ok(DRIVER.get_or_init(|| driver))
}

impl Driver {
    fn load() -> Result<Self, Fault> {
        // SAFETY: loading a library runs its initialisers. Those of NVIDIA's libcuda (and of its stub)
        // may run at any time on any thread; that no other library of that name is found is up to the
        // user's loader path, as for every program that uses CUDA.
        if !unsafe { is_culib_present() } {
            return Err(Fault::NoLibrary);
        }
        // SAFETY: each pointer is looked up under the name whose C declaration in `cuda.h` has the
        // field's type (`CUresult` and `CUdevice_attribute` are C enums, passed as `int`; `CUuuid` is
        // 16 bytes), and lives as long as the program, since `culib` never unloads what it loaded.
        unsafe {
            Ok(Self {
                init: function("cuInit")?,
                version: function("cuDriverGetVersion")?,
                count: function("cuDeviceGetCount")?,
                device: function("cuDeviceGet")?,
                name: function("cuDeviceGetName")?,
                // The first version gives a slice of a partitioned card the whole card's UUID.
                uuid: function("cuDeviceGetUuid_v2").or_else(|_| function("cuDeviceGetUuid"))?,
                memory: function("cuDeviceTotalMem_v2")?,
                attribute: function("cuDeviceGetAttribute")?,
            })
        }
    }

    fn init(&self) -> Result<(), Fault> {
        // SAFETY: 0 is the only value of the flags; may be called repeatedly and from any thread.
        check("cuInit", unsafe { (self.init)(0) })
    }

    /// May be asked before `init`.
    fn version(&self) -> Result<u32, Fault> {
        let mut version: c_int = 0;
        // SAFETY: writes one int.
        let code = unsafe { (self.version)(&raw mut version) };
        check("cuDriverGetVersion", code)?;
        Ok(u32::try_from(version).unwrap_or(0))
    }

    fn count(&self) -> Result<c_int, Fault> {
        let mut count: c_int = 0;
        // SAFETY: writes one int.
        let code = unsafe { (self.count)(&raw mut count) };
        check("cuDeviceGetCount", code)?;
        Ok(count)
    }

    fn card(&self, ordinal: c_int) -> Result<Card, Fault> {
        let mut device: CUdevice = 0;
        // SAFETY: writes one device handle; an ordinal out of range is an error.
        let code = unsafe { (self.device)(&raw mut device, ordinal) };
        check("cuDeviceGet", code)?;

        let mut uuid = CUuuid { bytes: [0; 16] };
        // SAFETY: writes 16 bytes. `device` is a plain number that the driver checks.
        let code = unsafe { (self.uuid)(&raw mut uuid, device) };
        check("cuDeviceGetUuid", code)?;

        let major = self.attribute(
            device,
            Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        );
        let minor = self.attribute(
            device,
            Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        );
        Ok(Card {
            // The same bits: C's `char` is signed on some machines.
            uuid: uuid.bytes.map(|byte| u8::from_ne_bytes(byte.to_ne_bytes())),
            name: self.name(device)?,
            capability: major.zip(minor),
            sms: self.attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
            memory: self.memory(device),
        })
    }

    fn name(&self, device: CUdevice) -> Result<String, Fault> {
        let mut bytes: [c_char; NAME_BYTES] = [0; NAME_BYTES];
        let room = c_int::try_from(NAME_BYTES).unwrap_or(0);
        // SAFETY: writes at most `room` bytes, the closing zero included.
        let code = unsafe { (self.name)(bytes.as_mut_ptr(), room, device) };
        check("cuDeviceGetName", code)?;
        let bytes = bytes.map(|byte| u8::from_ne_bytes(byte.to_ne_bytes()));
        let name = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
        Ok(name.to_string_lossy().into_owned())
    }

    fn memory(&self, device: CUdevice) -> Option<u64> {
        let mut bytes: usize = 0;
        // SAFETY: writes one `size_t`.
        let code = unsafe { (self.memory)(&raw mut bytes, device) };
        (code == SUCCESS).then_some(bytes as u64)
    }

    fn attribute(&self, device: CUdevice, attribute: Attribute) -> Option<u32> {
        let mut value: c_int = 0;
        // SAFETY: writes one int; an attribute that the driver does not know is an error.
        let code = unsafe { (self.attribute)(&raw mut value, attribute as c_int, device) };
        (code == SUCCESS).then(|| u32::try_from(value).ok())?
    }
}

/// Looks up a function of libcuda.
///
/// # Safety
/// `F` is the type of a pointer to that function, and [`is_culib_present`] has said yes.
unsafe fn function<F: Copy>(name: &'static str) -> Result<F, Fault> {
    // SAFETY: the library has just been loaded once with success, so that loading it for good does not
    // panic (if it did, the panic would end this question's thread only); the caller vouches for `F`.
    let found = unsafe { culib().get::<F>(name.as_bytes()) };
    found
        .map(|pointer| *pointer)
        .map_err(|_| Fault::NoFunction(name))
}

fn check(call: &'static str, code: c_int) -> Result<(), Fault> {
    match code {
        SUCCESS => Ok(()),
        _ => Err(Fault::Call { call, code }),
    }
}

/// The name that `cuda.h` gives to an error a probe can meet.
pub(crate) fn code_name(code: c_int) -> &'static str {
    match code {
        2 => "CUDA_ERROR_OUT_OF_MEMORY",
        3 => "CUDA_ERROR_NOT_INITIALIZED",
        34 => "CUDA_ERROR_STUB_LIBRARY",
        36 => "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
        46 => "CUDA_ERROR_DEVICE_UNAVAILABLE",
        100 => "CUDA_ERROR_NO_DEVICE",
        101 => "CUDA_ERROR_INVALID_DEVICE",
        214 => "CUDA_ERROR_ECC_UNCORRECTABLE",
        303 => "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED",
        304 => "CUDA_ERROR_OPERATING_SYSTEM",
        802 => "CUDA_ERROR_SYSTEM_NOT_READY",
        803 => "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        804 => "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
        805 => "CUDA_ERROR_MPS_CONNECTION_FAILED",
        999 => "CUDA_ERROR_UNKNOWN",
        _ => "an error of CUDA",
    }
}
