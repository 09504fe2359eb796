//! Forms that the golden files do not use: protocol 0 as Python 2 wrote it, long integers, and the
//! older ways of making the same objects.

use super::*;
use gfgcn::context::Context;

fn parse(bytes: &[u8]) -> Result<Pickle<'_>> {
    Pickle::parse(bytes, &Reading::under(&Context::default())?)
}

fn parsed(bytes: &[u8]) -> Pickle<'_> {
    parse(bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn integers(bytes: &[u8]) -> Vec<i64> {
    let pickle = parsed(bytes);
    let items = pickle.items(pickle.root()).unwrap();
    items.iter().map(|&id| pickle.integer(id).unwrap()).collect()
}

fn refused(bytes: &[u8]) -> String {
    parse(bytes).unwrap_err().to_string()
}

#[test]
fn integers_of_every_form() {
    assert_eq!(integers(b"(I5\nI-7\nL12L\nL-9223372036854775808L\nl."), [5, -7, 12, i64::MIN]);
    assert_eq!(
        integers(b"(K\xffM\xff\xffJ\xff\xff\xff\xff\x8a\x00\x8a\x01\xff\x8a\x02\xff\x00t."),
        [255, 65535, -1, 0, -1, 255]
    );
    assert_eq!(
        integers(b"(\x8a\x08\0\0\0\0\0\0\0\x80\x8a\x09\xff\xff\xff\xff\xff\xff\xff\x7f\0\x8b\x01\0\0\0\x07t."),
        [i64::MIN, i64::MAX, 7]
    );
    assert!(refused(b"\x8a\x09\0\0\0\0\0\0\0\x80\0.").contains("does not fit 64 bits"));
    assert!(refused(b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\x7f\xff.").contains("does not fit"));
    assert!(refused(b"I9223372036854775808\n.").contains("is not a 64-bit integer"));
    assert!(refused(b"I\n.").contains("byte 0: \"\" is not a 64-bit integer"));
}

#[test]
fn strings_of_protocol_0() {
    let pickle = parsed(b"(S'a\\n\\\\\\x41\\''\nS\"it's\"\nVgr\\u00fc\\U0001f600\xdf\\\nt.");
    let items = pickle.items(pickle.root()).unwrap();
    let texts: Vec<&str> = items.iter().map(|&id| pickle.text(id).unwrap()).collect();
    assert_eq!(texts, ["a\n\\A'", "it's", "gr\u{fc}\u{1f600}\u{df}\\"]);
    assert!(refused(b"S'a\n.").contains("not in quotes"));
    assert!(refused(b"S'\n.").contains("not in quotes"));
    assert!(refused(b"S'\\'\n.").contains("lone backslash"));
    assert!(refused(b"S'\\x4'\n.").contains("2 hexadecimal digits"));
    assert!(refused(b"S'\\q'\n.").contains("unknown escape"));
    assert!(refused(b"V\\ud800\n.").contains("U+D800 is not a character"));
    assert!(refused(b"V\\uab\n.").contains("4 hexadecimal digits"));
}

#[test]
fn floats_and_truth_values_say_what_they_are() {
    let pickle = parsed(b"(F1.5\nG\xbf\xe0\0\0\0\0\0\0I01\n\x89Nt.");
    let found: Vec<String> = pickle
        .items(pickle.root())
        .unwrap()
        .iter()
        .map(|&id| {
            let error = pickle.integer(id).unwrap_err().to_string();
            error.strip_prefix("expected an integer, found ").unwrap().to_owned()
        })
        .collect();
    assert_eq!(
        found,
        [
            "the number 1.5",
            "the number -0.5",
            "the truth value true",
            "the truth value false",
            "None"
        ]
    );
}

#[test]
fn the_stack_and_its_marks_are_guarded() {
    for bytes in
        [&b"."[..], b"0.", b"2.", b"a.", b"(.", b"K\x01(0.", b"K\x01(2.", b"\x85.", b"q\0."]
    {
        assert!(refused(bytes).contains("the stack is empty"), "{bytes:?}");
    }
    for bytes in [&b"t."[..], b"l.", b"]e.", b"}u.", b"d.", b"1."] {
        assert!(refused(bytes).contains("there is no mark"), "{bytes:?}");
    }
    assert!(refused(b"K\x01K\x02a.").contains("not a list"));
    assert!(refused(b"K\x01K\x02K\x03s.").contains("not a dict"));
    assert!(refused(b"N.N").contains("byte 1: 1 more bytes follow"));
    assert!(refused(b"").contains("byte 0: more bytes are announced than the 0 that are left"));
    assert_eq!(integers(b"((K\x01K\x02\x31K\x03K\x04\x30t."), [3]);
}

#[test]
fn the_older_ways_of_making_a_matrix() {
    // Two rows, three columns, a single 7 at row 1, column 2; int8 throughout.
    let dtype = b"cnumpy\ndtype\n(S'i1'\nI0\nI1\ntR(I3\nS'|'\nNNNI-1\nI-1\nI0\ntbp0\n0";
    let array = |count: u8, payload: &[u8]| {
        [
            b"cnumpy.core.multiarray\n_reconstruct\n(tR(I1\n(I",
            &[b'0' + count][..],
            b"\nt",
            b"g0\nI00\n",
            payload,
            b"tb",
        ]
        .concat()
    };
    let state = [
        &b"(dS'_shape'\n(I2\nI3\ntsS'indptr'\n"[..],
        &array(3, b"S'\\x00\\x00\\x01'\n"),
        b"sS'indices'\n",
        &array(1, b"c_codecs\nencode\n(V\\u0002\nVlatin1\ntR"),
        b"sS'data'\n",
        &array(1, b"S'\\x07'\n"),
        b"sb.",
    ]
    .concat();
    for made in [
        &b"ccopy_reg\n_reconstructor\n(cscipy.sparse.csr\ncsr_matrix\nc__builtin__\nobject\nNtR"[..],
        b"ccopyreg\n__newobj__\n(cscipy.sparse._csr\ncsr_array\ntR",
        b"cscipy.sparse.csr\ncsr_matrix\n)\x81",
    ] {
        let bytes = [&dtype[..], made, &state].concat();
        let pickle = parsed(&bytes);
        let csr = pickle.csr(pickle.root()).unwrap();
        assert_eq!(
            (csr.shape, csr.offsets, csr.indices, csr.values),
            ((2, 3), vec![0, 0, 1], vec![2], vec![7.0])
        );
    }
}

#[test]
fn empty_bytes_of_old_protocols() {
    let pickle = parsed(b"c__builtin__\nbytes\n)R.");
    assert_eq!(pickle.text(pickle.root()).unwrap(), "");
}
