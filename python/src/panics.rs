//! What a panic said, from what it left behind.

use std::any::Any;

/// The message of a panic. Its place is not in there: it is printed to standard error as the panic happens.
pub(crate) fn message(payload: &(dyn Any + Send)) -> &str {
    let constant = payload.downcast_ref::<&'static str>().copied();
    let formatted = || payload.downcast_ref::<String>().map(String::as_str);
    constant.or_else(formatted).unwrap_or("a panic without a message")
}
