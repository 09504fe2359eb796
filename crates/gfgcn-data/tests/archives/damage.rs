//! Damaged archives: read or refused, never a panic, a wrong answer or a large allocation.

use super::{Arrays, allocation, read, small};

#[test]
fn an_archive_cut_anywhere_is_refused() {
    for whole in [Arrays::small().stored(), Arrays::small().deflated()] {
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).is_err(), "cut at {length}");
        }
    }
}

/// Checksums and the list of members leave damage two ways to go unseen: where it changes nothing,
/// or where it changes the name of a member that may be missing, which is noted.
#[test]
fn a_flipped_bit_is_refused_without_effect_or_noted() {
    for whole in [Arrays::small().stored(), Arrays::small().deflated()] {
        let mut damaged = whole.clone();
        for at in 0..whole.len() {
            for flip in [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff] {
                damaged[at] ^= flip;
                if let Ok(dataset) = read(&damaged) {
                    let same = dataset.fingerprint() == small().fingerprint()
                        && dataset.split() == small().split();
                    assert!(same || !dataset.notes().is_empty(), "byte {at}, flip {flip:#04x}");
                }
                damaged[at] ^= flip;
            }
        }
    }
    allocation::assert_modest();
}

/// With its checksums put right, the damage gets to the arrays.
#[test]
fn an_array_with_any_byte_changed_is_read_or_refused() {
    let whole = Arrays::small();
    for member in 0..whole.0.len() {
        let mut damaged = whole.clone();
        for at in 0..whole.0[member].1.len() {
            let original = whole.0[member].1[at];
            for change in [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff] {
                damaged.0[member].1[at] = original ^ change;
                let _ = read(&damaged.stored());
            }
            for digit in *b"0189" {
                damaged.0[member].1[at] = digit;
                let _ = read(&damaged.stored());
            }
            damaged.0[member].1[at] = original;
        }
    }
    allocation::assert_modest();
}
