//! What control groups leave of the memory: the limits of containers, services and batch systems.
//!
//! A process is in a group, and the limits of all groups around that one hold, too. In a container, the files of its own group
//! are often those at the top, whatever the group is called outside.

use std::fs;
use std::path::Path;

/// Where control groups are, and which of them the process is in.
const MOUNTED: &str = "/sys/fs/cgroup";
const MEMBERSHIP: &str = "/proc/self/cgroup";

/// The files of a group that say what it may take and takes, and the names of cached pages in its statistics.
struct Version {
    limit: &'static str,
    used: &'static str,
    cached: [&'static str; 2],
}

/// One folder for everything.
const SECOND: Version = Version {
    limit: "memory.max",
    used: "memory.current",
    cached: ["inactive_file", "active_file"],
};

/// A folder for the memory; what a group takes includes the groups in it, and so do statistics that are totals.
const FIRST: Version = Version {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cached: ["total_inactive_file", "total_active_file"],
};

/// Bytes that the process may still take; `None` where no group has a limit.
pub(super) fn free() -> Option<u64> {
    free_below(Path::new(MOUNTED), &fs::read_to_string(MEMBERSHIP).unwrap_or_default())
}

fn free_below(mounted: &Path, membership: &str) -> Option<u64> {
    // Lines such as `0::/a/b`, and of the first version `9:cpu,memory:/a/b`.
    let groups = membership.lines().filter_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, group) = rest.split_once(':')?;
        let of_memory = controllers.split(',').any(|controller| controller == "memory");
        (controllers.is_empty() || of_memory).then_some((of_memory, group))
    });
    let mut left = Vec::new();
    for (first_version, group) in groups.chain([(false, ""), (true, "")]) {
        let (folder, version) = match first_version {
            true => (mounted.join("memory"), FIRST),
            false => (mounted.to_path_buf(), SECOND),
        };
        // A group outside of what is mounted has a path that begins with `..`.
        let group = Some(group.trim_start_matches('/')).filter(|path| !path.starts_with(".."));
        let group = Path::new(group.unwrap_or_default());
        left.extend(group.ancestors().filter_map(|group| version.left(&folder.join(group))));
    }
    left.into_iter().min()
}

impl Version {
    /// What the limit of a group leaves. Cached pages of files count as used there, but are given up when memory is short.
    fn left(&self, group: &Path) -> Option<u64> {
        let read = |file: &str| fs::read_to_string(group.join(file)).ok();
        // `max` is no number, and no limit.
        let limit: u64 = read(self.limit)?.trim().parse().ok()?;
        let used: u64 = read(self.used)?.trim().parse().ok()?;
        let statistics = read("memory.stat").unwrap_or_default();
        let cached = statistics.lines().filter_map(|line| {
            let (name, bytes) = line.split_once(' ')?;
            self.cached.contains(&name).then_some(bytes.trim().parse::<u64>().ok()?)
        });
        Some(limit.saturating_sub(used.saturating_sub(cached.sum())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    const CACHED: &str = "anon 300\nfile 650\nshmem 40\ninactive_file 600\nactive_file 50\n";

    fn group(folder: &TempDir, name: &str, files: &[(&str, &str)]) {
        let path = folder.path().join(name);
        fs::create_dir_all(&path).unwrap();
        files.iter().for_each(|(file, text)| fs::write(path.join(file), text).unwrap());
    }

    fn second(folder: &TempDir, name: &str, limit: &str, used: &str, statistics: &str) {
        let files = [("memory.max", limit), ("memory.current", used), ("memory.stat", statistics)];
        group(folder, name, &files);
    }

    fn first(folder: &TempDir, name: &str, limit: &str, used: &str, statistics: &str) {
        let files = [
            ("memory.limit_in_bytes", limit),
            ("memory.usage_in_bytes", used),
            ("memory.stat", statistics),
        ];
        group(folder, &format!("memory/{name}"), &files);
    }

    #[test]
    fn cached_pages_of_files_are_free() {
        let folder = TempDir::new().unwrap();
        second(&folder, "", "1000\n", "950\n", CACHED);
        assert_eq!(free_below(folder.path(), "0::/\n"), Some(700));
        second(&folder, "", "1000\n", "950\n", "anon 950\n");
        assert_eq!(free_below(folder.path(), "0::/\n"), Some(50));
        fs::remove_file(folder.path().join("memory.stat")).unwrap();
        assert_eq!(free_below(folder.path(), "0::/\n"), Some(50), "no statistics");
        second(&folder, "", "max\n", "950\n", CACHED);
        assert_eq!(free_below(folder.path(), "0::/\n"), None, "no limit is set");
        second(&folder, "", "1000\n", "1200\n", "inactive_file 100\n");
        assert_eq!(free_below(folder.path(), "0::/\n"), Some(0), "more than there should be");
    }

    #[test]
    fn the_first_version_has_totals() {
        let folder = TempDir::new().unwrap();
        // Those of the group alone are less than those with all groups in it, as is what is used.
        let statistics = "cache 90\ninactive_file 10\nactive_file 1\ntotal_inactive_file 600\ntotal_active_file 50\n";
        first(&folder, "", "1000\n", "950\n", statistics);
        assert_eq!(
            free_below(folder.path(), "9:cpu,memory:/docker/0123\n1:name=systemd:/\n"),
            Some(700)
        );
        first(&folder, "", "9223372036854771712\n", "950\n", statistics);
        first(&folder, "job_7", "500\n", "100\n", "total_inactive_file 30\n");
        assert_eq!(free_below(folder.path(), "4:memory:/job_7\n0::/\n"), Some(430));
        assert!(free_below(folder.path(), "4:memory:/\n") > Some(1 << 62), "no limit is set");
    }

    /// A service within a slice: whichever leaves less.
    #[test]
    fn the_groups_around_count_too() {
        let folder = TempDir::new().unwrap();
        second(&folder, "slice", "1000\n", "950\n", CACHED);
        second(&folder, "slice/service", "800\n", "300\n", "inactive_file 100\n");
        let free = |membership: &str| free_below(folder.path(), membership);
        assert_eq!(free("0::/slice/service\n"), Some(600));
        second(&folder, "slice/service", "max\n", "300\n", "inactive_file 100\n");
        assert_eq!(free("0::/slice/service\n"), Some(700));
        assert_eq!(free("0::/elsewhere\n"), None);
        assert_eq!(free(""), None, "no control groups");
        // As a container sees itself: its group is what is mounted.
        second(&folder, "", "600\n", "300\n", "inactive_file 100\n");
        assert_eq!(free("0::/../../pod/0123\n"), Some(400));
    }
}
