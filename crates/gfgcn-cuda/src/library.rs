//! Finding what CUDA needs, and saying what is missing.

use cudarc::cublas::result::CublasError;
use cudarc::cublas::sys::cublasStatus_t;
use cudarc::driver::{result, sys};
use gfgcn::{Error, Result};
use std::env;
use std::fs;
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The oldest driver that can read our PTX, as it numbers itself: CUDA 12.1.
const OLDEST_DRIVER: i32 = 12010;
/// The oldest architecture that the kernels are compiled for.
const OLDEST_ARCHITECTURE: (i32, i32) = (7, 0);
/// Folders with cuBLAS, separated as in `PATH`.
const FOLDERS: &str = "GFGCN_CUDA_LIBRARIES";

/// A GPU that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The number it is chosen by: `cuda:0`.
    pub number: usize,
    /// What its maker calls it.
    pub name: String,
    /// Bytes of memory that are free, and all of them.
    pub memory: (u64, u64),
    /// The generation of the architecture.
    pub architecture: (i32, i32),
    /// Why it cannot be used, if it cannot.
    pub unusable: Option<String>,
}

/// The GPUs of this machine.
///
/// # Errors
/// Why none can be found: no driver, one that is too old, or none of the libraries.
pub fn devices() -> Result<Vec<Found>> {
    load()?;
    (0..count()?).map(describe).collect()
}

fn count() -> Result<usize> {
    guarded(|| result::device::get_count().map_err(|error| error.to_string())).map(|n| n as usize)
}

/// The GPU of a number, if it is there and can be used.
pub(crate) fn check_there(number: usize) -> Result<Found> {
    let (name, count) = (format!("cuda:{number}"), count()?);
    if number >= count {
        let there = match count {
            0 => "there is no GPU".to_owned(),
            1 => "only cuda:0 is".to_owned(),
            count => format!("cuda:0 to cuda:{} are", count - 1),
        };
        return Err(failure(&name, format!("it is not there; {there}")));
    }
    let found = describe(number)?;
    match found.unusable {
        Some(problem) => Err(failure(&name, problem)),
        None => Ok(found),
    }
}

fn describe(number: usize) -> Result<Found> {
    guarded(|| {
        let failed = |error: result::DriverError| error.to_string();
        let device = result::device::get(number as i32).map_err(failed)?;
        let attribute = |attribute| unsafe { result::device::get_attribute(device, attribute) };
        use sys::CUdevice_attribute as Attribute;
        let architecture = (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR).map_err(failed)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR).map_err(failed)?,
        );
        let total = unsafe { result::device::total_mem(device) }.map_err(failed)? as u64;
        // How much is free is only known to who uses it.
        let free = cudarc::driver::CudaContext::new(number).and_then(|gpu| gpu.mem_get_info());
        let old = architecture < OLDEST_ARCHITECTURE;
        let unusable = match (&free, old) {
            (_, true) => Some(format!(
                "its architecture {}.{} is older than {}.{}",
                architecture.0, architecture.1, OLDEST_ARCHITECTURE.0, OLDEST_ARCHITECTURE.1
            )),
            (Err(error), _) => Some(explained(error)),
            _ => None,
        };
        Ok(Found {
            number,
            name: result::device::get_name(device).map_err(failed)?,
            memory: (free.map_or(0, |(free, _)| free as u64), total),
            architecture,
            unusable,
        })
    })
}

/// Loads driver and cuBLAS, once.
pub(crate) fn load() -> Result<()> {
    static LOADED: OnceLock<std::result::Result<(), String>> = OnceLock::new();
    LOADED.get_or_init(|| catch(look)).clone().map_err(|problem| failure("cuda", problem))
}

fn look() -> std::result::Result<(), String> {
    // SAFETY: libraries of the system; their initialisers are NVIDIA's.
    if !unsafe { sys::is_culib_present() } {
        return Err("there is no NVIDIA driver (libcuda was not found)".into());
    }
    result::init().map_err(|error| match error.0 {
        sys::CUresult::CUDA_ERROR_NO_DEVICE => "there is a driver, but no GPU".to_owned(),
        _ => format!("the driver does not start: {}", explained(&error)),
    })?;
    let mut version = 0;
    // SAFETY: writes one number.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result().map_err(|e| explained(&e))?;
    if version < OLDEST_DRIVER {
        let shown = |version: i32| format!("{}.{}", version / 1000, version % 1000 / 10);
        return Err(format!(
            "the driver is for CUDA {} and older; CUDA {} is needed: install a newer driver",
            shown(version),
            shown(OLDEST_DRIVER)
        ));
    }
    find_cublas()
}

/// Makes cuBLAS known: by name, as the system finds it, or from the folders where people have it.
fn find_cublas() -> std::result::Result<(), String> {
    // SAFETY: as above.
    if unsafe { cudarc::cublas::sys::is_culib_present() } {
        return Ok(());
    }
    for folder in folders() {
        for version in ["13", "12", "11"] {
            // The second needs the first, which the system may not find by itself.
            let kept = ["libcublasLt.so", "libcublas.so"].map(|name| {
                // SAFETY: as above. Never unloaded: later look-ups by name find it as it is loaded.
                let library =
                    unsafe { libloading::Library::new(folder.join(format!("{name}.{version}"))) };
                library.map(std::mem::forget)
            });
            // SAFETY: as above.
            if kept[1].is_ok() && unsafe { cudarc::cublas::sys::is_culib_present() } {
                return Ok(());
            }
        }
    }
    Err(format!(
        "cuBLAS (libcublas) was not found; install it (pip install nvidia-cublas) or name its folder in {FOLDERS}"
    ))
}

