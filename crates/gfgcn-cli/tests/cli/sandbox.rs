//! A temporary folder to run the program in, and small data to run it on.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;
use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_gfgcn");

/// The classes of [`Sandbox::communities`].
pub(crate) const CLASSES: [&str; 2] = ["ants", "bees"];

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Run {
    /// `None` if a signal ended it.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program prints UTF-8");
        Run {
            status: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

pub(crate) struct Sandbox(TempDir);

impl Sandbox {
    pub(crate) fn new() -> Self {
        Sandbox(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// A folder of tables: two rings of `size` nodes joined by one edge, with features that tell
    /// them apart and the first two nodes of each labelled.
    pub(crate) fn communities(&self, folder: &str, size: usize) {
        let mut edges = "source,target\nants-0,bees-0\n".to_owned();
        let mut features = "id,wings,legs,stripes\n".to_owned();
        let mut labels = "id,label\n".to_owned();
        for (class, winged) in CLASSES.into_iter().zip(["0.1", "1"]) {
            for i in 0..size {
                edges += &format!("{class}-{i},{class}-{}\n", (i + 1) % size);
                features += &format!("{class}-{i},{winged},0.0{i},{}\n", u8::from(class == "bees"));
                if i < 2 {
                    labels += &format!("{class}-{i},{class}\n");
                }
            }
        }
        self.write(&format!("{folder}/edges.csv"), &edges);
        self.write(&format!("{folder}/features.csv"), &features);
        self.write(&format!("{folder}/labels.csv"), &labels);
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.0.path()).env("HOME", self.0.path());
        for variable in [
            "GFGCN_CACHE",
            "GFGCN_DATA",
            "GFGCN_DEVICE",
            "NO_COLOR",
            "RAYON_NUM_THREADS",
            "XDG_CACHE_HOME",
            "XDG_DATA_HOME",
        ] {
            command.env_remove(variable);
        }
        command
    }

    /// The program with arguments that are separated by spaces.
    pub(crate) fn gfgcn(&self, arguments: &str) -> Command {
        let mut command = self.command(PROGRAM);
        command.args(arguments.split_whitespace());
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Run {
        self.gfgcn(arguments).output().unwrap().into()
    }

    /// What the program prints when it must succeed.
    #[track_caller]
    pub(crate) fn ok(&self, arguments: &str) -> String {
        let run = self.run(arguments);
        assert_eq!(run.status, Some(0), "gfgcn {arguments}: {run:?}");
        run.stdout
    }

    #[track_caller]
    pub(crate) fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.ok(&format!("{arguments} --json"))).unwrap()
    }

    /// The files that are there at this moment, while a program may make and remove some.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Metadata)> {
        let mut found = Vec::new();
        look(self.0.path(), &mut found);
        found
    }

    /// The runs that are kept in the user's cache at this moment, with the time at which each was written.
    pub(crate) fn kept(&self) -> BTreeMap<PathBuf, SystemTime> {
        let is_run = |path: &Path| path.extension().is_some_and(|extension| extension == "run");
        let runs = self.files().into_iter().filter(|(path, _)| is_run(path));
        runs.map(|(path, file)| (path, file.modified().unwrap())).collect()
    }

    /// Every file and folder with its content, to see that nothing has changed.
    pub(crate) fn snapshot(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        collect(self.0.path(), &mut found);
        found
    }
}

fn look(folder: &Path, found: &mut Vec<(PathBuf, Metadata)>) {
    // What has gone since it was listed is not there.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(file) if file.is_dir() => look(&entry.path(), found),
            Ok(file) => found.push((entry.path(), file)),
            Err(_) => {}
        }
    }
}

fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        }
        let content = path.is_file().then(|| fs::read(&path).unwrap());
        found.insert(path, content);
    }
}
