//! Features from a data frame, as they would be from a table of the same columns.

use super::encode::{Encoder, survey};
use crate::density::FeatureRows;
use crate::reading::Reading;
use crate::table::{Frame, Table, TableSource};
use gfgcn::context::Context;
use gfgcn::data::Encoding;
use gfgcn::features::Features;
use gfgcn::{Error, Result};
use std::rc::Rc;

/// What became of a data frame.
#[derive(Clone, Debug)]
pub struct EncodedFrame {
    /// One row for each of its rows.
    pub features: Features,
    /// How its columns became features.
    pub encoding: Encoding,
    /// Words that are none of the categories that were known, one sentence for each column.
    pub notes: Vec<String>,
}

/// Makes features of a data frame: numbers as they are, words one feature each, what is missing filled in and marked. With a
/// known encoding the same ones as before.
///
/// # Errors
/// Columns of dates or free text, words among numbers, a known column that is not there, or less memory than it takes.
///
/// ```
/// use gfgcn::context::Context;
/// use gfgcn_data::{Frame, FrameColumn, encode_frame};
/// let colours = ["red", "green", "red"].map(|word| Some(word.to_owned())).to_vec();
/// let frame = Frame::new(vec![
///     ("age".into(), FrameColumn::Numbers(vec![20.0, f64::NAN, 40.0])),
///     ("colour".into(), FrameColumn::Texts(colours)),
/// ])?;
/// let encoded = encode_frame(frame, None, &Context::default())?;
/// assert_eq!(encoded.encoding.feature_names(), ["age", "age:missing", "colour=green", "colour=red"]);
/// # Ok::<(), gfgcn::Error>(())
/// ```
pub fn encode_frame(
    frame: Frame,
    known: Option<&Encoding>,
    context: &Context,
) -> Result<EncodedFrame> {
    let reading = Reading::under(context)?;
    let (rows, names) = (frame.rows(), frame.names().to_vec());
    let source = TableSource::Frame(Rc::new(frame));
    let open = || Table::open(&source, |_| false, |_| true, &reading);
    let encoding = match known {
        Some(known) => known.clone(),
        None => survey(&mut open()?, names.len(), &mut Vec::new())?,
    };
    let place = |name: &String| {
        let place = names.iter().position(|other| other == name).map(|place| place + 1);
        place.ok_or_else(|| {
            Error::Data(format!("X has no column {name:?}, which the model was trained on"))
        })
    };
    let places = encoding.columns.iter().map(|column| place(&column.name));
    let places = places.collect::<Result<Vec<usize>>>()?;
    let mut encoder = Encoder::new(&encoding, places);
    let mut features = FeatureRows::new(encoding.width(), &reading);
    let mut row = vec![0.0; encoding.width()];
    let mut table = open()?;
    for _ in 0..rows {
        table.advance()?;
        encoder.fill(&table, &mut row)?;
        features.push(&row)?;
    }
    let notes = encoder.notes().collect();
    let features = features.finish()?;
    Ok(EncodedFrame { features, encoding, notes })
}
