//! Keys of several parties, each of whom is a process with files.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::common::{fail, snapshot, succeed, windlass};

const NAMES: [&str; 3] = ["Ada", "Ben", "Cleo"];

/// The files of a party in the options of its commands.
pub fn own(name: &str) -> String {
    format!("--agreement agreement.json --identity {name}.identity --state {name}.state")
}

/// Identities and an agreement in a directory.
pub fn agree(at: &Path, options: &str) -> serde_json::Value {
    for name in NAMES {
        succeed(at, &format!("party identity --name {name} --out {name}.identity --public {name}.member"));
    }
    let members = NAMES.map(|name| format!("--members {name}.member")).join(" ");
    succeed(at, &format!("party agree {members} {options} --out agreement.json"))
}

/// Keys of an agreement, in the directory `keys`.
pub fn make_keys(at: &Path) {
    for name in NAMES {
        succeed(at, &format!("party join {}", own(name)));
        succeed(at, &format!("party open {} --out mailbox", own(name)));
    }
    for name in NAMES {
        let report = succeed(at, &format!("party receive {} mailbox", own(name)));
        assert_eq!(report["missing"], json!({ "first": [], "dealt": [] }), "{report}");
        succeed(at, &format!("party close {} --out mailbox", own(name)));
    }
    succeed(at, "party assemble --agreement agreement.json mailbox --out keys");
}

const MEMBERS: &str = "--members Ada.member --members Ben.member --members Cleo.member";
const TOY: &str = "--preset insecure_toy_256 --threshold 2 --products";

/// A vote: three encrypt, anyone adds, two read.
#[test]
fn two_of_three_read_a_sum() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let report = agree(at, TOY);
    assert_eq!((&report["members"], &report["threshold"]), (&json!(NAMES), &json!(2)));
    for name in ["keys", "first", "dealt", "second", "decryption"] {
        assert!(report["messages"][name]["bytes"].as_u64() > Some(1000), "{report}");
    }
    make_keys(at);
    let mailbox = |name: &str| fs::metadata(at.join("mailbox").join(name)).unwrap().len();
    for (name, file) in [("keys", "1-keys-0.message"), ("first", "2-first.message"), ("dealt", "3-dealt-for-1.message")]
    {
        assert_eq!(report["messages"][name]["bytes"], mailbox(file), "{name}");
    }
    assert_eq!(report["messages"]["second"]["bytes"], mailbox("3-second.message"));
    for (index, name) in NAMES.iter().enumerate() {
        let values = ["1,0,0,-2", "0,1,0,-3", "0,1,0,-4"][index];
        let line = "party encrypt --agreement agreement.json --public-key keys/public.key";
        succeed(at, &format!("{line} --values {values} --out {name}.vote"));
    }
    succeed(at, "party add --agreement agreement.json Ada.vote Ben.vote Cleo.vote --out total.ct");
    for name in ["Ada", "Cleo"] {
        let share = format!("party decrypt {} --in total.ct --by Cleo,1 --out {name}.share", own(name));
        assert_eq!(succeed(at, &share)["decryptions"], 1);
    }
    assert_eq!(report["messages"]["decryption"]["bytes"], fs::metadata(at.join("Ada.share")).unwrap().len());
    let read = "party read --agreement agreement.json --in total.ct --by Ada,Cleo Ada.share Cleo.share";
    assert_eq!(succeed(at, read)["values"], json!([1, 2, 0, -9]));
    // Who is missing has a name.
    let message = fail(at, "party read --agreement agreement.json --in total.ct --by Ada,Cleo Ada.share");
    assert!(message.contains("the share of the decryption is missing from Cleo"), "{message}");
    let report = succeed(at, &format!("party status {} mailbox", own("Ben")));
    assert_eq!((&report["number"], &report["decryptions"]), (&json!(2), &json!(0)));
    assert_eq!(report["missing_for_assembler"], json!({ "keys": [], "second": [] }));
}

