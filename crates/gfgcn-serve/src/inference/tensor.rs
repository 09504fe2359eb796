//! Tensors as the protocol sends them.

use crate::problem::Problem;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tensor of a request.
#[derive(Debug, Deserialize)]
pub(super) struct Input {
    pub(super) name: String,
    shape: Vec<u64>,
    datatype: String,
    data: Option<Value>,
    #[serde(default)]
    parameters: InputParameters,
}

#[derive(Debug, Default, Deserialize)]
struct InputParameters {
    binary_data_size: Option<usize>,
}

impl Input {
    /// Its entries as ids of nodes; bytes of its own are taken from the front of the rest.
    pub(super) fn ids(&self, rest: &mut &[u8]) -> Result<Vec<String>, Problem> {
        let wrong = |why: &str| Problem::bad_request(format!("the input {:?} {why}", self.name));
        let ids = match (self.parameters.binary_data_size, &self.data) {
            (Some(size), None) => {
                let (own, others) = rest
                    .split_at_checked(size)
                    .ok_or_else(|| wrong("has fewer bytes than it says"))?;
                *rest = others;
                self.of_bytes(own)?
            }
            (None, Some(data)) => {
                let mut ids = Vec::new();
                self.of_json(data, &mut ids)?;
                ids
            }
            _ => return Err(wrong("has either data or binary_data_size")),
        };
        let count = self.shape.iter().try_fold(1u64, |product, &side| product.checked_mul(side));
        if count != Some(ids.len() as u64) {
            return Err(wrong(&format!("has {} entries, which is not its shape", ids.len())));
        }
        Ok(ids)
    }

    fn of_json(&self, data: &Value, ids: &mut Vec<String>) -> Result<(), Problem> {
        match (data, self.datatype.as_str()) {
            (Value::Array(items), _) => items.iter().try_for_each(|item| self.of_json(item, ids)),
            (Value::String(text), "BYTES") => {
                ids.push(text.clone());
                Ok(())
            }
            (Value::Number(number), kind) if bytes_of(kind).is_some() && !number.is_f64() => {
                ids.push(number.to_string());
                Ok(())
            }
            _ => Err(self.unknown_type()),
        }
    }

    fn of_bytes(&self, bytes: &[u8]) -> Result<Vec<String>, Problem> {
        if self.datatype == "BYTES" {
            return self.of_texts(bytes);
        }
        let size = bytes_of(&self.datatype).ok_or_else(|| self.unknown_type())?;
        let signed = self.datatype.starts_with('I');
        let (items, []) = (bytes.chunks_exact(size), bytes.chunks_exact(size).remainder()) else {
            return Err(Problem::bad_request(format!("the input {:?} ends early", self.name)));
        };
        let number = |item: &[u8]| {
            let negative = signed && item[size - 1] & 0x80 != 0;
            let mut wide = [if negative { 0xff } else { 0 }; 16];
            wide[..size].copy_from_slice(item);
            i128::from_le_bytes(wide).to_string()
        };
        Ok(items.map(number).collect())
    }

    /// Each with its length in four bytes before it.
    fn of_texts(&self, mut bytes: &[u8]) -> Result<Vec<String>, Problem> {
        let ends = || Problem::bad_request(format!("the input {:?} ends early", self.name));
        let mut ids = Vec::new();
        while !bytes.is_empty() {
            let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(ends)?;
            let length = u32::from_le_bytes(*length) as usize;
            let (text, rest) = rest.split_at_checked(length).ok_or_else(ends)?;
            let text = std::str::from_utf8(text).map_err(|_| {
                Problem::bad_request(format!("the input {:?} is not UTF-8", self.name))
            })?;
            ids.push(text.to_owned());
            bytes = rest;
        }
        Ok(ids)
    }

    fn unknown_type(&self) -> Problem {
        Problem::bad_request(format!(
            "the input {:?} has entries that are not of its type, or a type other than BYTES and the integers",
            self.name
        ))
    }
}

/// The bytes of an integer type.
fn bytes_of(datatype: &str) -> Option<usize> {
    match datatype {
        "INT64" | "UINT64" => Some(8),
        "INT32" | "UINT32" => Some(4),
        "INT16" | "UINT16" => Some(2),
        "INT8" | "UINT8" => Some(1),
        _ => None,
    }
}

/// Entries of an answer.
pub(super) enum Data {
    Text(Vec<String>),
    Numbers(Vec<f64>),
}

impl Data {
    pub(super) fn numbers(rows: impl Iterator<Item = Vec<f64>>) -> Self {
        Data::Numbers(rows.flatten().collect())
    }

    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Data::Text(texts) => {
                let one = |text: &String| {
                    let length = (text.len() as u32).to_le_bytes();
                    length.into_iter().chain(text.bytes()).collect::<Vec<u8>>()
                };
                texts.iter().flat_map(one).collect()
            }
            Data::Numbers(numbers) => {
                numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
            }
        }
    }
}

/// A tensor of an answer.
#[derive(Serialize)]
pub(super) struct Tensor {
    name: String,
    datatype: &'static str,
    shape: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Value>,
}

impl Tensor {
    /// With its data as JSON, or appended to some bytes.
    pub(super) fn new(
        name: &str,
        rows: usize,
        columns: Option<usize>,
        data: Data,
        bytes: Option<&mut Vec<u8>>,
    ) -> Self {
        let datatype = if matches!(data, Data::Text(_)) { "BYTES" } else { "FP64" };
        let shape = [rows].into_iter().chain(columns).collect();
        let (json, parameters) = match bytes {
            Some(bytes) => {
                let own = data.to_bytes();
                bytes.extend_from_slice(&own);
                (None, Some(serde_json::json!({ "binary_data_size": own.len() })))
            }
            None => (Some(data.into()), None),
        };
        Tensor { name: name.to_owned(), datatype, shape, data: json, parameters }
    }
}

impl From<Data> for Value {
    fn from(data: Data) -> Self {
        match data {
            Data::Text(texts) => texts.into(),
            Data::Numbers(numbers) => numbers.into(),
        }
    }
}
