//! Pages compressed with Zstandard, which Polars does by default.
//!
//! The Parquet library could expand them with the C library only. It is told that the pages are not
//! compressed, and what it hands on is expanded here.

use crate::table::expand;
use parquet::basic::Compression;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use std::fs::File;
use std::sync::Arc;

/// The pages of a column, which expand to the given sizes.
pub(super) fn pages(
    file: &File,
    column: &ColumnChunkMetaData,
    sizes: Vec<usize>,
) -> Result<Box<dyn PageReader>> {
    let plain = column.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
    let rows = usize::try_from(column.num_values())?;
    let pages = SerializedPageReader::new(Arc::new(file.try_clone()?), &plain, rows, None)?;
    Ok(Box::new(Expanded { pages, sizes: sizes.into_iter() }))
}

struct Expanded {
    pages: SerializedPageReader<File>,
    sizes: std::vec::IntoIter<usize>,
}

impl PageReader for Expanded {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(mut page) = self.pages.get_next_page()? else { return Ok(None) };
        let size = self.next_size()?;
        match &mut page {
            // The levels before the values are not compressed.
            Page::DataPageV2 {
                buf,
                is_compressed: true,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => {
                let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                *buf = expand(buf, levels, size)?.into();
            }
            Page::DataPageV2 { .. } => {}
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => {
                *buf = expand(buf, 0, size)?.into();
            }
        }
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()?;
        self.next_size().map(drop)
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

impl Iterator for Expanded {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl Expanded {
    fn next_size(&mut self) -> Result<usize> {
        let size = self.sizes.next();
        size.ok_or_else(|| ParquetError::General("there are more pages than headers".into()))
    }
}

/// Bytes of which all but the first `plain` are compressed, as the `size` bytes that they stand for.
fn expand(bytes: &[u8], plain: usize, size: usize) -> Result<Vec<u8>> {
    let Some((plain, rest)) = bytes.split_at_checked(plain).filter(|_| plain <= size) else {
        let problem = format!("{plain} bytes of levels in a page of {}", bytes.len());
        return Err(ParquetError::General(problem));
    };
    let mut out = Vec::with_capacity(size);
    out.extend_from_slice(plain);
    expand::zstd(rest, size, &mut out).map_err(ParquetError::General)?;
    Ok(out)
}
