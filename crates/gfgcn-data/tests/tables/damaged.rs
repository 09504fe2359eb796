//! Tables of other programs with something changed at every byte.

use super::{allocation, assert_says, golden, read, small, small_with};
use std::fs;

/// Cuts a golden table anywhere; the rest must be refused.
pub(super) fn cut_everywhere(folder_of: &str, name: &str) {
    let whole = fs::read(golden(folder_of).join(name)).unwrap();
    let folder = small_with(&[(name, &whole)]);
    assert_eq!(read(folder.path()).unwrap(), small());
    for length in 0..whole.len() {
        fs::write(folder.path().join(name), &whole[..length]).unwrap();
        assert_says(&format!("{folder_of} cut at {length}"), read(folder.path()), &[name]);
    }
}

/// Changes a golden table in every way of `damage` at every byte and reads it. Damage may go
/// unnoticed (the formats have no checksum here), but it must neither panic, hang nor make the reader
/// ask for memory the file does not justify.
pub(super) fn damage_every_byte(folder_of: &str, name: &str, damage: &[fn(&mut Vec<u8>, usize)]) {
    let whole = fs::read(golden(folder_of).join(name)).unwrap();
    let folder = small_with(&[(name, &whole)]);
    for byte in 0..whole.len() {
        for change in damage {
            let mut damaged = whole.clone();
            change(&mut damaged, byte);
            fs::write(folder.path().join(name), &damaged).unwrap();
            if let Err(message) = read(folder.path()) {
                assert!(message.contains(name), "{folder_of}, byte {byte}: {message}");
            }
        }
    }
    allocation::assert_modest();
}

/// Flips single bits, and all of a byte.
pub(super) const FLIPS: [fn(&mut Vec<u8>, usize); 4] = [
    |bytes, at| bytes[at] ^= 0x01,
    |bytes, at| bytes[at] ^= 0x08,
    |bytes, at| bytes[at] ^= 0x80,
    |bytes, at| bytes[at] ^= 0xff,
];