/// The reader alone reads; files with passphrases are asked for one, and stay encrypted.
#[test]
fn secrets_have_passphrases_and_shares_a_reader() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("words"), "two words\n").unwrap();
    let sealed = "--passphrase-file words";
    succeed(at, &format!("party identity --name Ada --out Ada.identity --public Ada.member {sealed}"));
    succeed(at, "party identity --name Ben --out Ben.identity --public Ben.member");
    let members = "--members Ada.member --members Ben.member";
    succeed(at, &format!("party agree {members} --preset insecure_toy_256 --out agreement.json"));
    let ada = format!("{} {sealed}", own("Ada"));
    for (own, name) in [(&ada, "Ada"), (&own("Ben"), "Ben")] {
        succeed(at, &format!("party join {own}"));
        succeed(at, &format!("party open {own} --out mailbox"));
        let state = fs::read(at.join(format!("{name}.state"))).unwrap();
        assert_eq!(windlass::wire::is_sealed(&state), name == "Ada");
        #[cfg(unix)]
        for file in ["identity", "state"] {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(at.join(format!("{name}.{file}"))).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}.{file}");
        }
    }
    let message = fail(at, &format!("party status {}", own("Ada")));
    assert!(message.contains("a passphrase is needed"), "{message}");
    succeed(at, "party assemble --agreement agreement.json mailbox --out keys");
    succeed(at, "party encrypt --agreement agreement.json --public-key keys/public.key --values 7,8 --out x.ct");
    for (own, name) in [(&ada, "Ada"), (&own("Ben"), "Ben")] {
        succeed(at, &format!("party decrypt {own} --in x.ct --reader Ben --out {name}.share"));
    }
    assert!(windlass::wire::is_sealed(&fs::read(at.join("Ada.state")).unwrap()), "it stays encrypted");
    let read = "party read --agreement agreement.json --in x.ct Ada.share Ben.share";
    assert!(fail(at, read).contains("Ada.share: the message is for Ben, not for this party"));
    assert!(fail(at, &format!("{read} --identity Ada.identity {sealed}")).contains("the message is for Ben"));
    assert_eq!(succeed(at, &format!("{read} --identity Ben.identity"))["values"], json!([7, 8]));
    // The passphrase of a state changes as that of a key does.
    succeed(at, "key open --in Ada.state --out open.state --passphrase-file words");
    assert!(!windlass::wire::is_sealed(&fs::read(at.join("open.state")).unwrap()));
}

#[test]
fn columns_of_reals_keep_their_precision() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let set = windlass::schemes::ckks::CkksSpec {
        n: 128,
        assurance: windlass::rlwe::Assurance::Insecure { name: "insecure_parties".into() },
        ..windlass::schemes::ckks::CkksSpec::secure_wide(1, 95, 4, 8).unwrap()
    };
    fs::write(at.join("set.json"), set.to_json()).unwrap();
    let agreed = agree(at, "--preset set.json --insecure --sums --slots 4");
    make_keys(at);
    fs::write(at.join("t.csv"), "id,x\na,0.5\nb,-0.25\nc,0.125\n").unwrap();
    let line = "party encrypt --agreement agreement.json --public-key keys/public.key --table t.csv";
    succeed(at, &format!("{line} --column x --length 4 --out x.ct"));
    for name in NAMES {
        succeed(at, &format!("party decrypt {} --in x.ct --out {name}.share", own(name)));
    }
    let shares = NAMES.map(|name| format!("{name}.share")).join(" ");
    let report = succeed(at, &format!("party read --agreement agreement.json --in x.ct {shares}"));
    let found: Vec<f64> = serde_json::from_value(report["values"].clone()).unwrap();
    assert_eq!(found.len(), 4);
    for (found, wanted) in found.iter().zip([0.5, -0.25, 0.125, 0.0]) {
        assert!((found - wanted).abs() < 1e-3, "{report}");
    }
    assert!(report["precision_bits"].as_f64() > Some(10.0));
    // A vector in all slots has as many bits as the agreement said.
    succeed(at, &format!("{line} --column x --length 64 --out full.ct"));
    for name in NAMES {
        succeed(at, &format!("party decrypt {} --in full.ct --out {name}.full", own(name)));
    }
    let shares = NAMES.map(|name| format!("{name}.full")).join(" ");
    let full = succeed(at, &format!("party read --agreement agreement.json --in full.ct {shares}"));
    assert_eq!(full["precision_bits"], agreed["precision_bits"]);
    assert!(full["precision_bits"].as_f64() < report["precision_bits"].as_f64());
    let message = fail(at, &format!("{line} --column y --out y.ct"));
    assert!(message.contains("no column 'y' in t.csv"), "{message}");
}

