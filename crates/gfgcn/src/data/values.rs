//! Numbers: one or several measured values per node.

use crate::error::{Error, Result};
use crate::matrix::Matrix;

/// The values of each node, if they are known: all of a node's columns are, or none is.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    names: Vec<String>,
    /// Nodes × columns; zeros where they are not known.
    matrix: Matrix<f64>,
    known: Vec<bool>,
}

impl Values {
    /// From the names of the columns and a matrix, nodes × columns. A row of NaN is a node whose values are not known.
    ///
    /// ```
    /// use gfgcn::{data::Values, matrix::Matrix};
    /// let matrix = Matrix::from_rows(2, 1, vec![1.5, f64::NAN])?;
    /// let values = Values::new(vec!["height".into()], matrix)?;
    /// assert_eq!((values.get(0), values.get(1)), (Some(&[1.5][..]), None));
    /// # Ok::<(), gfgcn::Error>(())
    /// ```
    ///
    /// # Errors
    /// No column, a name that is missing or stands twice, an infinite value, or a row that is NaN in some columns only.
    pub fn new(names: Vec<String>, mut matrix: Matrix<f64>) -> Result<Self> {
        Error::check_size("names of the values' columns", matrix.cols(), names.len())?;
        if names.is_empty() {
            return Err(Error::Data("there are no columns of values".into()));
        }
        super::dataset::check_unique("name of a column of values", &names)?;
        let mut known = Vec::with_capacity(matrix.rows());
        for node in 0..matrix.rows() {
            let row = matrix.row_mut(node);
            if let Some(column) = row.iter().position(|value| value.is_infinite()) {
                return Err(Error::Data(format!(
                    "node {node} has the value {} of {:?}; values are finite",
                    row[column], names[column]
                )));
            }
            let missing = row.iter().filter(|value| value.is_nan()).count();
            if missing > 0 && missing < row.len() {
                let column = row.iter().position(|value| value.is_nan()).unwrap_or_default();
                return Err(Error::Data(format!(
                    "node {node} has no value of {:?} but has others; give all or none",
                    names[column]
                )));
            }
            known.push(missing == 0);
            if missing > 0 {
                row.fill(0.0);
            }
        }
        Ok(Values { names, matrix, known })
    }

    /// The number of nodes, known or not.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The values of a node, one per column, if they are known.
    pub fn get(&self, node: usize) -> Option<&[f64]> {
        self.known[node].then(|| self.matrix.row(node))
    }

    /// The values of the given nodes.
    #[must_use]
    pub fn select(&self, nodes: &[usize]) -> Self {
        self.arranged(nodes.iter().copied().map(Some))
    }

    /// As [`Values::select`], with nodes of which nothing is known among them.
    pub(super) fn arranged(&self, nodes: impl Iterator<Item = Option<usize>> + Clone) -> Self {
        self.collect(nodes.map(|node| self.get(node?)))
    }

    /// With the values of other nodes in place of these, where they are known; columns are matched by name.
    ///
    /// # Errors
    /// Other columns.
    pub(super) fn replaced(&self, by: &Values) -> Result<Self> {
        let place = |name: &String| by.names.iter().position(|other| other == name);
        let places: Option<Vec<usize>> = self.names.iter().map(place).collect();
        let Some(places) = places.filter(|places| places.len() == by.names.len()) else {
            return Err(Error::Data(format!(
                "the new values are those of {}, but the model's are those of {}",
                by.names.join(", "),
                self.names.join(", ")
            )));
        };
        let columns = Matrix::from_fn(by.len(), places.len(), |i, j| by.matrix[(i, places[j])]);
        let value = |node: usize| match by.known[node] {
            true => Some(columns.row(node)),
            false => self.get(node),
        };
        Ok(self.collect((0..self.len()).map(value)))
    }

    fn collect<'a>(&self, rows: impl Iterator<Item = Option<&'a [f64]>>) -> Self {
        let nothing = vec![0.0; self.names.len()];
        let (mut known, mut data) = (Vec::new(), Vec::new());
        for row in rows {
            known.push(row.is_some());
            data.extend_from_slice(row.unwrap_or(&nothing));
        }
        let matrix = Matrix::from_rows(known.len(), self.names.len(), data).expect("whole rows");
        Values { names: self.names.clone(), matrix, known }
    }

    /// Bytes of memory, about.
    pub(crate) fn memory(&self) -> u64 {
        (8 * self.matrix.as_slice().len() + self.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(rows: &[[f64; 2]]) -> Result<Values> {
        let names = vec!["x".into(), "y".into()];
        Values::new(names, Matrix::from_fn(rows.len(), 2, |i, j| rows[i][j]))
    }

    #[test]
    fn a_nodes_values_are_all_there_or_unknown() {
        let nan = f64::NAN;
        let some = values(&[[1.0, 2.0], [nan, nan], [3.0, 4.0]]).unwrap().select(&[2, 1]);
        assert_eq!((some.get(0), some.get(1)), (Some(&[3.0, 4.0][..]), None));
        let message = values(&[[1.0, 2.0], [3.0, nan]]).unwrap_err().to_string();
        assert!(message.contains("node 1") && message.contains("\"y\""), "{message}");
        let message = values(&[[f64::INFINITY, 2.0]]).unwrap_err().to_string();
        assert!(message.contains("inf") && message.contains("\"x\""), "{message}");
    }

    #[test]
    fn columns_have_names_of_their_own() {
        let matrix = Matrix::zeros(1, 2);
        assert!(Values::new(vec!["x".into(), "x".into()], matrix.clone()).is_err());
        assert!(Values::new(vec!["x".into()], matrix).is_err());
        assert!(Values::new(vec![], Matrix::zeros(1, 0)).is_err());
    }
}
