//! The machine that experiments are run on.

/// The name of its processor, where the system knows it; the architecture elsewhere.
pub fn processor() -> String {
    let description = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = description.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim().to_owned());
    name.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}