/// Whatever does not belong is refused by the name of its file, and nothing changes.
#[test]
fn what_does_not_belong_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    agree(at, TOY);
    make_keys(at);
    let other = tempfile::tempdir().unwrap();
    agree(other.path(), TOY);
    succeed(other.path(), &format!("party join {}", own("Ada")));
    succeed(other.path(), &format!("party open {} --out mailbox", own("Ada")));
    fs::copy(other.path().join("mailbox/1-first.message"), at.join("foreign.message")).unwrap();
    fs::copy(other.path().join("agreement.json"), at.join("other.json")).unwrap();
    let whole = fs::read(at.join("mailbox/2-first.message")).unwrap();
    fs::write(at.join("cut.message"), &whole[..whole.len() / 2]).unwrap();
    let mut changed = whole;
    changed[1000] ^= 1;
    fs::write(at.join("changed.message"), changed).unwrap();
    succeed(at, "party encrypt --agreement agreement.json --public-key keys/public.key --values 1 --out x.ct");
    succeed(at, "party identity --name Dan --out Dan.identity");
    let before = snapshot(at);
    let ada = own("Ada");
    let strange = "--agreement agreement.json --identity Ada.identity --state Ben.state";
    let stranger = "--agreement agreement.json --identity Dan.identity --state Ada.state";
    for (line, wanted) in [
        (format!("party receive {ada} foreign.message"), "foreign.message: the message belongs to another agreement"),
        (format!("party receive {ada} cut.message"), "cut.message: "),
        (format!("party receive {ada} changed.message"), "changed.message: "),
        (format!("party receive {ada} none.message"), "none.message: "),
        (format!("party receive {ada} keys/public.key"), "keys/public.key: "),
        (
            format!("party status {strange}"),
            "Ben.state: this state is that of Ben, but the identity is that of another member",
        ),
        (format!("party status {stranger}"), "Ada.state: this identity is not a member of the agreement"),
        (format!("party join {stranger}"), "Ada.state: "),
        (
            "party join --agreement agreement.json --identity Dan.identity --state Dan.state".into(),
            "agreement.json: this identity is not a member of the agreement",
        ),
        (format!("party join {ada}"), "Ada.state: "),
        (format!("party open {ada} --out mailbox"), "mailbox/1-keys-0.message: "),
        (format!("party close {ada} --out mailbox"), "mailbox/1-second.message: "),
        (
            "party assemble --agreement agreement.json mailbox/1-keys-0.message --out new".into(),
            "the shares of keys is missing from Ben, Cleo",
        ),
        ("party assemble --agreement agreement.json mailbox --out keys".into(), "keys/public.key: "),
        (format!("party decrypt {ada} --in x.ct --out s"), "2 of 3 members decrypt: name them with --by"),
        (format!("party decrypt {ada} --in x.ct --by Ada --out s"), "--by names 1 members, but exactly 2"),
        (
            format!("party decrypt {ada} --in x.ct --by Ada,Dan --out s"),
            "'Dan' is no member; the members are Ada, Ben, Cleo",
        ),
        (format!("party decrypt {ada} --in x.ct --by Ben,Cleo --out s"), "x.ct: "),
        (format!("party decrypt {ada} --in keys/public.key --by Ada,Ben --out s"), "keys/public.key: "),
        (
            "party encrypt --agreement other.json --public-key keys/public.key --values 1 --out s".into(),
            "keys/public.key: it belongs to another key pair",
        ),
        (
            "party encrypt --agreement agreement.json --public-key keys/public.key --values 300 --out s".into(),
            "the value 300 does not fit",
        ),
        (
            "party encrypt --agreement agreement.json --public-key keys/public.key --values 0.5 --out s".into(),
            "the value 0.5 is no integer",
        ),
        ("party status --agreement x.ct --identity Ada.identity --state Ada.state".into(), "x.ct: "),
        (
            "party status --agreement agreement.json --identity Ada.state --state Ada.state".into(),
            "Ada.state: not an identity",
        ),
        ("party agree --members Ada.member --preset insecure_toy_256 --out s".into(), "there are 1 members"),
        (
            format!("party agree {MEMBERS} --preset insecure_toy_256 --depth 3 --out s"),
            "--depth does nothing here: give it with --products",
        ),
        (
            "party agree --members Ada.member --members Ada.member --preset insecure_toy_256 --out s".into(),
            "\"Ada\" is in the list of members twice",
        ),
        (
            "party agree --members agreement.json --preset insecure_toy_256 --out s".into(),
            "agreement.json: line 1 is no public line of an identity",
        ),
        (
            "party agree --members Ada.identity --members Ben.member --preset insecure_toy_256 --out s".into(),
            "Ada.identity: not a list of members: it is a secret key",
        ),
        (format!("party agree {MEMBERS} --ckks --scale-bits 40 --out s"), "could never decrypt a fresh ciphertext"),
        (format!("party agree {MEMBERS} --preset insecure_toy_256 --products --depth 40 --out s"), "40 squarings"),
    ] {
        let message = fail(at, &line);
        assert!(message.contains(wanted), "{line}: {message}");
        assert_eq!(snapshot(at), before, "{line}");
    }
    for digits in ["0000000000", "00"] {
        let join =
            format!("party join --agreement agreement.json --identity Ada.identity --state new --digest {digits}");
        assert!(fail(at, &join).contains("it is another agreement than the one that was told"));
    }
}

