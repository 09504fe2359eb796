//! Pickles that mean harm, and golden ones that were damaged: refused with a reason, never run,
//! never a panic, never more memory or time than the file deserves.

use gfgcn::context::Context;
use gfgcn_data::planetoid::{Files, from_bytes};
use std::path::Path;

const NAMES: [&str; 5] = ["protocol0", "protocol2", "protocol4", "protocol5", "python2"];
const PARTS: [&str; 8] = ["x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"];

/// The position of the graph in [`PARTS`].
const GRAPH: usize = 6;

fn golden(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/planetoid");
    PARTS.map(|part| std::fs::read(folder.join(format!("ind.{name}.{part}"))).unwrap()).into()
}

fn outcome(parts: &[Vec<u8>]) -> Result<(), String> {
    let files = Files {
        x: &parts[0],
        y: &parts[1],
        tx: &parts[2],
        ty: &parts[3],
        allx: &parts[4],
        ally: &parts[5],
        graph: &parts[6],
        test_index: &parts[7],
    };
    from_bytes("tiny", &files, &Context::default()).map(drop).map_err(|error| error.to_string())
}

fn refused(part: &str, pickle: Vec<u8>) -> String {
    let mut parts = golden("python2");
    parts[PARTS.iter().position(|p| *p == part).unwrap()] = pickle;
    outcome(&parts).expect_err("must be refused")
}

fn join(pieces: &[&[u8]]) -> Vec<u8> {
    pieces.concat()
}

#[test]
fn names_outside_plain_data_are_refused_by_name_and_offset() {
    for (pickle, expected) in [
        (&b"cos\nsystem\n(S'echo'\ntR."[..], "byte 0: the pickle asks for \"os.system\""),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "byte 14: the pickle asks for \"os.system\""),
        (b"}c__builtin__\neval\n.", "byte 1: the pickle asks for \"__builtin__.eval\""),
        (b"cbuiltins\ngetattr\n.", "\"builtins.getattr\""),
        (b"cnumpy.core.multiarray\nsystem\n.", "\"numpy.core.multiarray.system\""),
        (b"c\xff\n\n.", "asks for \"\u{fffd}.\""),
        (b"(S'echo'\nios\nsystem\n.", "byte 9: the opcode 0x69"),
        (b"\x82\x01.", "byte 0: the opcode 0x82"),
        (b"Pid\n.", "byte 0: the opcode 0x50"),
        (b"\x80\x06.", "pickle protocol 6 is unknown"),
        (b"c__builtin__\nlist\n)R.", "list cannot be called"),
        (b"K\x01)R.", "something that is not a name is called"),
        (b"ccollections\ndefaultdict\nNR.", "the arguments of a call are not a tuple"),
        (b"c__builtin__\nlist\n)\x81.", "an object is made that is not a SciPy CSR matrix"),
        (b"}}b.", "a state is given to a value that has none"),
    ] {
        let error = refused("graph", pickle.to_vec());
        assert!(error.starts_with("ind.tiny.graph: byte ") && error.contains(expected), "{error}");
    }
    let long_name = join(&[b"c", &[b'a'; 100_000], b"\nb\n."]);
    assert!(refused("graph", long_name).len() < 400);
}

#[test]
fn lengths_are_compared_with_the_file_before_anything_is_allocated() {
    let huge = [0xff; 8];
    for (opcode, length) in [
        (b'T', 4),
        (b'X', 4),
        (b'B', 4),
        (0x8b, 4),
        (0x8d, 8),
        (0x8e, 8),
        (0x95, 8),
        (0x96, 8),
        (b'U', 1),
        (b'C', 1),
        (0x8a, 1),
        (0x8c, 1),
    ] {
        let error = refused("graph", join(&[&[opcode], &huge[..length], b"."]));
        assert!(error.contains("announced") && error.contains("truncated"), "{error}");
    }
}

/// A pickled array with the given shape (as opcodes) and element type, and 12 bytes of payload.
fn array(shape: &[u8], element: &[u8; 2]) -> Vec<u8> {
    join(&[
        b"cnumpy.core.multiarray\n_reconstruct\n(tR(K\x01",
        shape,
        b"cnumpy\ndtype\n(U\x02",
        element,
        b"tR(K\x03U\x01<tb\x89U\x0c\0\0\0\0\0\0\0\0\0\0\0\0tb.",
    ])
}

#[test]
fn shapes_are_compared_with_the_payload() {
    let exabytes = b"\x8a\x08\0\0\0\0\0\0\0\x10";
    for (shape, element, expected) in [
        (&b"K\x03K\x02\x86"[..], b"i4", "bytes of an array: expected 24, found 12"),
        (&join(&[exabytes, exabytes, b"\x86"]), b"i4", "the impossible shape"),
        (&join(&[exabytes, b"K\x00\x86"]), b"i4", "expected 0, found 12"),
        (b"J\xff\xff\xff\xffK\x01\x86", b"i4", "-1 stands where a size is needed"),
        (b"K\x03\x85", b"i4", "has the shape [3]"),
        (b")", b"i4", "has 0 dimensions"),
        (b"K\x01K\x01K\x03\x87", b"i4", "has 3 dimensions"),
        (b"K\x03K\x01\x86", b"O8", "elements of type \"O8\""),
        (b"K\x03K\x01\x86", b"c8", "elements of type \"c8\""),
    ] {
        let error = refused("y", array(shape, element));
        assert!(error.starts_with("ind.tiny.y: ") && error.contains(expected), "{error}");
    }
    // No bytes at all "fill" a trillion rows of no columns.
    let empty = join(&[exabytes, b"K\x00\x86"]);
    let mut rows = array(&empty, b"i4");
    let payload = rows.windows(2).position(|pair| pair == b"U\x0c").unwrap();
    rows.splice(payload.., *b"U\0tb.");
    for part in ["y", "allx"] {
        let error = refused(part, rows.clone());
        assert!(error.contains("at least one column"), "{error}");
    }
}

