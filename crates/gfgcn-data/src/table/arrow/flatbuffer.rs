//! Fields of a FlatBuffer by their numbers: what Arrow's metadata are written in.
//!
//! Only what reading needs, and every offset is checked against the bytes that are there: a file may say anything.

/// What is wrong with a buffer.
const DAMAGED: &str = "is damaged: its metadata point outside themselves";

/// A table of fields, each of which may be absent.
#[derive(Clone, Copy)]
pub(super) struct Flat<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Elements of one size, side by side.
#[derive(Clone, Copy)]
pub(super) struct List<'a> {
    bytes: &'a [u8],
    at: usize,
    count: usize,
    size: usize,
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], String> {
    let found = at.checked_add(N).and_then(|end| bytes.get(at..end));
    found.and_then(|found| found.try_into().ok()).ok_or_else(|| DAMAGED.to_owned())
}

fn follow(bytes: &[u8], at: usize) -> Result<usize, String> {
    let offset = u32::from_le_bytes(array(bytes, at)?) as usize;
    at.checked_add(offset).filter(|&to| to < bytes.len()).ok_or_else(|| DAMAGED.to_owned())
}

impl<'a> Flat<'a> {
    /// The table that a buffer is.
    pub(super) fn root(bytes: &'a [u8]) -> Result<Self, String> {
        Ok(Flat { bytes, at: follow(bytes, 0)? })
    }

    /// Where a field stands, if it is there.
    fn place(&self, field: usize) -> Result<Option<usize>, String> {
        let back = i64::from(i32::from_le_bytes(array(self.bytes, self.at)?));
        let layout = usize::try_from(self.at as i64 - back).map_err(|_| DAMAGED)?;
        let length = u16::from_le_bytes(array(self.bytes, layout)?);
        let entry = 4 + 2 * field;
        if entry + 2 > usize::from(length) {
            return Ok(None);
        }
        let offset = u16::from_le_bytes(array(self.bytes, layout + entry)?);
        Ok((offset > 0).then(|| self.at + usize::from(offset)))
    }

    fn number<const N: usize>(&self, field: usize) -> Result<Option<[u8; N]>, String> {
        self.place(field)?.map(|place| array(self.bytes, place)).transpose()
    }

    pub(super) fn byte(&self, field: usize) -> Result<u8, String> {
        Ok(self.number(field)?.map_or(0, u8::from_le_bytes))
    }

    pub(super) fn flag(&self, field: usize) -> Result<bool, String> {
        Ok(self.byte(field)? != 0)
    }

    pub(super) fn short(&self, field: usize) -> Result<i16, String> {
        Ok(self.number(field)?.map_or(0, i16::from_le_bytes))
    }

    pub(super) fn int(&self, field: usize) -> Result<i32, String> {
        Ok(self.number(field)?.map_or(0, i32::from_le_bytes))
    }

    pub(super) fn long(&self, field: usize) -> Result<i64, String> {
        Ok(self.number(field)?.map_or(0, i64::from_le_bytes))
    }

    pub(super) fn table(&self, field: usize) -> Result<Option<Flat<'a>>, String> {
        let Some(place) = self.place(field)? else { return Ok(None) };
        Ok(Some(Flat { bytes: self.bytes, at: follow(self.bytes, place)? }))
    }

    /// Elements of so many bytes; none where the field is absent.
    pub(super) fn list(&self, field: usize, size: usize) -> Result<List<'a>, String> {
        let bytes = self.bytes;
        let Some(place) = self.place(field)? else {
            return Ok(List { bytes, at: 0, count: 0, size });
        };
        let start = follow(bytes, place)?;
        let count = u32::from_le_bytes(array(bytes, start)?) as usize;
        let at = start + 4;
        match count.checked_mul(size).and_then(|length| at.checked_add(length)) {
            Some(end) if end <= bytes.len() => Ok(List { bytes, at, count, size }),
            _ => Err(DAMAGED.into()),
        }
    }

    pub(super) fn text(&self, field: usize) -> Result<&'a str, String> {
        let list = self.list(field, 1)?;
        let text = std::str::from_utf8(&list.bytes[list.at..list.at + list.count]);
        text.map_err(|_| "is damaged: a name in its metadata is not UTF-8".to_owned())
    }
}

impl<'a> List<'a> {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The tables that a list of offsets points to.
    pub(super) fn tables(self) -> impl Iterator<Item = Result<Flat<'a>, String>> {
        (0..self.count).map(move |k| {
            Ok(Flat { bytes: self.bytes, at: follow(self.bytes, self.at + k * self.size)? })
        })
    }

    /// Pairs of numbers, `skip` bytes apart from the beginning of one to that of the other.
    pub(super) fn pairs(self, skip: usize) -> impl Iterator<Item = Result<(i64, i64), String>> {
        (0..self.count).map(move |k| {
            let at = self.at + k * self.size;
            let first = i64::from_le_bytes(array(self.bytes, at)?);
            Ok((first, i64::from_le_bytes(array(self.bytes, at + skip)?)))
        })
    }

    /// Numbers of eight bytes.
    pub(super) fn longs(self) -> impl Iterator<Item = Result<i64, String>> {
        (0..self.count)
            .map(move |k| Ok(i64::from_le_bytes(array(self.bytes, self.at + k * self.size)?)))
    }
}
