//! Scores of encrypted rows, as a separate process.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{fail, succeed};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/breast-cancer.csv")
}

#[test]
fn encrypted_decisions_are_those_of_the_plain_model() {
    let dir = tempfile::tempdir().unwrap();
    let line = format!("score --table {} --label diagnosis --positive M", data().display());
    let report = succeed(dir.path(), &line);
    let number = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name} in {report}"));
    assert_eq!((number("rows"), number("features"), number("disagreements")), (569.0, 30.0, 0.0));
    // Nothing is sent: what is told of sizes is said to be in memory.
    for name in ["keys, in memory", "rows, in memory", "scores, in memory"] {
        assert!(report["bytes"][name].as_u64().unwrap() > 100_000, "{report}");
    }
    assert_eq!(report["bytes"].as_object().unwrap().len(), 3);
    for part in ["all", "held_out"] {
        let plain = number(&format!("accuracy_plain_{part}"));
        assert_eq!(plain, number(&format!("accuracy_encrypted_{part}")));
        assert!(plain > 0.95, "{part}: {plain}");
    }
    assert!(number("security_bits") >= 128.0);
    assert!(number("largest_difference") < 0.01 && number("largest_difference") > 0.0);
}

#[test]
fn features_near_the_ends_of_the_range_count() {
    let dir = tempfile::tempdir().unwrap();
    // The class follows from the large feature alone, and again from the small one.
    let row = |i: usize| format!("{i},{},{}e300,{}e-300\n", if i % 3 == 0 { "a" } else { "b" }, i % 3, 7 + i % 3);
    let rows: String = (0..24).map(row).collect();
    fs::write(dir.path().join("t.csv"), format!("id,class,large,small\n{rows}")).unwrap();
    let report = succeed(dir.path(), "score --table t.csv --label class --positive a");
    assert_eq!(
        (report["accuracy_encrypted_held_out"].as_f64(), report["disagreements"].as_u64()),
        (Some(1.0), Some(0))
    );
}

#[test]
fn bad_tables_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    // The one class is held out whole.
    let rows: String = (0..12).map(|i| format!("{i},{},{i}\n", if i % 3 == 2 { "a" } else { "b" })).collect();
    fs::write(dir.path().join("held.csv"), format!("id,class,x\n{rows}")).unwrap();
    let message = fail(dir.path(), "score --table held.csv --label class --positive a --hold-out 3");
    assert!(message.contains("--hold-out 3"), "{message}");
    let write = |text: &str| fs::write(dir.path().join("t.csv"), text).unwrap();
    let base = "score --table t.csv --label class --positive a";
    write("id,class,x\n1,a,0.5\n2,b,none\n");
    let message = fail(dir.path(), base);
    assert!(message.contains("row 2") && message.contains("'none'") && message.contains("column 'x'"), "{message}");
    assert!(message.contains("correct it, or leave the column out with --skip x"), "{message}");
    write("id,class,x,name\n1,a,0.5,u\n2,b,1,v\n");
    let message = fail(dir.path(), base);
    for wanted in ["'u' in column 'name'", "the column holds no numbers", "--skip name", "--key"] {
        assert!(message.contains(wanted), "{wanted}: {message}");
    }
    // The columns of a model are those that it names: nothing can be left out.
    fs::write(dir.path().join("m.csv"), "name,x,bias\n1,1,0\n").unwrap();
    let message = fail(dir.path(), "score --table t.csv --weights m.csv");
    assert!(message.contains("'u' in column 'name'") && !message.contains("--skip"), "{message}");
    write("id,class,x\n1,a,\n2,b,1\n");
    let message = fail(dir.path(), base);
    let wanted = "row 1 has an empty cell in column 'x', which must hold finite numbers; write a number there, remove the row, or leave the column out with --skip x";
    assert!(message.contains(wanted), "{message}");
    fs::write(dir.path().join("x.csv"), "x,bias\n1,0\n").unwrap();
    let message = fail(dir.path(), "score --table t.csv --weights x.csv");
    assert!(message.contains("write a number there, or remove the row") && !message.contains("--skip"), "{message}");
    for (text, more) in [("id,class\n1,a\n2,b\n", ""), ("id,class,x\n1,a,1\n2,b,2\n", " --skip x")] {
        write(text);
        let message = fail(dir.path(), &format!("{base}{more}"));
        assert!(message.contains("no column is left for the features") && message.contains("--skip"), "{message}");
    }
    write("id,class,x\n1,a,0.5\n2,b,inf\n");
    assert!(fail(dir.path(), base).contains("not a finite number"));
    write("id,class,x\n1,a,0.5\n2,a,1\n");
    assert!(fail(dir.path(), base).contains("in some rows and not in others"));
    write("id,kind,x\n1,a,0.5\n2,b,1\n");
    assert!(fail(dir.path(), base).contains("no column 'class'"));
    write("id,class,x\n1,a,0.5\n2,b,1\n");
    assert!(fail(dir.path(), &format!("{base} --hold-out 1")).contains("--hold-out"));
}
