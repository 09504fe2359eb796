//! The model file: safetensors, with everything that is not a tensor as JSON in its metadata.
//!
//! The header carries a SHA-256 over itself (without the checksum) and the tensors. A file is
//! accepted only if writing what was read gives the same bytes again, so that no flipped byte, moved
//! tensor or stray entry goes unnoticed.

use super::tensors::{Tensor, has, read_doubles, read_floats, read_matrix};
use super::{Known, Member, Model, Provenance};
use crate::calibration::{Calibration, Link, Sigmoid};
use crate::context::Memory;
use crate::design::Design;
use crate::error::{Error, Result};
use crate::files::{open, read_file, write_atomically};
use crate::head::Head;
use crate::hex::hex;
use crate::matrix::Matrix;
use crate::predictor::Predictor;
use crate::ridge::Ridge;
use crate::training::{Training, TrainingHeader, read_training, training_tensors};
use safetensors::tensor::{SafeTensors, serialize};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

/// A model that is saved is there as many times: itself, its tensors as bytes, and the file.
pub(crate) const SAVING: u64 = 3;
/// The same for one that is read: the file, itself, and what the file must be again, with its parts; names in its header
/// are longer in memory.
const LOADING: u64 = 5;

/// The version of the file's layout. Files of another one are refused, not guessed at.
const SCHEMA: u32 = 7;
/// The key of the header in the metadata.
const KEY: &str = "gfgcn";

#[derive(Serialize, Deserialize)]
struct Header {
    schema: u32,
    members: Vec<MemberHeader>,
    head: Head,
    link: Link,
    known: Known,
    provenance: Provenance,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    training: Option<TrainingHeader>,
    checksum: String,
}

#[derive(Serialize, Deserialize)]
struct MemberHeader {
    share: f64,
    design: Design,
    ridge: Ridge,
    lambda: f64,
}

/// Only what tells another version from damage.
#[derive(Deserialize)]
struct Version {
    schema: u32,
}

impl Model {
    /// Writes the model; an existing file is only replaced with `overwrite`.
    ///
    /// # Errors
    /// A file that is there, that cannot be written, or too little memory to write it from.
    pub fn save(&self, path: &Path, overwrite: bool) -> Result<()> {
        let bytes = self.to_file().map_err(|error| error.in_file(path))?;
        write_atomically(path, overwrite, |file| file.write_all(&bytes))
    }

    /// The bytes of the model file, if there is memory for them.
    ///
    /// # Errors
    /// Too little memory.
    pub fn to_file(&self) -> Result<Vec<u8>> {
        let predictors = self.members.iter().map(|member| member.predictor.memory());
        let kept = self.training.as_ref().map_or(0, Training::memory);
        let misfits = 8 * self.calibration.misfits.iter().map(Vec::len).sum::<usize>() as u64;
        let needed = (SAVING - 1) * (predictors.sum::<u64>() + kept + misfits);
        check_memory("saving the model", needed)?;
        Ok(self.to_bytes())
    }

    /// Reads a model.
    ///
    /// # Errors
    /// Not a model file, one of a later version, any damage, or too little memory.
    pub fn load(path: &Path) -> Result<Self> {
        let length = open(path)?.metadata().map_err(|e| Error::Read(e).in_file(path))?.len();
        check_memory("reading the model", LOADING * length).map_err(|e| e.in_file(path))?;
        Model::from_bytes(&read_file(path)?).map_err(|error| error.in_file(path))
    }

