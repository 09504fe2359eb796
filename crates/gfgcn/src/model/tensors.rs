//! The tensors of a model file, in both directions.

use crate::matrix::Matrix;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

/// A tensor to be written.
pub(crate) struct Tensor {
    pub(crate) name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}

impl Tensor {
    pub(crate) fn doubles(name: String, shape: Vec<usize>, values: &[f64]) -> Self {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Tensor { name, dtype: Dtype::F64, shape, bytes }
    }

    pub(crate) fn floats(name: String, matrix: &Matrix<f32>) -> Self {
        let bytes = matrix.as_slice().iter().flat_map(|v| v.to_le_bytes()).collect();
        Tensor { name, dtype: Dtype::F32, shape: vec![matrix.rows(), matrix.cols()], bytes }
    }

    /// Numbers of nodes, classes or entries.
    pub(crate) fn numbers(name: String, numbers: impl Iterator<Item = usize>) -> Self {
        let bytes: Vec<u8> = numbers.flat_map(|number| (number as u64).to_le_bytes()).collect();
        Tensor { name, dtype: Dtype::U64, shape: vec![bytes.len() / 8], bytes }
    }

    /// Digests, sixteen bytes each.
    pub(crate) fn digests(name: String, digests: &[u128]) -> Self {
        let bytes = digests.iter().flat_map(|digest| digest.to_le_bytes()).collect();
        Tensor { name, dtype: Dtype::U8, shape: vec![digests.len(), 16], bytes }
    }

    pub(crate) fn view(&self) -> TensorView<'_> {
        TensorView::new(self.dtype, self.shape.clone(), &self.bytes)
            .expect("the bytes have the length of the shape")
    }
}

/// Whether there is a tensor of a name.
pub(crate) fn has(tensors: &SafeTensors<'_>, name: &str) -> bool {
    tensors.names().contains(&name)
}

/// A tensor of the given type; `None` in the shape stands for any length.
fn tensor<'t>(
    tensors: &SafeTensors<'t>,
    name: &str,
    dtype: Dtype,
    shape: &[Option<usize>],
) -> Result<TensorView<'t>, String> {
    let view = tensors.tensor(name).map_err(|_| format!("tensor {name} is missing"))?;
    let fits = view.shape().len() == shape.len()
        && view.shape().iter().zip(shape).all(|(&found, wanted)| wanted.is_none_or(|w| w == found));
    if view.dtype() != dtype || !fits {
        return Err(format!(
            "tensor {name} has type {:?} and shape {:?}",
            view.dtype(),
            view.shape()
        ));
    }
    Ok(view)
}

pub(crate) fn read_doubles(
    tensors: &SafeTensors<'_>,
    name: &str,
    shape: &[Option<usize>],
) -> Result<(Vec<usize>, Vec<f64>), String> {
    let view = tensor(tensors, name, Dtype::F64, shape)?;
    let values: Vec<f64> = view
        .data()
        .chunks_exact(8)
        .map(|b| f64::from_le_bytes(b.try_into().expect("a chunk of eight bytes")))
        .collect();
    match values.iter().find(|v| !v.is_finite()) {
        Some(value) => Err(format!("tensor {name} has the value {value}")),
        None => Ok((view.shape().to_vec(), values)),
    }
}

pub(crate) fn read_matrix(
    tensors: &SafeTensors<'_>,
    name: &str,
    shape: [Option<usize>; 2],
) -> Result<Matrix<f64>, String> {
    let (shape, values) = read_doubles(tensors, name, &shape)?;
    matrix(&shape, values)
}

pub(crate) fn read_floats(
    tensors: &SafeTensors<'_>,
    name: &str,
    shape: [Option<usize>; 2],
) -> Result<Matrix<f32>, String> {
    let view = tensor(tensors, name, Dtype::F32, &shape)?;
    let values = view.data().chunks_exact(4);
    let values: Vec<f32> = values.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    match values.iter().find(|v| !v.is_finite()) {
        Some(_) => Err(format!("tensor {name} has a value that is not finite")),
        None => matrix(view.shape(), values),
    }
}

pub(crate) fn read_numbers(tensors: &SafeTensors<'_>, name: &str) -> Result<Vec<usize>, String> {
    let view = tensor(tensors, name, Dtype::U64, &[None])?;
    let numbers = view
        .data()
        .chunks_exact(8)
        .map(|b| u64::from_le_bytes(b.try_into().expect("a chunk of eight bytes")));
    let number = |n: u64| usize::try_from(n).map_err(|_| format!("tensor {name} has {n}"));
    numbers.map(number).collect()
}

pub(crate) fn read_digests(
    tensors: &SafeTensors<'_>,
    name: &str,
    count: usize,
) -> Result<Vec<u128>, String> {
    let view = tensor(tensors, name, Dtype::U8, &[Some(count), Some(16)])?;
    let digest = |b: &[u8]| u128::from_le_bytes(b.try_into().expect("a chunk of sixteen bytes"));
    Ok(view.data().chunks_exact(16).map(digest).collect())
}

fn matrix<T: Copy + Default>(shape: &[usize], values: Vec<T>) -> Result<Matrix<T>, String> {
    Matrix::from_rows(shape[0], shape[1], values).map_err(|e| e.to_string())
}
