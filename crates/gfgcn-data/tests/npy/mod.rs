//! A writer of `.npy` arrays of the tests' own, by the format's definition; it writes what it is
//! told to, right or wrong.

#![allow(dead_code)] // each test binary uses its part

/// The bytes of an array. `descr` is Python source, with its quotes; `shape` what stands between
/// the parentheses.
pub(crate) fn array(descr: &str, shape: &str, payload: &[u8]) -> Vec<u8> {
    with_header(
        &format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({shape}), }}"),
        payload,
    )
}

/// The bytes of an array whose first index varies fastest.
pub(crate) fn fortran(descr: &str, shape: &str, payload: &[u8]) -> Vec<u8> {
    with_header(
        &format!("{{'descr': {descr}, 'fortran_order': True, 'shape': ({shape}), }}"),
        payload,
    )
}

/// The bytes of an array with this header.
pub(crate) fn with_header(header: &str, payload: &[u8]) -> Vec<u8> {
    let length = (header.len() as u16 + 1).to_le_bytes();
    [b"\x93NUMPY\x01\0", &length[..], header.as_bytes(), b"\n", payload].concat()
}

/// Numbers of one type, such as `<i8`, `>f4` or `|b1`.
pub(crate) fn items(descr: &str, values: &[f64]) -> Vec<u8> {
    let (order, kind) = descr.split_at(1);
    let mut out = Vec::new();
    for &value in values {
        let mut item = match kind {
            "f4" => (value as f32).to_le_bytes().to_vec(),
            "f8" => value.to_le_bytes().to_vec(),
            integer => {
                let size = integer[1..].parse().expect("a size in bytes");
                (value as i128).to_le_bytes()[..size].to_vec()
            }
        };
        if order == ">" {
            item.reverse();
        }
        out.extend(item);
    }
    out
}

/// A one-dimensional array of numbers.
pub(crate) fn vector(descr: &str, values: &[f64]) -> Vec<u8> {
    array(&format!("'{descr}'"), &format!("{},", values.len()), &items(descr, values))
}

/// An array of text as wide as its longest, in the byte order given.
pub(crate) fn texts(order: char, texts: &[&str]) -> Vec<u8> {
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(1);
    let padded = texts.iter().flat_map(|text| text.chars().chain(['\0'; 99]).take(width));
    let codes: Vec<f64> = padded.map(|c| f64::from(c as u32)).collect();
    let payload = items(&format!("{order}u4"), &codes);
    array(&format!("'{order}U{width}'"), &format!("{},", texts.len()), &payload)
}
