//! The binary `gfgcn`; everything is in the library beside it.

fn main() -> std::process::ExitCode {
    gfgcn_cli::run()
}
