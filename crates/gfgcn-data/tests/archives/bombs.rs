//! Archives that claim or unfold to more than their size justifies, and honest ones that compress
//! well.

use super::{Arrays, allocation, assert_says, deflate, deflated, npy, read, zip};
use std::io::Write;
use zip::Member;

/// An array of zero bytes, deflated, with a checksum that nobody will get to see.
fn zeros(name: &str, descr: &str, shape: &str, mebibytes: usize) -> Member {
    let header = npy::array(descr, shape, &[]);
    let block = vec![0; 1 << 20];
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&header).unwrap();
    (0..mebibytes).for_each(|_| encoder.write_all(&block).unwrap());
    let size = header.len() + (mebibytes << 20);
    Member::compressed(name, zip::DEFLATED, 0, size as u32, encoder.finish().unwrap())
}

fn small_with(member: Member) -> Vec<u8> {
    let name = member.name.trim_end_matches(".npy");
    let mut members = Arrays::small().without(name).members(deflated);
    members.push(member);
    zip::archive(&members)
}

#[test]
fn zip_bombs_are_refused_without_being_unfolded() {
    let honest = zeros("labels.npy", "'|i1'", "1073741824,", 1024);
    assert!(honest.content.len() < 8 << 20);
    let mut modest = honest.clone();
    modest.size = 1000;
    let mut heavy = honest.clone();
    heavy.compressed_size = u32::MAX - 1;
    assert_says("honest", &small_with(honest), &["labels", "expands from", "zip bomb"]);
    assert_says("understated", &small_with(modest), &["labels"]);
    assert_says("overstated", &small_with(heavy), &["labels"]);
    allocation::assert_modest();
}

/// A byte in an array can become a `String` or a 64-bit number.
#[test]
fn what_fits_as_bytes_may_not_fit_as_values() {
    let shape = format!("{},", 50 << 20);
    for (name, descr) in [
        ("class_names", "'|S1'"),
        ("node_names", "'|S1'"),
        ("labels", "'|i1'"),
        ("adj_indices", "'|u1'"),
        ("train_idx", "'|u1'"),
        ("attr_data", "'|u1'"),
    ] {
        let header = npy::array(descr, &shape, &[]);
        let content = [&header[..], &vec![0; 50 << 20]].concat();
        let mut member = zeros(&format!("{name}.npy"), descr, &shape, 50);
        member.crc = crc_of_many(&content);
        assert_says(name, &small_with(member), &[name, "52428800 entries", "zip bomb"]);
    }
    allocation::assert_modest();
}

/// As [`zip::crc32`], by a faster program.
fn crc_of_many(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// The features are zeros and compress a thousandfold; the rest of the archive does not.
#[test]
fn one_member_may_compress_well() {
    let columns = 5 << 20;
    let header = npy::array("'<f4'", &format!("5, {columns}"), &[]);
    let content = [&header[..], &vec![0; 20 * columns]].concat();
    let mut features = zeros("attr_matrix.npy", "'<f4'", &format!("5, {columns}"), 100);
    assert_eq!(features.size as usize, content.len());
    features.crc = crc_of_many(&content);
    let mut members = Arrays::small().without("attr").members(deflated);
    members.push(features);
    assert_says("alone", &zip::archive(&members), &["attr_matrix", "zip bomb", "uncompressed"]);
    let noise: Vec<u8> = (0..1u32 << 18)
        .flat_map(|k| k.wrapping_mul(0x9e37_79b9).rotate_left(k).to_le_bytes())
        .collect();
    assert!(deflate(&[&noise]).len() > noise.len() / 2);
    members.push(deflated("noise.npy", &noise));
    let dataset = read(&zip::archive(&members)).unwrap();
    assert_eq!((dataset.features().cols(), dataset.features().nonzeros()), (columns, 0));
}

/// Offsets that are all zero compress a thousandfold, and each of them is a node.
#[test]
fn nodes_that_only_zeros_speak_of_are_refused() {
    let rows = 2 << 20;
    let header = npy::array("'<i8'", &format!("{},", rows + 1), &[]);
    let content = [&header[..], &vec![0; 8 * (rows + 1)]].concat();
    let offsets = deflate(&[&content]);
    assert!(offsets.len() < 32 << 10);
    for prefix in ["adj", "attr"] {
        let mut members = Arrays::small()
            .without(&format!("{prefix}_indptr"))
            .with(&format!("{prefix}_shape"), npy::vector("<i8", &[rows as f64; 2]))
            .members(deflated);
        let name = format!("{prefix}_indptr.npy");
        let crc = crc_of_many(&content);
        let size = content.len() as u32;
        members.push(Member::compressed(&name, zip::DEFLATED, crc, size, offsets.clone()));
        let parts = [&format!("{prefix}_shape"), "2097152 rows", "uncompressed"];
        assert_says(prefix, &zip::archive(&members), &parts);
    }
    allocation::assert_modest();
}
