//! Model files taken apart and put together again with a valid checksum, so that a test reaches
//! what the checksum would hide. Written from the description of the format, not with its writer.

#![allow(dead_code)] // each user needs its part

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A model file in its parts.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    /// The header of the model, without its checksum.
    pub(crate) header: String,
    /// In the order in which their bytes lie in the file.
    pub(crate) tensors: Vec<Tensor>,
}

#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) dtype: String,
    pub(crate) shape: Vec<u64>,
    pub(crate) bytes: Vec<u8>,
}

const CHECKSUM: &str = "\"checksum\":\"";

impl Parts {
    /// Takes a file apart; `None` where it is too damaged for that.
    pub(crate) fn of(file: &[u8]) -> Option<Self> {
        let (length, rest) = file.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (json, data) = rest.split_at_checked(length)?;
        let json: Value = serde_json::from_slice(json).ok()?;
        let header = json["__metadata__"]["gfgcn"].as_str()?;
        let (before, checksum) = header.split_at_checked(header.rfind(CHECKSUM)?)?;
        let after = checksum[CHECKSUM.len()..].split_once('"')?.1;
        let mut tensors = Vec::new();
        for (name, tensor) in json.as_object()?.iter().filter(|(name, _)| *name != "__metadata__") {
            let number = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
            let start = number(&tensor["data_offsets"][0])?;
            let bytes = data.get(start..number(&tensor["data_offsets"][1])?)?.to_vec();
            let dtype = tensor["dtype"].as_str()?.to_owned();
            let shape = tensor["shape"].as_array()?.iter().map(Value::as_u64);
            let shape = shape.collect::<Option<_>>()?;
            tensors.push((start, Tensor { name: name.clone(), dtype, shape, bytes }));
        }
        tensors.sort_by_key(|(start, _)| *start);
        let header = format!("{before}{CHECKSUM}\"{after}");
        Some(Parts { header, tensors: tensors.into_iter().map(|(_, tensor)| tensor).collect() })
    }

    /// A tensor of the first member.
    pub(crate) fn tensor(&mut self, name: &str) -> &mut Tensor {
        let name = format!("0.{name}");
        self.tensors.iter_mut().find(|tensor| tensor.name == name).expect("the tensor is there")
    }

    /// The header with the checksum that belongs to it and the tensors.
    fn sealed_header(&self) -> String {
        // The order in which tensors are hashed: member by member, each with solution, intercept, support.
        let rank = |tensor: &&Tensor| {
            let (member, name) = tensor.name.split_once('.').unwrap_or(("", &tensor.name));
            let kind = match name {
                "weights" | "coefficients" => 0,
                "intercept" => 1,
                _ => 2,
            };
            (member.parse().unwrap_or(usize::MAX), kind)
        };
        let mut tensors: Vec<&Tensor> = self.tensors.iter().collect();
        tensors.sort_by_key(rank);
        let mut hash = Sha256::new();
        hash.update(&self.header);
        tensors.iter().for_each(|tensor| hash.update(&tensor.bytes));
        let checksum = gfgcn::hex(&hash.finalize());
        let at = self.header.rfind(CHECKSUM).expect("a header has a checksum") + CHECKSUM.len();
        format!("{}{checksum}{}", &self.header[..at], &self.header[at..])
    }

    /// The file with a valid checksum.
    pub(crate) fn seal(&self) -> Vec<u8> {
        let mut start = 0;
        let offsets = self.tensors.iter().map(|tensor| {
            let end = start + tensor.bytes.len();
            (std::mem::replace(&mut start, end), end)
        });
        self.seal_with_offsets(&offsets.collect::<Vec<_>>())
    }

    /// The file with a valid checksum, its tensors said to lie at the given offsets.
    pub(crate) fn seal_with_offsets(&self, offsets: &[(usize, usize)]) -> Vec<u8> {
        // By hand, because the order of keys matters: metadata first, then as the bytes lie.
        let metadata = json!({ "gfgcn": self.sealed_header() });
        let mut json = format!("{{\"__metadata__\":{metadata}");
        for (Tensor { name, dtype, shape, .. }, (start, end)) in self.tensors.iter().zip(offsets) {
            json += &format!(
                ",{}:{{\"dtype\":{},\"shape\":{},\"data_offsets\":[{start},{end}]}}",
                json!(name),
                json!(dtype),
                json!(shape)
            );
        }
        json.push('}');
        json.push_str(&" ".repeat(json.len().next_multiple_of(8) - json.len()));
        let mut file = (json.len() as u64).to_le_bytes().to_vec();
        file.extend(json.as_bytes());
        self.tensors.iter().for_each(|tensor| file.extend(&tensor.bytes));
        file
    }
}