#[test]
fn sharing_and_nesting_cost_no_more_than_the_file() {
    let deep = 100_000;
    let not_a_dict = "expected a dict, found a";
    for (what, pickle, expected) in [
        ("laughs", join(&[b"]q\0", &b"(h\0h\0lq\0".repeat(deep), b"."]), not_a_dict),
        ("nested lists", join(&[&b"]".repeat(deep), &b"a".repeat(deep - 1), b"."]), not_a_dict),
        ("nested tuples", join(&[b")", &b"\x85".repeat(deep), b"."]), not_a_dict),
        (
            "nested dicts",
            join(&[&b"}N".repeat(deep), b"N", &b"s".repeat(deep), b"."]),
            "found None",
        ),
        ("open marks", join(&[&b"(".repeat(deep), b"."]), "the stack is empty here"),
        ("a list in itself", b"]q\0h\0a.".to_vec(), not_a_dict),
        ("a list in itself often", join(&[b"]", &b"2a".repeat(deep), b"."]), not_a_dict),
        ("a dict in itself", b"}q\0K\0h\0s.".to_vec(), "expected a list, found a dict of 1"),
        ("its own neighbour", b"}K\0]q\0h\0as.".to_vec(), "expected an integer, found a list"),
        ("far memo", b"}r\xff\xff\xff\xff0j\xfe\xff\xff\xff.".to_vec(), "memo position 4294967294"),
    ] {
        let error = refused("graph", pickle);
        assert!(error.contains(expected), "{what}: {error}");
    }
}

#[test]
fn one_list_for_all_nodes_does_not_unfold_without_bound() {
    let nodes = (1..12u8).flat_map(|node| [b'K', node, b'h', 0]).collect::<Vec<_>>();
    let graph = join(&[b"}(K\0](", &b"K\0".repeat(200_000), b"eq\0", &nodes, b"u."]);
    let error = refused("graph", graph);
    assert!(error.contains("unfold to more entries than the file's"), "{error}");
}

#[test]
fn long_values_that_are_used_again_and_again_are_not_copied_each_time() {
    let often = 50_000;
    let long = |opcode: u8| join(&[&[opcode], &1_000_000u32.to_le_bytes(), &[b'a'; 1_000_000]]);
    let encode = b"c_codecs\nencode\nq\x01X\x06\0\0\0latin1q\x02";
    let records = join(&[encode, &long(b'X'), b"q\0", &b"h\x01h\0h\x02\x86R".repeat(often), b"."]);
    let error = refused("graph", records);
    assert!(error.contains("found an object made by codecs.encode"), "{error}");
    let attributes = join(&[
        b"cscipy.sparse.csr\ncsr_matrix\n)\x81}",
        &long(b'T'),
        b"q\0",
        b"Ns(",
        &b"h\0N".repeat(often),
        b"ub.",
    ]);
    let error = refused("x", attributes);
    assert!(error.contains("the attribute \"_shape\" is missing"), "{error}");
    let scalars = join(&[
        encode,
        &long(b'X'),
        b"q\0cnumpy.core.multiarray\nscalar\nq\x03cnumpy\ndtype\nU\x02i8\x85Rq\x04",
        b"}K\0](",
        &b"h\x03h\x04h\x01h\0h\x02\x86R\x86R".repeat(often),
        b"es.",
    ]);
    let error = refused("graph", scalars);
    assert!(error.contains("bytes of an array: expected 8, found 1000000"), "{error}");
}

#[test]
fn a_golden_file_cut_anywhere_is_refused() {
    for name in NAMES {
        let whole = golden(name);
        for (part, file) in whole.iter().enumerate() {
            let mut cut = whole.clone();
            for length in 0..file.len() {
                cut[part].truncate(0);
                cut[part].extend_from_slice(&file[..length]);
                let result = outcome(&cut);
                // The last newline of the text file says nothing, and half a number is one too.
                if PARTS[part] != "test.index" {
                    let error = result.expect_err("a pickle without its end");
                    assert!(error.starts_with("ind.tiny."), "{name}, byte {length}: {error}");
                }
            }
        }
    }
}

#[test]
fn a_golden_graph_with_any_byte_changed_is_read_or_refused() {
    let mut parts = golden("python2");
    for at in 0..parts[GRAPH].len() {
        let original = parts[GRAPH][at];
        for other in 1..=255 {
            parts[GRAPH][at] = original ^ other;
            let _ = outcome(&parts);
        }
        parts[GRAPH][at] = original;
    }
}

#[test]
fn a_golden_file_with_any_bit_flipped_is_read_or_refused() {
    for name in NAMES {
        let mut parts = golden(name);
        for part in 0..parts.len() {
            for at in 0..parts[part].len() {
                for bit in 0..8 {
                    parts[part][at] ^= 1 << bit;
                    let _ = outcome(&parts);
                    parts[part][at] ^= 1 << bit;
                }
            }
        }
    }
}
