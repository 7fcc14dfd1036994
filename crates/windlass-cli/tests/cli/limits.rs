//! Disks and memory that the system limits: a small private disk and a control group, as containers
//! have them. Where the system does not lend one the test says so and ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::common::succeed;
use crate::workshop::{WORKSHOP, damaged_lines, is_nightly, is_whole, output_of, prepared, whole_or_absent};

const PROGRAM: &str = env!("CARGO_BIN_EXE_windlass");

fn shell(at: &Path, script: &str) -> Output {
    Command::new("sh").current_dir(at).args(["-c", script]).output().unwrap()
}

fn last_line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.lines().rfind(|line| !line.ends_with("...")).unwrap_or_default().to_owned()
}

/// Runs a script that sees a disk of so many pages of 4 KiB at `disk`, which is gone afterwards:
/// with its own mounts alone where the user may have them, and else as the root of its own users.
fn on_a_small_disk(at: &Path, pages: u64, script: &str) -> Option<Output> {
    fs::create_dir_all(at.join("disk")).unwrap();
    let mounted = format!("mount -t tmpfs -o size={} none disk || exit 77; {script}", pages * 4096);
    ["-m", "-Urm"].into_iter().find_map(|own| {
        let ended = Command::new("unshare").current_dir(at).args([own, "sh", "-c", &mounted]).output().ok()?;
        // What `unshare` itself says where it may not, and the script above.
        let refused = String::from_utf8_lossy(&ended.stderr).starts_with("unshare:");
        (!refused && ended.status.code() != Some(77)).then_some(ended)
    })
}

/// Whether there is such a disk, and one that sees it still reads and writes one's private files:
/// the root of its own users does not where they belong to someone it does not know.
fn has_a_small_disk(at: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let private = at.join("private");
    fs::write(&private, "seen").unwrap();
    fs::set_permissions(&private, fs::Permissions::from_mode(0o600)).unwrap();
    let seen = on_a_small_disk(at, 1, "cat private && touch disk/file");
    seen.is_some_and(|ended| ended.status.success() && ended.stdout == b"seen")
}

/// The bytes of the longest file that a line makes.
fn longest(line: &str) -> u64 {
    let made = WORKSHOP.dir.path().join(output_of(line));
    let files: Vec<PathBuf> = if made.is_dir() {
        fs::read_dir(made).unwrap().map(|entry| entry.unwrap().path()).collect()
    } else {
        vec![made]
    };
    files.iter().map(|file| fs::metadata(file).unwrap().len()).max().unwrap()
}

#[test]
fn a_disk_without_room_is_an_error_that_says_so() {
    let dir = tempfile::tempdir().unwrap();
    if !has_a_small_disk(dir.path()) {
        println!("no disk of one's own here: nothing was tried");
        return;
    }
    for line in damaged_lines() {
        let longest = longest(line);
        // A disk that is full, and one on which the longest file ends in its middle.
        for pages in [1, longest / 8192 + 1] {
            let (dir, _) = prepared(line);
            let elsewhere = line.replace("--out out/", "--out disk/");
            let fill = if pages == 1 { "head -c 4096 /dev/zero > disk/full && " } else { "" };
            let script = format!("{fill}{{ {PROGRAM} {elsewhere}; code=$?; find disk -mindepth 1; exit $code; }}");
            let ended = on_a_small_disk(dir.path(), pages, &script).expect("it was there before");
            let told = last_line(&ended);
            let left = String::from_utf8_lossy(&ended.stdout).into_owned();
            let left: Vec<&str> =
                left.lines().filter(|path| path.starts_with("disk/") && *path != "disk/full").collect();
            if pages > 1 && longest <= 4096 {
                assert!(ended.status.success() || ended.status.code() == Some(2), "windlass {elsewhere}: {told}");
                continue;
            }
            assert_eq!(ended.status.code(), Some(2), "windlass {elsewhere}, {pages} pages: {told}");
            assert!(told.contains("the disk is full; free some space"), "windlass {elsewhere}, {pages} pages: {told}");
            assert!(!told.contains("windlass-part"), "windlass {elsewhere}, {pages} pages: {told}");
            // A table is built in pieces, and goes on from those that are there.
            let hidden = left.iter().any(|path| path.rsplit('/').next().is_some_and(|name| name.starts_with('.')));
            assert!(!hidden && (left.is_empty() || line.starts_with("table build")), "windlass {line} left {left:?}");
        }
    }
}

/// A control group with a limit on memory, which goes with it.
struct Group(PathBuf);

impl Group {
    /// One below the group of this process, or at the root.
    fn new(name: &str, bytes: u64) -> Option<Self> {
        let of = fs::read_to_string("/proc/self/cgroup").ok()?;
        let named = |controller: &str| {
            let line = of.lines().find(|line| line.split(':').nth(1) == Some(controller))?;
            Some(line.splitn(3, ':').nth(2)?.trim_start_matches('/').to_owned())
        };
        let first = named("memory").map(|path| (Path::new("/sys/fs/cgroup/memory").to_path_buf(), path));
        let second = named("").map(|path| (Path::new("/sys/fs/cgroup").to_path_buf(), path));
        let name = format!("windlass-{name}-{}", std::process::id());
        for (root, path) in first.into_iter().chain(second) {
            for around in [root.join(path), root] {
                let group = Self(around.join(&name));
                if fs::create_dir(&group.0).is_err() {
                    std::mem::forget(group);
                    continue;
                }
                let limits = ["memory.limit_in_bytes", "memory.max"];
                if limits.iter().any(|file| fs::write(group.0.join(file), bytes.to_string()).is_ok()) {
                    return Some(group);
                }
            }
        }
        None
    }

