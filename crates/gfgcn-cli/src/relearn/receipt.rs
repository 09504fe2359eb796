//! The receipt of what was forgotten, as a file.
//!
//! A receipt and its model are two files, and a program can be killed between them. So a receipt names the hash of the model
//! that it belongs to, and one that belongs to no model says nothing. The receipt comes first: whenever the new model is there,
//! so is its receipt. What it replaces is kept in it (`earlier`), so that the old model has its own as well, if it is
//! the one that stays.

use gfgcn::Result;
use gfgcn::files::write_together;
use gfgcn::training::Receipt;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

#[derive(Serialize)]
struct Dated<'a> {
    gfgcn: &'static str,
    time: String,
    #[serde(flatten)]
    receipt: &'a Receipt,
    /// Of what was forgotten before, the latest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<Value>,
}

/// Where the receipt of a model is, if nobody says otherwise.
pub(crate) fn beside(model: &Path) -> PathBuf {
    let mut name = model.as_os_str().to_owned();
    name.push(".receipt.json");
    name.into()
}

/// Writes a receipt, with the time and the version of this program, and the model that it belongs to.
pub(super) fn save(
    receipt: &Receipt,
    path: &Path,
    (model, content): (&Path, &[u8]),
    overwrite: bool,
) -> Result<()> {
    let dated = Dated {
        gfgcn: env!("CARGO_PKG_VERSION"),
        time: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        receipt,
        earlier: read(path).map_or_else(Vec::new, |all| since(all, &receipt.before.model_sha256)),
    };
    let mut json = serde_json::to_vec_pretty(&dated).expect("a receipt has string keys");
    json.push(b'\n');
    write_together(&[(path, &json), (model, content)], overwrite)
}

/// What a model forgot by a receipt, the latest first; none where the receipt does not belong to it.
pub(crate) fn of_model(receipt: &Path, model: &[u8]) -> Option<Vec<Value>> {
    Some(since(read(receipt)?, &gfgcn::hex(&Sha256::digest(model))))
}

/// The receipts of a file, the latest first.
fn read(path: &Path) -> Option<Vec<Value>> {
    let text = std::fs::read_to_string(path).ok()?;
    let Value::Object(mut latest) = serde_json::from_str(&text).ok()? else { return None };
    let earlier = match latest.remove("earlier") {
        Some(Value::Array(earlier)) => earlier,
        _ => Vec::new(),
    };
    Some(std::iter::once(latest.into()).chain(earlier).collect())
}

/// From the one that belongs to a model on.
fn since(receipts: Vec<Value>, model_sha256: &str) -> Vec<Value> {
    let belongs = |receipt: &Value| receipt["after"]["model_sha256"] == model_sha256;
    receipts.into_iter().skip_while(|receipt| !belongs(receipt)).collect()
}
