//! Memory limits of Linux control groups, versions 1 and 2.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// The tightest limit minus the memory that this process uses already. Swap that the group may use
/// counts as memory.
pub fn room() -> Option<u64> {
    let of = read_to_string("/proc/self/cgroup").ok()?;
    let kilobytes = |path: &str, name: &str| number_after(&read_to_string(path).ok()?, name);
    let swap = kilobytes("/proc/meminfo", "SwapTotal:").unwrap_or(0) << 10;
    let limit = limit(Path::new("/sys/fs/cgroup"), &of, swap)?;
    let used = kilobytes("/proc/self/status", "RssAnon:").unwrap_or(0) << 10;
    Some(limit.saturating_sub(used))
}

/// The first number after a name, as in `RssAnon:  1234 kB`.
fn number_after(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The tightest limit on memory and swap of the groups that the given lines name. A line is as in
/// `/proc/self/cgroup`: `NUMBER:CONTROLLERS:/PATH`. `swap` is the swap of the system. The limits of
/// a group and of all groups around it apply. In a container the path may exist only on the host;
/// then the container's own group is at the root.
pub fn limit(root: &Path, groups: &str, swap: u64) -> Option<u64> {
    let limits = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let path = path.trim_start_matches('/');
        match controllers {
            "" => {
                let hybrid = root.join("unified");
                let root = if hybrid.is_dir() { hybrid } else { root.to_path_buf() };
                tightest(&root, path, |group| second(group, swap))
            }
            _ if controllers.split(',').any(|name| name == "memory") => {
                tightest(&root.join("memory"), path, |group| first(group, swap))
            }
            _ => None,
        }
    });
    limits.min()
}

/// The least limit of a group and of those around it.
fn tightest(root: &Path, path: &str, limit: impl Fn(&Path) -> Option<u64>) -> Option<u64> {
    let group: PathBuf = root.join(path);
    group.ancestors().take_while(|group| group.starts_with(root)).filter_map(limit).min()
}

fn read(group: &Path, file: &str) -> Option<u64> {
    read_to_string(group.join(file)).ok()?.trim().parse().ok()
}

/// Version 1 limits memory, and memory with swap.
fn first(group: &Path, swap: u64) -> Option<u64> {
    let both = read(group, "memory.memsw.limit_in_bytes").unwrap_or(u64::MAX);
    Some(read(group, "memory.limit_in_bytes")?.saturating_add(swap).min(both))
}

/// Version 2 limits memory, and swap beside it; `max` is no limit.
fn second(group: &Path, swap: u64) -> Option<u64> {
    let swap = read(group, "memory.swap.max").unwrap_or(swap).min(swap);
    Some(read(group, "memory.max")?.saturating_add(swap))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(root: &Path, file: &str, text: &str) {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn the_tightest_group_counts_with_the_swap_that_it_may_use() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        write(root, "a/memory.max", "1000\n");
        write(root, "a/b/memory.max", "max\n");
        write(root, "a/b/c/memory.max", "3000\n");
        write(root, "a/memory.swap.max", "200\n");
        assert_eq!(limit(root, "0::/a/b/c\n", 500), Some(1200));
        assert_eq!(limit(root, "0::/a/b/c\n", 100), Some(1100));
        assert_eq!(limit(root, "0::/elsewhere\n", 500), None);
        // A container sees its own group at the root, under a path of the host's.
        write(root, "memory.max", "700\n");
        assert_eq!(limit(root, "0::/docker/0123\n", 0), Some(700));
        assert_eq!(limit(root, "nonsense\n1:cpu\n:::\n", 0), Some(700));
        assert_eq!(limit(root, "", 0), None);
    }

    #[test]
    fn groups_of_the_first_version_count_beside_those_of_the_second() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        write(root, "memory/memory.limit_in_bytes", "9223372036854771712\n");
        write(root, "memory/x/memory.limit_in_bytes", "5000\n");
        fs::create_dir(root.join("unified")).unwrap();
        let groups = "4:cpu,memory:/x\n0::/\n";
        assert_eq!(limit(root, groups, 300), Some(5300));
        write(root, "memory/x/memory.memsw.limit_in_bytes", "5100\n");
        assert_eq!(limit(root, groups, 300), Some(5100));
        assert_eq!(limit(root, "4:cpu:/x\n", 300), None);
    }

    #[test]
    fn numbers_are_read_after_their_names() {
        assert_eq!(number_after("VmRSS:\t 9 kB\nRssAnon:\t    1234 kB\n", "RssAnon:"), Some(1234));
        assert_eq!(number_after("VmRSS: 9 kB\n", "RssAnon:"), None);
    }
}