/// Two commands at once on one state: both count.
#[test]
fn no_decryption_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    agree(at, "--preset insecure_toy_256 --decryptions 5");
    make_keys(at);
    succeed(at, "party encrypt --agreement agreement.json --public-key keys/public.key --values 1 --out x.ct");
    let decrypt = |index: usize| format!("party decrypt {} --in x.ct --out {index}.share", own("Ada"));
    std::thread::scope(|scope| {
        for index in 0..5 {
            let line = decrypt(index);
            scope.spawn(move || assert!(windlass(at, line.split_whitespace()).status.success()));
        }
    });
    assert_eq!(succeed(at, &format!("party status {}", own("Ada")))["decryptions"], 5);
    let message = fail(at, &decrypt(5));
    assert!(message.contains("all 5 decryptions that were agreed on") && !at.join("5.share").exists(), "{message}");
}

/// A directory of messages is one that anybody may write to: what is no message is said, and the others are taken.
#[cfg(unix)]
#[test]
fn a_mailbox_may_hold_anything() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    agree(at, TOY);
    make_keys(at);
    let mailbox = at.join("mailbox");
    let mut damaged = fs::read(mailbox.join("2-first.message")).unwrap();
    damaged[2000] ^= 1;
    fs::write(mailbox.join("0-damaged.message"), damaged).unwrap();
    fs::create_dir(mailbox.join("0-directory.message")).unwrap();
    fs::File::create(mailbox.join("0-large.message")).unwrap().set_len(1 << 40).unwrap();
    let pipe = mailbox.join("0-pipe.message");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink("nothing", mailbox.join("0-lost.message")).unwrap();
    let report = succeed(at, &format!("party receive {} mailbox", own("Ada")));
    let skipped = report["skipped"].as_array().unwrap();
    assert_eq!((report["new"].as_u64(), skipped.len()), (Some(0), 5), "{report}");
    assert!(report["again"].as_u64() > Some(2), "{report}");
    for (entry, name) in skipped.iter().zip(["damaged", "directory", "large", "lost", "pipe"]) {
        assert_eq!(entry["file"], format!("mailbox/0-{name}.message"));
        assert!(!entry["reason"].as_str().unwrap().contains("0-"), "{entry}");
    }
    let status = succeed(at, &format!("party status {} mailbox", own("Ada")));
    assert_eq!(status["skipped"].as_array().unwrap().len(), 5);
    succeed(at, "party assemble --agreement agreement.json mailbox --out again");
    assert_eq!(snapshot(&at.join("again")).len(), 2);
    // By its own name a file has to be a message. What is missing may be what was not taken.
    let message = fail(at, &format!("party receive {} mailbox/0-pipe.message", own("Ada")));
    assert!(message.contains("0-pipe.message: not a message: it is a directory, a pipe or a device"), "{message}");
    fs::write(mailbox.join("2-second.message"), "none").unwrap();
    let message = fail(at, "party assemble --agreement agreement.json mailbox --out third");
    assert!(message.contains("is missing from Ben; not taken: mailbox/0-damaged.message: "), "{message}");
    assert!(message.contains("and 5 more"), "{message}");
}

