//! What any reader's dataset must stand: being written as tables and read again.

use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn_data::{TableFiles, TableFormat, write_folder};
use tempfile::TempDir;

pub(crate) fn assert_survives(dataset: &Dataset, format: TableFormat) {
    let folder = TempDir::new().expect("a folder");
    write_folder(dataset, folder.path(), format, false).expect("what was read is written");
    let files = TableFiles::in_folder(folder.path()).expect("a folder").expect("with edges");
    let again = files.read("fuzz", &Context::default()).expect("what was written is read");
    assert_eq!(dataset.fingerprint(), again.fingerprint());
    assert_eq!(dataset.splits(), again.splits());
    (0..dataset.nodes()).for_each(|node| assert_eq!(dataset.node_id(node), again.node_id(node)));
    // Questions are asked again.
    let asked = |note: &&String| {
        [" classes, ", " has no edges; ", "no features", "several labels"]
            .iter()
            .any(|part| note.contains(part))
    };
    assert_eq!(again.notes().iter().find(|note| !asked(note)), None);
}