    /// Runs a line in it, for two minutes at most.
    fn run(&self, at: &Path, line: &str) -> Output {
        let procs = self.0.join("cgroup.procs");
        shell(at, &format!("echo $$ > {} && exec timeout -s KILL 120 {PROGRAM} {line}", procs.display()))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The last process may not be quite gone.
        for _ in 0..50 {
            if fs::remove_dir(&self.0).is_ok() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

/// What a container's limit does not hold is refused beforehand: it would be given, and the process
/// killed when it uses it.
#[test]
fn what_a_control_group_does_not_hold_is_refused() {
    let Some(group) = Group::new("keys", 400 << 20) else {
        println!("no control group of one's own here: nothing was tried");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    // Its keys take 1.3 GB.
    let ended = group.run(dir.path(), "refresh keygen --preset boot_n32768_p257 --out keys");
    let told = last_line(&ended);
    assert_eq!(ended.status.code(), Some(2), "{told}");
    assert!(told.contains("the keys need") && told.contains("memory"), "{told}");
    assert!(!dir.path().join("keys").exists());
}

/// Where a control group's limit is met unforeseen the system kills the process; no file is half
/// written then, and the next command clears up.
#[test]
fn a_control_group_that_is_full_leaves_nothing_half_written() {
    let Some(group) = Group::new("full", 24 << 20) else {
        println!("no control group of one's own here: nothing was tried");
        return;
    };
    let mut killed = 0;
    for line in damaged_lines() {
        let (dir, output) = prepared(line);
        let ended = group.run(dir.path(), line);
        let told = last_line(&ended);
        // A shell says 128 + 9 for a child; one that was replaced by the command is killed itself.
        let is_killed = matches!(ended.status.code(), None | Some(137));
        assert!(is_killed || matches!(ended.status.code(), Some(0 | 2)), "windlass {line}: {:?} {told}", ended.status);
        killed += u32::from(is_killed);
        whole_or_absent(line, &output);
        if !output.exists() {
            succeed(dir.path(), line);
        }
        is_whole(dir.path(), line);
    }
    assert!(killed > 0, "the limit was never met");
}

/// A change of a table that is killed is made or not, and the next one works.
#[test]
fn a_killed_change_of_a_table_is_made_or_not() {
    let rounds = if is_nightly() { 60 } else { 4 };
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("t.csv"), "id,word\na,old\nb,old\nc,kept\n").unwrap();
    fs::write(at.join("new.csv"), "id,word\na,new\nb,new\n").unwrap();
    fs::write(at.join("old.csv"), "id,word\na,old\nb,old\n").unwrap();
    fs::write(at.join("kept.csv"), "id,word\nc,kept\n").unwrap();
    succeed(at, "table build --table t.csv --key id --out served");
    succeed(at, "table keygen --schema served/schema.json --out keys");
    let rows = |round: u32| {
        let files = "--schema served/schema.json --secret-key keys/secret.key --query a --query b --query c";
        succeed(at, &format!("table query {files} --out {round}.q"));
        let keys = "--evaluation-keys keys/evaluation.keys";
        succeed(at, &format!("table answer --dir served {keys} --in {round}.q --out {round}.a"));
        let rows = succeed(at, &format!("table decrypt {files} --in {round}.a"))["rows"].clone();
        [0, 1, 2].map(|row| rows[row]["word"].as_str().map(str::to_owned))
    };
    let words = |[a, b, c]: [Option<&str>; 3]| [a, b, c].map(|word| word.map(str::to_owned));
    let (old, new) = (words([Some("old"), Some("old"), Some("kept")]), words([Some("new"), Some("new"), Some("kept")]));
    let none = words([None, None, Some("kept")]);
    let set = "table set --dir served --table new.csv";
    let remove = "table remove --dir served --query a --query b";
    let begun = std::time::Instant::now();
    succeed(at, set);
    let whole = begun.elapsed();
    assert_eq!(rows(0), new);
    for (number, (line, before, after)) in
        (1..).zip([(set, &old, &new), (remove, &old, &none)].repeat(rounds as usize / 2))
    {
        succeed(at, "table set --dir served --table old.csv");
        let mut child = Command::new(PROGRAM);
        child.current_dir(at).args(line.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = child.spawn().unwrap();
        std::thread::sleep(whole.mul_f64(1.2 * (f64::from(number) * 0.618_034).fract()));
        // It may have ended already.
        let _ = child.kill();
        child.wait().unwrap();
        let found = rows(number);
        assert!(found == *before || found == *after, "windlass {line}, killed: {found:?}");
        // Rows that are gone are not removed again.
        if found == *before {
            succeed(at, line);
        } else {
            succeed(at, "table set --dir served --table kept.csv");
        }
        assert_eq!(rows(number + 1000), *after);
        let left = crate::workshop::hidden(&at.join("served"));
        assert!(left.is_empty(), "windlass {line}, killed, left {left:?}");
    }
}