/// Where else Python packages may be, in which NVIDIA's libraries are: known to whoever is one.
static PACKAGES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Looks for NVIDIA's libraries among the Python packages of some folders, too. Says nothing any more once a GPU was looked for.
pub fn look_for_libraries_in(packages: impl IntoIterator<Item = PathBuf>) {
    PACKAGES.lock().unwrap_or_else(PoisonError::into_inner).extend(packages);
}

/// Where cuBLAS may be that the system does not look for it.
fn folders() -> Vec<PathBuf> {
    let named = env::var_os(FOLDERS);
    let named = named.iter().flat_map(env::split_paths);
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os);
    let toolkits = toolkits.map(PathBuf::from).chain([PathBuf::from("/usr/local/cuda")]);
    let toolkits = toolkits.map(|toolkit| toolkit.join("lib64"));
    let environments = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(env::var_os);
    let environments = environments.flat_map(|folder| packages_of(Path::new(&folder)));
    let known = PACKAGES.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let wheels = known.into_iter().chain(environments).flat_map(|packages| wheels_in(&packages));
    named.chain(toolkits).chain(wheels).collect()
}

/// The folders of packages of a virtual environment, or of Conda's.
fn packages_of(environment: &Path) -> Vec<PathBuf> {
    let versions = fs::read_dir(environment.join("lib")).into_iter().flatten().flatten();
    let pythons =
        versions.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"python"));
    let mut found: Vec<PathBuf> = pythons.map(|entry| entry.path().join("site-packages")).collect();
    found.sort();
    found
}

/// The folders in which NVIDIA's wheels have cuBLAS: one of its own for CUDA 12, one for all libraries since.
fn wheels_in(packages: &Path) -> [PathBuf; 2] {
    ["cu13", "cublas"].map(|wheel| packages.join("nvidia").join(wheel).join("lib"))
}

/// What is wrong with a device, as the library says it.
pub(crate) fn failure(device: &str, problem: String) -> Error {
    Error::Device { device: device.to_owned(), problem }
}

/// What a GPU without memory gets.
const FULL: &str = "its memory is full; end other programs that use it, or compute on the cpu";
/// Bytes that cuBLAS starts with, at most.
const FOR_CUBLAS: usize = 256 << 20;

/// An error of cuBLAS in words, on a GPU with so many bytes free. It does not always say that it lacks memory.
pub(crate) fn explained_cublas(error: &CublasError, free: Option<usize>) -> String {
    let lacks_memory = error.0 == cublasStatus_t::CUBLAS_STATUS_ALLOC_FAILED;
    match lacks_memory || free.is_some_and(|free| free < FOR_CUBLAS) {
        true => FULL.to_owned(),
        false => format!("cuBLAS: {error}"),
    }
}

/// A driver's error in words.
pub(crate) fn explained(error: &result::DriverError) -> String {
    match error.0 {
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => FULL.to_owned(),
        sys::CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE
        | sys::CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
        | sys::CUresult::CUDA_ERROR_LAUNCH_FAILED
        | sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
        | sys::CUresult::CUDA_ERROR_UNKNOWN => format!("it was lost while it worked ({error})"),
        _ => match error.error_string() {
            Ok(text) => text.to_string_lossy().into_owned(),
            Err(_) => error.to_string(),
        },
    }
}

/// A library of another version may lack a function, which the bindings answer with a panic.
fn catch<T>(
    work: impl FnOnce() -> std::result::Result<T, String>,
) -> std::result::Result<T, String> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let outcome = panic::catch_unwind(panic::AssertUnwindSafe(work));
    panic::set_hook(hook);
    outcome.unwrap_or_else(|_| Err("the driver lacks a function; install a newer one".into()))
}

fn guarded<T>(work: impl FnOnce() -> std::result::Result<T, String>) -> Result<T> {
    catch(work).map_err(|problem| failure("cuda", problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_is_missing_is_an_error_and_no_panic() {
        let outcome = catch::<()>(|| panic!("Missing symbol cuFoo"));
        assert!(outcome.unwrap_err().contains("newer"));
    }

    #[test]
    fn libraries_are_found_where_pip_puts_them() {
        let environment = env::temp_dir().join(format!("gfgcn-wheels-{}", std::process::id()));
        let packages = environment.join("lib/python3.12/site-packages");
        let wheel = packages.join("nvidia/cublas/lib");
        fs::create_dir_all(&wheel).unwrap();
        assert_eq!(packages_of(&environment), std::slice::from_ref(&packages));
        assert!(wheels_in(&packages).contains(&wheel));
        look_for_libraries_in([packages]);
        assert!(folders().contains(&wheel));
        fs::remove_dir_all(environment).unwrap();
        assert!(packages_of(Path::new("/nowhere")).is_empty());
    }

    #[test]
    fn without_a_driver_it_is_said_what_is_missing() {
        if let Err(error) = devices() {
            let text = error.to_string();
            assert!(text.starts_with("cuda: ") && error.is_machine_failure(), "{text}");
        }
    }
}