/// A state that is reached through a link stays one file.
#[cfg(unix)]
#[test]
fn a_state_behind_a_link_counts_once() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    agree(at, "--preset insecure_toy_256");
    make_keys(at);
    fs::create_dir(at.join("vault")).unwrap();
    fs::rename(at.join("Ada.state"), at.join("vault/Ada.state")).unwrap();
    std::os::unix::fs::symlink("vault/Ada.state", at.join("Ada.state")).unwrap();
    succeed(at, "party encrypt --agreement agreement.json --public-key keys/public.key --values 1 --out x.ct");
    succeed(at, &format!("party decrypt {} --in x.ct --out Ada.share", own("Ada")));
    assert!(at.join("Ada.state").symlink_metadata().unwrap().file_type().is_symlink());
    let through = "--agreement agreement.json --identity Ada.identity --state vault/Ada.state";
    assert_eq!(succeed(at, &format!("party status {through}"))["decryptions"], 1);
    assert_eq!(fs::read_dir(at.join("vault")).unwrap().count(), 1);
}

#[test]
fn a_share_that_cannot_be_written_does_not_count() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    agree(at, "--preset insecure_toy_256");
    make_keys(at);
    succeed(at, "party encrypt --agreement agreement.json --public-key keys/public.key --values 1 --out x.ct");
    let message = fail(at, &format!("party decrypt {} --in x.ct --out none/Ada.share", own("Ada")));
    assert!(message.contains("none/Ada.share: "), "{message}");
    assert_eq!(succeed(at, &format!("party status {}", own("Ada")))["decryptions"], 0);
    // And a share whose count cannot be saved is not there.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let set = |mode| fs::set_permissions(at.join("vault"), fs::Permissions::from_mode(mode)).unwrap();
        fs::create_dir(at.join("vault")).unwrap();
        fs::rename(at.join("Ada.state"), at.join("vault/Ada.state")).unwrap();
        set(0o500);
        let is_root = fs::write(at.join("vault/probe"), "").is_ok();
        let line = "party decrypt --agreement agreement.json --identity Ada.identity --state vault/Ada.state \
            --in x.ct --out Ada.share";
        let done = windlass(at, line.split_whitespace()).status.success();
        assert_eq!((done, at.join("Ada.share").exists()), (is_root, is_root), "root may write everywhere");
        set(0o700);
        let count = succeed(at, &line.replace("decrypt", "status").replace(" --in x.ct --out Ada.share", ""));
        assert_eq!(count["decryptions"], u32::from(is_root));
    }
}

#[test]
fn an_encrypted_state_wants_an_encrypted_identity() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    agree(at, "--preset insecure_toy_256");
    succeed(at, &format!("party join {}", own("Ada")));
    fs::write(at.join("words"), "two words\n").unwrap();
    succeed(at, "key seal --in Ada.state --out sealed.state --passphrase-file words");
    let line = "party status --agreement agreement.json --identity Ada.identity --state sealed.state";
    let message = fail(at, line);
    assert!(message.contains("sealed.state: it is encrypted, but the identity that it belongs to is not"), "{message}");
    succeed(at, "key seal --in Ada.identity --out sealed.identity --passphrase-file words");
    let sealed = line.replace("Ada.identity", "sealed.identity");
    assert_eq!(succeed(at, &format!("{sealed} --passphrase-file words"))["decryptions"], 0);
}

