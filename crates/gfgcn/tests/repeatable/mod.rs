//! Property tests that fail for everybody or for nobody.

use proptest::test_runner::{Config, FileFailurePersistence, RngSeed};

/// So many cases, after those that have ever failed, which a file beside the tests keeps. They are the same
/// every time, unless the variable PROPTEST_RNG_SEED asks for others.
pub(crate) fn repeatable(test: &str, cases: u32) -> Config {
    let default = Config::default();
    let rng_seed = match default.rng_seed {
        RngSeed::Random => RngSeed::Fixed(0),
        given => given,
    };
    let file = format!("{}/tests/proptest-regressions/{test}.txt", env!("CARGO_MANIFEST_DIR"));
    // The path must live as long as the program; there is one for every test.
    let failures = FileFailurePersistence::Direct(file.leak());
    Config { cases, rng_seed, failure_persistence: Some(Box::new(failures)), ..default }
}