    /// The bytes of the model file; the same model always gives the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let tensors = Tensors::of(self);
        let member = |member: &Member| MemberHeader {
            share: member.share,
            design: member.design.clone(),
            ridge: member.ridge,
            lambda: member.lambda,
        };
        let mut header = Header {
            schema: SCHEMA,
            members: self.members.iter().map(member).collect(),
            head: self.head.clone(),
            link: self.calibration.link.clone(),
            known: self.known.clone(),
            provenance: self.provenance.clone(),
            training: self.training.as_ref().map(TrainingHeader::from),
            checksum: String::new(),
        };
        header.checksum = checksum(&header, &tensors);
        let metadata = HashMap::from([(KEY.to_owned(), to_json(&header))]);
        let views = tensors.0.iter().map(|tensor| (&tensor.name, tensor.view()));
        serialize(views, Some(metadata)).expect("the tensors have the lengths of their shapes")
    }

    /// Reads a model from the bytes of its file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let damaged = |why: &str| {
            Error::Format(format!(
                "{why}; the file is damaged or not a gfgcn model, train it again"
            ))
        };
        check_memory("reading the model", (LOADING - 1) * bytes.len() as u64)?;
        let (_, metadata) = SafeTensors::read_metadata(bytes)
            .map_err(|e| damaged(&format!("not a safetensors file ({e})")))?;
        let header = metadata
            .metadata()
            .as_ref()
            .and_then(|metadata| metadata.get(KEY))
            .ok_or_else(|| damaged("the file has no gfgcn header"))?;
        match serde_json::from_str::<Version>(header) {
            Ok(Version { schema }) if schema != SCHEMA => {
                let remedy = if schema > SCHEMA { "use a newer gfgcn" } else { "train it again" };
                return Err(Error::Format(format!(
                    "the model has format version {schema}, but this program reads version {SCHEMA}; {remedy}"
                )));
            }
            Ok(_) => {}
            Err(e) => return Err(damaged(&format!("the header cannot be read ({e})"))),
        }
        let header: Header = serde_json::from_str(header)
            .map_err(|e| damaged(&format!("the header cannot be read ({e})")))?;
        let tensors = SafeTensors::deserialize(bytes)
            .map_err(|e| damaged(&format!("the tensors cannot be read ({e})")))?;
        check(&header).map_err(|why| damaged(&why))?;
        let targets = header.head.columns();
        let member = |(k, member): (usize, MemberHeader)| {
            let predictor = read_predictor(k, &member, targets, &header.known, &tensors)?;
            let MemberHeader { share, design, ridge, lambda } = member;
            Ok(Member { share, design, ridge, lambda, predictor })
        };
        let members = header.members.into_iter().enumerate().map(member);
        let members: Result<Vec<Member>, String> = members.collect();
        let members = members.map_err(|why| damaged(&why))?;
        let training = |training: TrainingHeader| {
            read_training(training, &header.known, &header.head, members.len(), &tensors)
        };
        let model = Model {
            calibration: read_calibration(header.link, &header.head, &tensors)
                .map_err(|why| damaged(&why))?,
            training: header.training.map(training).transpose().map_err(|why| damaged(&why))?,
            members,
            head: header.head,
            known: header.known,
            provenance: header.provenance,
        };
        if model.to_bytes() != bytes {
            return Err(damaged("the checksum does not match"));
        }
        Ok(model)
    }
}

fn check_memory(what: &str, needed: u64) -> Result<()> {
    Memory::of_machine().check(what, needed, "use a machine with more memory")
}

fn to_json(header: &Header) -> String {
    serde_json::to_string(header).expect("a header has string keys and finite numbers")
}

fn checksum(header: &Header, tensors: &Tensors) -> String {
    let mut hash = Sha256::new();
    hash.update(to_json(header));
    for tensor in &tensors.0 {
        hash.update(&tensor.bytes);
    }
    hex(&hash.finalize())
}

/// The tensors of all predictors, as bytes, where the number of the member comes before the name, of the calibration, and of what is kept of the
/// training.
struct Tensors(Vec<Tensor>);

impl Tensors {
    fn of(model: &Model) -> Self {
        let members = model.members.iter().enumerate();
        let predictors =
            members.flat_map(|(k, member)| Tensors::of_predictor(k, &member.predictor));
        let misfits = model.calibration.misfits.iter().enumerate();
        let misfits = misfits.map(|(column, misfits)| {
            Tensor::doubles(misfits_of(column), vec![misfits.len()], misfits)
        });
        let training = model.training.iter().flat_map(training_tensors);
        Tensors(predictors.chain(misfits).chain(training).collect())
    }

    fn of_predictor(member: usize, predictor: &Predictor) -> Vec<Tensor> {
        let name = |name: &str| format!("{member}.{name}");
        let matrix = |of: &str, m: &Matrix<f64>| {
            Tensor::doubles(name(of), vec![m.rows(), m.cols()], m.as_slice())
        };
        let vector = |of: &str, v: &[f64]| Tensor::doubles(name(of), vec![v.len()], v);
        match predictor {
            Predictor::Linear { weights, intercept } => {
                vec![matrix("weights", weights), vector("intercept", intercept)]
            }
            Predictor::Kernel { scale, support, coefficients, intercept, .. } => {
                let mut tensors = vec![
                    matrix("coefficients", coefficients),
                    vector("intercept", intercept),
                    Tensor::floats(name("support"), support),
                ];
                tensors.extend(scale.as_ref().map(|scale| vector("scale", scale)));
                tensors
            }
        }
    }
}