#[test]
fn names_are_seen_and_secrets_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    for name in ["A,B", "Ada\u{200b}", "\u{202e}Ada"] {
        let message = fail(at, &format!("party identity --name {name} --out a.identity"));
        assert!(message.contains("cannot be the name of a member"), "{message}");
        assert!(!message.contains('\u{202e}') && !message.contains('\u{200b}'), "{message:?}");
    }
    assert_eq!(fs::read_dir(at).unwrap().count(), 0);
    succeed(at, "party identity --name Ada --out Ada.identity --public Ada.member");
    fs::write(at.join("words"), "correct horse battery\n").unwrap();
    let text = windlass_parties::Identity::generate().unwrap().to_text();
    fs::write(at.join("text"), text.as_bytes()).unwrap();
    for (given, wanted) in [
        ("--members words", "words: line 1 is no public line"),
        ("--members text", "text: not a list of members: it is a secret identity"),
        ("--members Ada.identity", "Ada.identity: not a list of members: it is a secret key"),
        ("--member secretsecretsecret", "--member number 1 is no public line"),
    ] {
        let message = fail(at, &format!("party agree --members Ada.member {given} --preset insecure_toy_256 --out s"));
        assert!(message.contains(wanted), "{given}: {message}");
        for secret in ["correct", "secretsecret", &text[20..40]] {
            assert!(!message.contains(secret), "{given}: {message}");
        }
    }
}

/// Two members hand a sum over to someone outside, who has a separate key pair and is no member.
#[test]
fn a_sum_goes_to_someone_outside() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    agree(at, TOY);
    make_keys(at);
    fs::write(at.join("words"), "two words\n").unwrap();
    succeed(at, "party recipient --agreement agreement.json --out eva --passphrase-file words");
    succeed(at, "party recipient --agreement agreement.json --out finn");
    assert!(windlass::wire::is_sealed(&fs::read(at.join("eva/secret.key")).unwrap()));
    succeed(at, "party encrypt --agreement agreement.json --public-key keys/public.key --values 5,-6 --out x.ct");
    for name in ["Ada", "Cleo"] {
        let line =
            format!("party decrypt {} --in x.ct --by Ada,Cleo --to eva/public.key --out {name}.share", own(name));
        assert_eq!(succeed(at, &line)["decryptions"], 1);
    }
    let what = "--agreement agreement.json --in x.ct --by Ada,Cleo";
    let message = fail(at, &format!("party hand-over {what} --to eva/public.key Ada.share --out y.ct"));
    assert!(message.contains("is missing from Cleo"), "{message}");
    let message = fail(at, &format!("party hand-over {what} --to finn/public.key Ada.share Cleo.share --out y.ct"));
    assert!(
        message.contains("Ada.share: the share of Ada is for another ciphertext, other members or another public key"),
        "{message}"
    );
    let message = fail(at, &format!("party hand-over {what} --to keys/public.key Ada.share --out y.ct"));
    assert!(message.contains("keys/public.key: it is the public key of the agreement itself"), "{message}");
    succeed(at, &format!("party hand-over {what} --to eva/public.key Ada.share Cleo.share --out y.ct"));
    let show = "party show --agreement agreement.json --in y.ct";
    let shown = succeed(at, &format!("{show} --secret-key eva/secret.key --passphrase-file words"));
    assert_eq!(shown["values"], json!([5, -6]));
    assert!(!fail(at, &format!("{show} --secret-key finn/secret.key")).is_empty());
    // The shares alone are no decryption for anyone else.
    let message = fail(at, &format!("party read {what} Ada.share Cleo.share"));
    assert!(message.contains("is missing from Ada, Cleo"), "{message}");
}
