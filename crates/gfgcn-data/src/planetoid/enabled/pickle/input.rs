//! The bytes of a pickle, taken from the front; nothing is taken that is not there.

/// What a step can go wrong with; the machine adds the offset.
pub(super) type Step<T = ()> = std::result::Result<T, String>;

/// What is left to read, and where it stands in the file.
pub(super) struct Input<'a> {
    bytes: &'a [u8],
    next: usize,
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Input { bytes, next: 0 }
    }

    /// The offset of the next byte.
    pub(super) fn offset(&self) -> usize {
        self.next
    }

    /// How many bytes are left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.next
    }

    /// The next bytes. The length is checked against the file before anything is made of it.
    pub(super) fn take(&mut self, length: impl TryInto<usize>) -> Step<&'a [u8]> {
        let left = self.left();
        match length.try_into() {
            Ok(length) if length <= left => {
                let taken = &self.bytes[self.next..self.next + length];
                self.next += length;
                Ok(taken)
            }
            _ => Err(format!(
                "more bytes are announced than the {left} that are left; \
                 the file is truncated or damaged"
            )),
        }
    }

    pub(super) fn array<const N: usize>(&mut self) -> Step<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    pub(super) fn u8(&mut self) -> Step<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u32(&mut self) -> Step<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Step<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// The rest of the line, without its end.
    pub(super) fn line(&mut self) -> Step<&'a [u8]> {
        let rest = &self.bytes[self.next..];
        match rest.iter().position(|&byte| byte == b'\n') {
            Some(length) => {
                self.next += length + 1;
                Ok(&rest[..length])
            }
            None => Err("a line does not end; the file is truncated or damaged".into()),
        }
    }
}
