//! The real server on loopback, asked by a real client.

mod client;
mod everyday;
#[cfg(target_os = "linux")]
mod hostile;
#[cfg(unix)]
mod load;
mod openapi;
#[path = "../cli/sandbox.rs"]
#[allow(dead_code)]
mod sandbox;