/// What must hold whatever the tensors are.
fn check(header: &Header) -> Result<(), String> {
    if header.head.names().is_empty() {
        return Err("the model has nothing to predict".into());
    }
    if let Head::Sets { threshold, .. } = &header.head
        && !threshold.is_finite()
    {
        return Err(format!("the threshold is {threshold}"));
    }
    if header.members.is_empty() {
        return Err("the model has no members".into());
    }
    for MemberHeader { share, lambda, ridge, .. } in &header.members {
        if !(*lambda > 0.0 && lambda.is_finite()) {
            return Err(format!("λ is {lambda}"));
        }
        if !share.is_finite() {
            return Err(format!("the share of a member is {share}"));
        }
        if !ridge.kernel.is_resolved() {
            return Err("the kernel has no width".into());
        }
    }
    let Known { features, feature_names, nodes, node_ids, encoding, .. } = &header.known;
    for (what, names, count) in [("features", feature_names, features), ("nodes", node_ids, nodes)]
    {
        if let Some(names) = names.as_ref().filter(|names| names.len() != *count) {
            return Err(format!("{} names for {count} {what}", names.len()));
        }
    }
    if let Some(encoding) = encoding {
        encoding.check().map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The name of a tensor of misfits.
fn misfits_of(column: usize) -> String {
    format!("misfits.{column}")
}

fn read_calibration(
    link: Link,
    head: &Head,
    tensors: &SafeTensors<'_>,
) -> Result<Calibration, String> {
    let fits = match (&link, head) {
        (Link::Softmax { sharpness, bend }, Head::Classes { .. }) => {
            *sharpness >= 0.0 && (sharpness + bend).is_finite()
        }
        (Link::Sigmoids { labels }, Head::Sets { names, .. }) => {
            let fine = |s: &Sigmoid| s.slope >= 0.0 && (s.slope + s.offset).is_finite();
            labels.len() == names.len() && labels.iter().all(fine)
        }
        (Link::Identity, Head::Values { .. }) => true,
        _ => false,
    };
    if !fits {
        return Err(format!("{link:?} does not belong to what is predicted"));
    }
    let columns = if link == Link::Identity { head.columns() } else { 1 };
    let misfits = (0..columns).map(|column| {
        let (_, misfits) = read_doubles(tensors, &misfits_of(column), &[None])?;
        match misfits.is_sorted() && misfits.iter().all(|misfit| *misfit >= 0.0) {
            true => Ok(misfits),
            false => Err(format!("tensor {} is not in order", misfits_of(column))),
        }
    });
    Ok(Calibration { misfits: misfits.collect::<Result<_, String>>()?, link })
}

fn read_predictor(
    member: usize,
    MemberHeader { design, ridge, .. }: &MemberHeader,
    targets: usize,
    known: &Known,
    tensors: &SafeTensors<'_>,
) -> Result<Predictor, String> {
    let name = |name: &str| format!("{member}.{name}");
    let intercept = read_doubles(tensors, &name("intercept"), &[Some(targets)])?.1;
    let predictor = if ridge.kernel.is_linear() {
        Predictor::linear(read_matrix(tensors, &name("weights"), [None, Some(targets)])?, intercept)
    } else {
        let coefficients = read_matrix(tensors, &name("coefficients"), [None, Some(targets)])?;
        if coefficients.rows() == 0 {
            return Err("the model has no training nodes".into());
        }
        let support = read_floats(tensors, &name("support"), [Some(coefficients.rows()), None])?;
        let scale = match has(tensors, &name("scale")) {
            true => Some(read_doubles(tensors, &name("scale"), &[Some(support.cols())])?.1),
            false => None,
        };
        if let Some(value) = scale.iter().flatten().find(|value| **value <= 0.0) {
            return Err(format!("tensor {member}.scale has the value {value}"));
        }
        Predictor::Kernel { kernel: ridge.kernel, scale, support, coefficients, intercept }
    };
    let columns = design.channels().iter().map(|channel| known.columns(channel.input));
    let (columns, inputs) = (columns.fold(0, usize::saturating_add), predictor.inputs());
    if inputs == 0 || inputs != columns {
        return Err(format!("{inputs} columns do not belong to {design}, which has {columns}"));
    }
    Ok(predictor)
}
