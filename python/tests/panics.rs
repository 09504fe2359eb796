//! The one file of the Rust half that needs no interpreter, and that no call from Python can reach on purpose.

#[path = "../src/panics.rs"]
mod panics;

use panics::message;
use std::panic::{catch_unwind, panic_any};

#[test]
fn messages_of_panics_survive() {
    let zero = std::hint::black_box(0);
    let formatted = catch_unwind(|| panic!("row {zero} of nothing")).unwrap_err();
    assert_eq!(message(&*formatted), "row 0 of nothing");
    let constant = catch_unwind(|| panic!("no rows at all")).unwrap_err();
    assert_eq!(message(&*constant), "no rows at all");
    let of_the_compiler = catch_unwind(|| 1 / zero).unwrap_err();
    assert_eq!(message(&*of_the_compiler), "attempt to divide by zero");
    let strange = catch_unwind(|| panic_any(7)).unwrap_err();
    assert_eq!(message(&*strange), "a panic without a message");
}
