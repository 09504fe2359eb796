//! What `gfgcn serve` and `gfgcn explore` share: where they listen, who may ask, and how they end.

pub(crate) mod explore;
pub(crate) mod model;

use crate::interrupt;
use crate::output::Output;
use clap::{Args, ValueEnum};
use gfgcn::files::read_file;
use gfgcn::{Error, Result};
use gfgcn_serve::{Options, Server};
use serde::Serialize;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;

/// Where to listen, and to whom.
#[derive(Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct Listening {
    /// Address to listen on; any but this machine's own needs --token-file
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,
    /// Port to listen on; 0 for any that is free
    #[arg(long, value_name = "PORT", default_value_t = 8080)]
    port: u16,
    /// File with a token that requests must show, as Authorization: Bearer TOKEN
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Allow requests from pages of this origin, such as https://example.org; may be given several times
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// The longest that a request may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    time_limit: u64,
    /// The largest request, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=1024))]
    body_limit: u64,
    /// Log format on standard error [default: text, of explore none]
    #[arg(long, value_enum, value_name = "FORM")]
    log: Option<Log>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Log {
    /// Nothing but warnings
    None,
    /// A line
    Text,
    /// An object of JSON
    Json,
}

impl Listening {
    fn options(&self, name: &str, journal: Option<PathBuf>) -> Result<Options> {
        let token = match &self.token_file {
            Some(path) => {
                let bytes = read_file(path)?;
                let text = String::from_utf8(bytes).ok();
                let token = text.as_deref().map(str::trim).filter(|token| {
                    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())
                });
                let unusable = || {
                    let what = "is not one token of ASCII characters without spaces";
                    Error::Data(what.into()).in_file(path)
                };
                Some(token.ok_or_else(unusable)?.to_owned())
            }
            None => None,
        };
        Ok(Options {
            host: self.host,
            port: self.port,
            token,
            origins: self.allow_origin.clone(),
            journal,
            time: std::time::Duration::from_secs(self.time_limit),
            body_bytes: (self.body_limit << 20) as usize,
            ..Options::new(name)
        })
    }

    fn start_log(&self, output: &Output, default: Log) {
        let form = if output.is_quiet() { Log::None } else { self.log.unwrap_or(default) };
        let level = match form {
            Log::None => tracing_subscriber::filter::LevelFilter::WARN,
            Log::Text | Log::Json => tracing_subscriber::filter::LevelFilter::INFO,
        };
        let log = tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr);
        let log = log.with_target(false).with_ansi(false);
        // Only tests start two in one process.
        let _ = match form {
            Log::Json => log.json().flatten_event(true).try_init(),
            Log::None | Log::Text => log.try_init(),
        };
    }
}

/// What is printed once the server is ready.
#[derive(Serialize)]
struct Ready {
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    journal: Option<String>,
    #[serde(skip)]
    what: String,
}

/// Answers requests until Ctrl-C or SIGTERM.
fn run(server: Server, ready: &Ready, output: &Output) -> anyhow::Result<()> {
    let stop = server.stop();
    interrupt::stop_orderly(move || stop.stop());
    server.notes().iter().for_each(|note| output.note(note));
    output.report(ready, |ready| format!("{}\nStop with Ctrl-C.", ready.what))?;
    server.run()?;
    // As other commands say that they were asked to end.
    Err(Error::Cancelled.into())
}

/// As many open files as the system allows: each connection is one.
#[cfg(unix)]
fn allow_connections() {
    // SAFETY: plain structures that the calls fill in and read.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

#[cfg(not(unix))]
fn allow_connections() {}
