//! The binary `gfgcn`; everything is in the library beside it.

#[global_allocator]
static ALLOCATOR: gfgcn_cli::LastResort = gfgcn_cli::LastResort;

fn main() -> std::process::ExitCode {
    gfgcn_cli::run()
}
