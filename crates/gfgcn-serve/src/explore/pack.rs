//! JSON with arrays behind it, as the page reads them without parsing: the length of the JSON in four bytes, the JSON with spaces up to a
//! multiple of four, then each array, filled up to a multiple of four, all little-endian.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// An answer for the page.
#[derive(Debug)]
pub(super) struct Packed(Vec<u8>);

impl Packed {
    pub(super) fn new(header: &impl Serialize) -> Self {
        let mut json = serde_json::to_vec(header).expect("plain data");
        json.resize(json.len().next_multiple_of(4), b' ');
        let mut bytes = (json.len() as u32).to_le_bytes().to_vec();
        bytes.extend(json);
        Packed(bytes)
    }

    pub(super) fn add_u16(&mut self, numbers: &[u16]) {
        self.0.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    pub(super) fn add_u32(&mut self, numbers: impl Iterator<Item = u32>) {
        self.0.extend(numbers.flat_map(u32::to_le_bytes));
    }

    pub(super) fn add_f32(&mut self, numbers: impl Iterator<Item = f32>) {
        self.0.extend(numbers.flat_map(f32::to_le_bytes));
    }
}

impl IntoResponse for Packed {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/octet-stream")], self.0).into_response()
    }
}
