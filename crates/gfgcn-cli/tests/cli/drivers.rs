//! Drivers that are old, broken or full: libraries of their name that say so, in front of whatever the machine has.

#![allow(clippy::print_stdout)] // why tests are skipped

use crate::sandbox::{Run, Sandbox};
use std::fs;
use std::process::Command;

/// What a driver of this name would say. Macros are what is wrong with it.
const DRIVER: &str = r#"
#include <stddef.h>
#ifndef START
#define START 0
#endif
#ifndef CONTEXT
#define CONTEXT 2
#endif
#ifndef GENERATION
#define GENERATION 9
#endif
#ifndef GPUS
#define GPUS 1
#endif
int cuInit(unsigned flags) { return START; }
#ifdef VERSION
int cuDriverGetVersion(int *version) { *version = VERSION; return 0; }
#endif
int cuGetErrorString(int error, const char **text) { *text = "an error"; return 0; }
int cuGetErrorName(int error, const char **text) { *text = "AN_ERROR"; return 0; }
int cuDeviceGetCount(int *count) { *count = GPUS; return 0; }
int cuDeviceGet(int *device, int number) { *device = number; return 0; }
int cuDeviceGetName(char *name, int length, int device) { name[0] = 'X'; name[1] = 0; return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = (size_t)1 << 30; return 0; }
/* 75 and 76 are the two parts of the architecture. */
int cuDeviceGetAttribute(int *value, int which, int device) { *value = which == 75 ? GENERATION : 0; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = 0; return CONTEXT; }
int cuDevicePrimaryCtxRelease_v2(int device) { return 0; }
"#;

/// A folder with a driver, and with a cuBLAS that is empty or no library at all.
struct Fake {
    sandbox: Sandbox,
}

impl Fake {
    /// `None` where there is no compiler.
    fn new(macros: &[&str], has_cublas: bool) -> Option<Self> {
        let sandbox = Sandbox::new();
        sandbox.write("driver.c", DRIVER);
        sandbox.write("nothing.c", "");
        sandbox.write("libraries/README", "");
        let compile = |source: &str, name: &str, macros: &[&str]| {
            let mut command = Command::new("cc");
            command.args(["-shared", "-fPIC", "-w", "-o"]);
            command.arg(sandbox.path("libraries").join(name)).arg(sandbox.path(source));
            command.args(macros.iter().map(|definition| format!("-D{definition}")));
            command.status().is_ok_and(|status| status.success())
        };
        if !compile("driver.c", "libcuda.so", macros) {
            println!("skipped: there is no C compiler");
            return None;
        }
        match has_cublas {
            true => assert!(compile("nothing.c", "libcublas.so", &[])),
            // Found first, and refused by the loader.
            false => {
                for version in ["", ".13", ".12", ".11", ".10", ".9", ".1"] {
                    let name = format!("libcublas.so{version}");
                    fs::write(sandbox.path("libraries").join(name), "not a library").unwrap();
                }
            }
        }
        Some(Fake { sandbox })
    }

    fn run(&self, arguments: &str) -> Run {
        let mut command = self.sandbox.gfgcn(arguments);
        command.env("LD_LIBRARY_PATH", self.sandbox.path("libraries"));
        for variable in
            ["CUDA_HOME", "CUDA_PATH", "GFGCN_CUDA_LIBRARIES", "VIRTUAL_ENV", "CONDA_PREFIX"]
        {
            command.env_remove(variable);
        }
        command.output().unwrap().into()
    }
}

#[test]
fn what_is_wrong_with_a_driver_is_said_and_nothing_is_written() {
    let cases: [(&[&str], bool, &str); 8] = [
        (&["START=100"], true, "there is a driver, but no GPU"),
        (&["START=999", "VERSION=12080"], true, "the driver does not start"),
        (&["VERSION=11040"], true, "the driver is for CUDA 11.4 and older; CUDA 12.1 is needed"),
        (&[], true, "the driver lacks a function; install a newer one"),
        (&["VERSION=12080"], false, "cuBLAS (libcublas) was not found"),
        (&["VERSION=12080", "GENERATION=6"], true, "its architecture 6.0 is older than 7.0"),
        (&["VERSION=12080", "CONTEXT=2"], true, "its memory is full"),
        (&["VERSION=12080", "CONTEXT=46"], true, "it was lost"),
    ];
    for (macros, has_cublas, expected) in cases {
        let Some(fake) = Fake::new(macros, has_cublas) else { return };
        let listed = fake.run("devices");
        assert_eq!(listed.status, Some(0), "{listed:?}");
        assert!(listed.stdout.contains(expected), "{macros:?}: {listed:?}");
        let asked = fake.run("fit cora --public-split --depth 2 --device cuda -o a.model");
        assert_eq!(asked.status, Some(4), "{asked:?}");
        assert!(asked.stderr.contains(expected), "{macros:?}: {asked:?}");
        assert!(!asked.stderr.contains("panicked"), "{asked:?}");
        assert!(!fake.sandbox.path("a.model").exists());
    }
}

#[test]
fn a_number_that_is_not_there_is_named_with_those_that_are() {
    for (gpus, expected) in [("GPUS=0", "there is no GPU"), ("GPUS=3", "cuda:0 to cuda:2 are")] {
        let Some(fake) = Fake::new(&["VERSION=12080", gpus], true) else { return };
        let asked = fake.run("fit cora --public-split --depth 2 --device cuda:7 -o a.model");
        assert_eq!(asked.status, Some(4), "{asked:?}");
        let message = format!("cuda:7: it is not there; {expected}");
        assert!(asked.stderr.contains(&message), "{asked:?}");
    }
}

/// With `auto`, a GPU that is full is a note, and the processor's result.
#[test]
fn a_gpu_that_is_full_is_left_alone_where_nobody_asked_for_it() {
    let Some(fake) = Fake::new(&["VERSION=12080", "CONTEXT=2"], true) else { return };
    let work = "evaluate pubmed --splits 1 --depths 64,512 --models gfsgc --json";
    let auto = fake.run(work);
    assert_eq!(auto.status, Some(0), "{auto:?}");
    let said = "computed on the processor: cuda:0: its memory is full";
    assert!(auto.stderr.contains(said), "{auto:?}");
    let cpu = fake.run(&format!("{work} --device cpu"));
    let scores = |run: &Run| -> Vec<String> {
        let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        report["results"].as_array().unwrap().iter().map(|row| row["scores"].to_string()).collect()
    };
    assert_eq!(scores(&auto), scores(&cpu));
}
